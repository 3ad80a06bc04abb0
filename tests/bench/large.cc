// fidelio-bench large: a model of very many observations through a server: observations in chunks, a fit, predictions of a whole
// map in a stream, a design, a kill and a restart, with the time that each takes and the memory of the server.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "client/cpp/matrix.h"
#include "client/cpp/names.h"
#include "core/base/status_macros.h"
#include "fidelio/v1/emulator.grpc.pb.h"
#include "tests/bench/commands.h"
#include "tests/bench/map_data.h"
#include "tests/bench/now.h"
#include "tests/bench/remote_model.h"
#include "tests/bench/scratch_directory.h"
#include "tests/bench/table.h"
#include "tests/process/server_process.h"

namespace fidelio::bench {
namespace {

using Eigen::Index;

constexpr int kChunk = 50'000, kStreamChunk = 5'000;  // rows of one call, and of one message of a stream
constexpr int kLargeCandidates = 2'500, kLargeDesign = 50;
constexpr double kLargeBorder = 1e-3, kSmoothness = 1.5;
constexpr double kMostRestartSeconds = 10, kMostServerMib = 2048;
constexpr char kModel[] = "map";

class LargeCommand : public Command {
 public:
  std::string name() const override { return "large"; }
  std::string about() const override { return "A model of very many observations through a server"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--data", data_, "a map as for malaria; absent: one that is made up");
    app.add_option("--train-low", train_low_, "rows of low to observe")->capture_default_str();
    app.add_option("--train-high", train_high_, "rows of high to observe")->capture_default_str();
    app.add_option("--rows", rows_, "of a map that is made up")->capture_default_str();
    app.add_option("--seed", seed_, "draws the rows")->capture_default_str();
    app.add_option("--server", server_, "fidelio-server; absent: the one beside this program");
  }

  absl::StatusOr<Outcome> Run() override {
    MapData map;
    if (data_.empty()) {
      map = MakeMap(rows_, kSmoothness, seed_);
    } else {
      FIDELIO_ASSIGN_OR_RETURN(map, ReadMap(data_));
    }
    map.low = map.low.cwiseMax(kLargeBorder).cwiseMin(1 - kLargeBorder);
    map.high = map.high.cwiseMax(kLargeBorder).cwiseMin(1 - kLargeBorder);
    FIDELIO_ASSIGN_OR_RETURN(const MapSplit split, SplitMap(map, train_low_, train_high_, 0, seed_));
    FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<ScratchDirectory> scratch, ScratchDirectory::Make());
    Outcome outcome;
    Table table({"step", "seconds", "server MiB", "peak MiB"});
    double begin = Now();
    std::unique_ptr<ServerProcess> process;
    const auto row = [&](const std::string& step) {
      const double seconds = Now() - begin;
      const ProcessUse use = ReadProcessUse(process->pid());
      peak_ = std::max(peak_, static_cast<double>(use.peak_resident_kib) / 1024);
      table.Add({step, Fixed(seconds, 2), Fixed(static_cast<double>(use.resident_kib) / 1024, 0),
                 Fixed(static_cast<double>(use.peak_resident_kib) / 1024, 0)});
      outcome.json["seconds"][step] = seconds;
      begin = Now();
      return seconds;
    };
    FIDELIO_ASSIGN_OR_RETURN(process, StartFidelio(server_, *scratch / "data", *scratch / ".", {}));
    FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<client::Client> client, ConnectTo(*process));
    begin = Now();
    FIDELIO_RETURN_IF_ERROR(Observe(*client, split.train));
    row("observe");
    v1::FitOptions options;
    options.set_seed(seed_);
    FIDELIO_ASSIGN_OR_RETURN(const v1::Fit started, client->Fit(kModel, options));
    client::CallOptions patient;
    patient.timeout = absl::Minutes(20);
    FIDELIO_ASSIGN_OR_RETURN(const v1::Fit fit, client->WatchFit(started.name(), nullptr, patient));
    if (fit.state() != v1::FIT_STATE_SUCCEEDED) return absl::InternalError(fit.error().message());
    const double fit_seconds = row("fit");
    outcome.json["inference"] = v1::Inference_Name(fit.inference());
    outcome.json["inference_reason"] = fit.inference_reason();
    if (fit.inference() != v1::INFERENCE_NEIGHBOURS || fit.inference_reason().empty()) {
      outcome.missed.push_back(absl::StrFormat("AUTO chose %s (%s), want NEIGHBOURS",
                                               v1::Inference_Name(fit.inference()), fit.inference_reason()));
    }
    FIDELIO_ASSIGN_OR_RETURN(const Vector before, PredictAll(*process, map.x));
    const double stream_seconds = row("predict the map");
    const double rmse = std::sqrt((before - map.high).squaredNorm() / static_cast<double>(map.high.size()));
    outcome.json["rmse"] = rmse;
    if (const double constant = std::sqrt((map.high.array() - map.high.mean()).square().mean());
        !(rmse < 0.5 * constant)) {
      outcome.missed.push_back(absl::StrFormat("rmse %.4f, that of a constant %.4f", rmse, constant));
    }
    const Index candidates = std::min<Index>(kLargeCandidates, map.x.rows());
    const Index stride = map.x.rows() / candidates;
    Matrix some(candidates, 2);
    for (Index i = 0; i < candidates; ++i) some.row(i) = map.x.row(i * stride);
    FIDELIO_ASSIGN_OR_RETURN(
        const client::DppDesign design,
        client->SampleDpp(kModel, {.k = kLargeDesign, .candidates = some, .seed = seed_}, patient));
    row("design");
    if (design.inputs.rows() != kLargeDesign) outcome.missed.push_back("a design of another size");
    FIDELIO_RETURN_IF_ERROR(
        client
            ->AddObservations(kModel, {{.level = 1, .inputs = map.x.topRows(1), .outputs = map.high.head(1)}},
                              client::AddOptions{.update = client::ObservationUpdate::kCondition}, patient)
            .status());
    row("condition");
    FIDELIO_ASSIGN_OR_RETURN(const client::Prediction last, client->Predict(kModel, some, {}, patient));
    process->Kill();
    begin = Now();
    FIDELIO_ASSIGN_OR_RETURN(process, StartFidelio(server_, *scratch / "data", *scratch / ".", {}));
    FIDELIO_ASSIGN_OR_RETURN(client, ConnectTo(*process));
    FIDELIO_ASSIGN_OR_RETURN(const client::Prediction again, client->Predict(kModel, some, {}, patient));
    const double restart_seconds = row("restart");
    if (again.mean != last.mean || again.variance != last.variance) {
      outcome.missed.push_back("predictions changed by the restart");
    }
    if (!(restart_seconds <= kMostRestartSeconds)) {
      outcome.missed.push_back(
          absl::StrFormat("restart to the first prediction %.1f s, bar %g", restart_seconds, kMostRestartSeconds));
    }
    if (!(peak_ <= kMostServerMib)) {
      outcome.missed.push_back(absl::StrFormat("peak of the server %.0f MiB, bar %g", peak_, kMostServerMib));
    }
    table.Print();
    outcome.json["peak_rss_mib"] = peak_;
    outcome.summary = absl::StrFormat(
        "%d observations, fit %.1f s, %d predictions %.1f s (rmse %.4f), restart %.1f s, peak of the server %.0f MiB, "
        "%d bars missed",
        split.train.levels[0].y.size(), fit_seconds, map.x.rows(), stream_seconds, rmse, restart_seconds, peak_,
        outcome.missed.size());
    return outcome;
  }

 private:
  static absl::Status Observe(client::Client& client, const Dataset& data) {
    v1::Model spec;
    spec.set_input_dimension(2);
    spec.mutable_output_transform()->set_kind(v1::OUTPUT_TRANSFORM_KIND_LOGIT);
    for (const char* name : {"low", "high"}) spec.add_fidelities()->set_name(name);
    FIDELIO_RETURN_IF_ERROR(client.CreateModel(kModel, spec).status());
    for (int level = 0; level < 2; ++level) {
      const LevelData& from = data.levels[level];
      for (Index at = 0; at < from.y.size(); at += kChunk) {
        const Index n = std::min<Index>(kChunk, from.y.size() - at);
        FIDELIO_RETURN_IF_ERROR(
            client
                .AddObservations(
                    kModel, {{.level = level, .inputs = from.x.middleRows(at, n), .outputs = from.y.segment(at, n)}})
                .status());
      }
    }
    return absl::OkStatus();
  }

  // The means at all rows, by one stream.
  static absl::StatusOr<Vector> PredictAll(const ServerProcess& process, const Matrix& x) {
    const std::unique_ptr<v1::Emulator::Stub> stub = v1::Emulator::NewStub(process.NewChannel());
    grpc::ClientContext context;
    const auto stream = stub->PredictStream(&context);
    std::thread writer([&] {
      v1::PredictStreamRequest first;
      first.mutable_header()->set_model(client::ModelName(kModel));
      bool good = stream->Write(first);
      for (Index at = 0; good && at < x.rows(); at += kStreamChunk) {
        v1::PredictStreamRequest chunk;
        *chunk.mutable_inputs() = client::ToWire(x.middleRows(at, std::min<Index>(kStreamChunk, x.rows() - at)));
        good = stream->Write(chunk);
      }
      stream->WritesDone();
    });
    Vector means(x.rows());
    Index at = 0;
    v1::PredictStreamResponse answer;
    absl::Status status;
    while (stream->Read(&answer)) {
      const std::string& bytes = answer.prediction().mean().f64_le();
      const auto n = static_cast<Index>(bytes.size() / sizeof(double));
      if (at + n > x.rows()) break;
      std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<char*>(means.data() + at));
      at += n;
    }
    writer.join();
    const grpc::Status finished = stream->Finish();
    if (!finished.ok()) return absl::InternalError(finished.error_message());
    if (at != x.rows()) return absl::InternalError(absl::StrFormat("%d answers for %d inputs", at, x.rows()));
    return means;
  }

  std::string data_, server_;
  int train_low_ = 800'000, train_high_ = 1'000, rows_ = 890'000;
  uint64_t seed_ = 1;
  double peak_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeLargeCommand() { return std::make_unique<LargeCommand>(); }

}  // namespace fidelio::bench
