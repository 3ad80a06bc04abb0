// fidelio-bench flood: what a hostile client may do, while the server stays within its limits and answers health.
//
// The reset streams also go to a bare gRPC server, before any other server runs: what gRPC itself makes of them. The bar
// is the same number of milliseconds whatever that one takes.
#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/cpp/client.h"
#include "client/cpp/errors.h"
#include "core/base/status_macros.h"
#include "fidelio/v1/emulator.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "tests/bench/callers.h"
#include "tests/bench/commands.h"
#include "tests/bench/health_probe.h"
#include "tests/bench/http2_client.h"
#include "tests/bench/remote_model.h"
#include "tests/bench/scratch_directory.h"
#include "tests/bench/table.h"
#include "tests/process/server_process.h"
#include "tests/support/problems/design.h"
#include "tests/support/problems/problem.h"

namespace fidelio::bench {
namespace {

constexpr double kHealthBarMilliseconds = 100;
constexpr int64_t kMaxThreads = 64;
constexpr int64_t kMaxMemoryMib = 256;

constexpr int kResetsPerConnection = 1000;
constexpr int kClaims = 100;
constexpr int kBombs = 4;
constexpr int kMetadataCalls = 16;
constexpr size_t kMetadataBytes = size_t{4} << 20;
constexpr uint32_t kGibibyte = uint32_t{1} << 30;
constexpr size_t kLeastProbes = 50;  // per phase
constexpr absl::Duration kPhaseTimeout = absl::Seconds(60);
constexpr absl::Duration kCallTimeout = absl::Seconds(10);
constexpr char kPredict[] = "/fidelio.v1.Emulator/Predict";

// The five bytes before a message of gRPC.
std::string MessagePrefix(bool compressed, uint32_t size) {
  std::string prefix(1, compressed ? '\1' : '\0');
  for (int shift = 24; shift >= 0; shift -= 8) prefix += static_cast<char>(size >> shift & 0xff);
  return prefix;
}

// A gibibyte of zeros, packed by gzip.
std::string GzipBomb() {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, /*windowBits=*/15 + 16, /*memLevel=*/8, Z_DEFAULT_STRATEGY);
  std::string zeros(size_t{1} << 20, '\0'), packed, buffer(size_t{1} << 16, '\0');
  for (uint32_t done = 0; done < kGibibyte; done += static_cast<uint32_t>(zeros.size())) {
    const bool last = done + zeros.size() == kGibibyte;
    stream.next_in = reinterpret_cast<Bytef*>(zeros.data());
    stream.avail_in = static_cast<uInt>(zeros.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = static_cast<uInt>(buffer.size());
      deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
      packed.append(buffer, 0, buffer.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  deflateEnd(&stream);
  return packed;
}

class FloodCommand : public Command {
 public:
  std::string name() const override { return "flood"; }
  std::string about() const override { return "Hostile clients: the server stays within its limits and healthy"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--resets", resets_, "streams that are opened and reset")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--connections", connections_, "idle connections")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--server", server_program_, "fidelio-server to flood; default: the one beside this program");
  }

  absl::StatusOr<Outcome> Run() override {
    RaiseOpenFiles();
    Outcome outcome;
    Table table({"flood", "health p50 ms", "health max ms", "probe's own max ms", "threads", "MiB"});
    FIDELIO_ASSIGN_OR_RETURN(const auto scratch, ScratchDirectory::Make());
    FIDELIO_RETURN_IF_ERROR(FloodBareServer(*scratch / ".", table, outcome));
    FIDELIO_ASSIGN_OR_RETURN(server_, StartFidelio(server_program_, *scratch / "data", *scratch / ".",
                                                   {"--max-threads", absl::StrCat(kMaxThreads), "--max-memory-mib",
                                                    absl::StrCat(kMaxMemoryMib)}));
    port_ = server_->port();
    FIDELIO_ASSIGN_OR_RETURN(const auto client, ConnectTo(*server_));
    FIDELIO_ASSIGN_OR_RETURN(const Problem* problem, FindProblem("currin"));
    FIDELIO_ASSIGN_OR_RETURN(const Dataset data, MakeDataset(*problem, {24, 6}, /*seed=*/1));
    FIDELIO_RETURN_IF_ERROR(CreateRemote(*client, "small", data));
    FIDELIO_RETURN_IF_ERROR(FitRemote(*client, "small", /*seed=*/1));
    const Matrix x = LatinHypercube(10, problem->lower, problem->upper, CellPosition::kUniform, /*seed=*/2);
    FIDELIO_ASSIGN_OR_RETURN(const client::Prediction before, client->Predict("small", x));

    stub_ = v1::Emulator::NewStub(server_->NewChannel());
    idle_kib_ = ReadProcessUse(server_->pid()).resident_kib;
    probe_ = std::make_unique<HealthProbe>(*server_);
    const std::pair<const char*, std::function<absl::Status()>> phases[] = {
        {"none", [] { return absl::OkStatus(); }},
        {"reset streams", [&] { return ResetStreams(/*with_message=*/false); }},
        {"reset calls", [&] { return ResetStreams(/*with_message=*/true); }},
        {"idle connections", [&] { return HoldConnections(); }},
        {"matrix headers", [&] { return ClaimMatrices(); }},
        {"message prefixes", [&] { return ClaimMessages(); }},
        {"gzip bombs", [&] { return SendBombs(); }},
        {"metadata", [&] { return SendMetadata(); }}};
    for (const auto& [phase, flood] : phases) {
      const absl::Status status = flood();
      if (!status.ok()) outcome.missed.push_back(absl::StrCat(phase, ": ", status.ToString()));
      Judge(phase, table, outcome);
      if (!server_->Running()) {
        return absl::InternalError(absl::StrCat(phase, ": the server ended:\n", server_->OutputEnd()));
      }
    }
    probe_.reset();
    table.Print();
    FIDELIO_ASSIGN_OR_RETURN(const client::Prediction after, client->Predict("small", x));
    if (after.mean != before.mean || after.variance != before.variance) {
      outcome.missed.push_back("predictions differ from those before the flood");
    }
    outcome.summary = absl::StrFormat(
        "%d reset streams, %d idle connections: health in %.0f ms, %d threads, %d MiB, %d "
        "bars missed",
        resets_, connections_, slowest_ms_, most_threads_, most_kib_ >> 10, outcome.missed.size());
    return outcome;
  }

 private:
  void RaiseOpenFiles() {
    rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }

  static void Show(const std::string& phase, const HealthProbe::Report& report, Table& table, Outcome& outcome) {
    const double median = report.latencies.Percentile(0.5) / 1000, slowest = report.latencies.Percentile(1) / 1000;
    const double own = absl::ToDoubleMilliseconds(report.max_own_delay);
    table.Add({phase, Fixed(median, 1), Fixed(slowest, 1), Fixed(own, 1), absl::StrCat(report.max_threads),
               absl::StrCat(report.max_resident_kib >> 10)});
    outcome.json[phase] = {{"health_calls", report.latencies.size()},
                           {"health_failures", report.failures},
                           {"health_p50_ms", median},
                           {"health_max_ms", slowest},
                           {"own_max_ms", own},
                           {"threads", report.max_threads},
                           {"resident_kib", report.max_resident_kib}};
  }

  // The control: judged by nobody.
  absl::Status FloodBareServer(const std::string& directory, Table& table, Outcome& outcome) {
    FIDELIO_ASSIGN_OR_RETURN(
        const auto echo, ServerProcess::Launch(ProgramBeside("fidelio-bench"), {"echo-server", "--health"}, directory));
    FIDELIO_RETURN_IF_ERROR(echo->AwaitPort(kPhaseTimeout));
    port_ = echo->port();
    HealthProbe probe(*echo);
    FIDELIO_RETURN_IF_ERROR(ResetStreams(/*with_message=*/false));
    Show("reset streams, bare server", probe.Take(kLeastProbes), table, outcome);
    return absl::OkStatus();
  }

  void Judge(const std::string& phase, Table& table, Outcome& outcome) {
    const HealthProbe::Report report = probe_->Take(kLeastProbes);
    const double slowest = report.latencies.Percentile(1) / 1000;
    slowest_ms_ = std::max(slowest_ms_, slowest);
    most_threads_ = std::max(most_threads_, report.max_threads);
    most_kib_ = std::max(most_kib_, report.max_resident_kib);
    Show(phase, report, table, outcome);
    if (report.failures > 0) {
      outcome.missed.push_back(absl::StrCat(phase, ": ", report.failures, " health checks failed, bar 0"));
    }
    if (slowest >= kHealthBarMilliseconds) {
      outcome.missed.push_back(
          absl::StrFormat("%s: health after %.0f ms, bar %g ms", phase, slowest, kHealthBarMilliseconds));
    }
    if (report.max_threads >= kMaxThreads) {
      outcome.missed.push_back(absl::StrCat(phase, ": ", report.max_threads, " threads, bar below ", kMaxThreads));
    }
    if (report.max_resident_kib > idle_kib_ + (kMaxMemoryMib << 10)) {
      outcome.missed.push_back(
          absl::StrCat(phase, ": ", report.max_resident_kib >> 10, " MiB, bar ", (idle_kib_ >> 10) + kMaxMemoryMib));
    }
  }

  // The server may close connections that do such things; the flood goes on with new ones. With their message, streams are
  // calls that the server may begin to answer.
  absl::Status ResetStreams(bool with_message) {
    const absl::Time deadline = absl::Now() + kPhaseTimeout;
    int done = 0;
    while (done < resets_) {
      if (absl::Now() > deadline) return absl::DeadlineExceededError(absl::StrCat("only ", done, " streams"));
      FIDELIO_ASSIGN_OR_RETURN(const auto connection, Http2Client::Connect(port_));
      absl::Status status = connection->Greet();
      for (int i = 0; i < kResetsPerConnection && done < resets_ && status.ok(); ++i) {
        const absl::StatusOr<uint32_t> stream = connection->StartCall(kPredict, {});
        status = stream.status();
        if (status.ok() && with_message) {
          status = connection->SendData(*stream, MessagePrefix(false, 0), deadline).status();
        }
        if (status.ok()) status = connection->Reset(*stream);
        if (status.ok()) ++done;
        connection->Drain();
      }
    }
    return absl::OkStatus();
  }

  absl::Status HoldConnections() {
    std::vector<std::unique_ptr<Http2Client>> held;
    for (int i = 0; i < connections_; ++i) {
      FIDELIO_ASSIGN_OR_RETURN(held.emplace_back(), Http2Client::Connect(port_));
      if (i % 2 == 0) FIDELIO_RETURN_IF_ERROR(held.back()->Greet());  // the others say nothing at all
    }
    // A call on a new connection, while all of them are there.
    const auto stub = v1::Emulator::NewStub(server_->NewChannel());
    v1::PredictRequest request = MakePredictRequest("small", Matrix::Constant(1, 2, 0.5));
    return CallPredict(*stub, request).status();
  }

  absl::Status ClaimMatrices() {
    v1::PredictRequest request = MakePredictRequest("small", Matrix::Constant(1, 2, 0.5));
    request.mutable_inputs()->set_rows(kGibibyte / sizeof(double) / 2);
    for (int i = 0; i < kClaims; ++i) {
      const absl::Status status = CallPredict(*stub_, request).status();
      if (!absl::IsInvalidArgument(status)) {
        return absl::InternalError(absl::StrCat("answered ", status.ToString(), ", must be INVALID_ARGUMENT"));
      }
    }
    return absl::OkStatus();
  }

  // One raw call; the server must end it by itself.
  absl::Status ExpectEnded(const Http2Client::Headers& headers, const std::string& data) {
    const absl::Time deadline = absl::Now() + kCallTimeout;
    FIDELIO_ASSIGN_OR_RETURN(const auto connection, Http2Client::Connect(port_));
    FIDELIO_RETURN_IF_ERROR(connection->Greet());
    const absl::StatusOr<uint32_t> stream = connection->StartCall(kPredict, headers);
    if (!stream.ok()) return absl::OkStatus();  // cut off already
    connection->SendData(*stream, data, deadline).status().IgnoreError();
    if (connection->AwaitEnd(*stream, deadline)) return absl::OkStatus();
    return absl::DeadlineExceededError("the server did not end the call");
  }

  absl::Status ClaimMessages() {
    for (int i = 0; i < kClaims; ++i) {
      FIDELIO_RETURN_IF_ERROR(ExpectEnded({}, MessagePrefix(false, kGibibyte) + std::string(1000, 'x')));
    }
    return absl::OkStatus();
  }

  absl::Status SendBombs() {
    const std::string bomb = GzipBomb();
    const std::string message = MessagePrefix(true, static_cast<uint32_t>(bomb.size())) + bomb;
    for (int i = 0; i < kBombs; ++i) FIDELIO_RETURN_IF_ERROR(ExpectEnded({{"grpc-encoding", "gzip"}}, message));
    return absl::OkStatus();
  }

  absl::Status SendMetadata() {
    const std::string value(kMetadataBytes, 'x');
    for (int i = 0; i < kMetadataCalls; ++i) {
      FIDELIO_RETURN_IF_ERROR(ExpectEnded({{"x-flood", value}}, MessagePrefix(false, 0)));
    }
    return absl::OkStatus();
  }

  int resets_ = 20000;
  int connections_ = 1000;
  std::string server_program_;

  int port_ = 0;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<v1::Emulator::Stub> stub_;
  std::unique_ptr<HealthProbe> probe_;
  int64_t idle_kib_ = 0;
  double slowest_ms_ = 0;
  int64_t most_threads_ = 0, most_kib_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeFloodCommand() { return std::make_unique<FloodCommand>(); }

}  // namespace fidelio::bench
