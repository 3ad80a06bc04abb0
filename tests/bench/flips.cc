// fidelio-bench flips: single bits of the data directory change while no server runs. The server must notice (DATA_LOSS
// for the model, or a refusal to start), or the bit must not matter; a wrong answer is never given.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/errors.h"
#include "client/cpp/names.h"
#include "core/base/status_macros.h"
#include "fidelio/v1/emulator.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "tests/bench/commands.h"
#include "tests/bench/endpoint.h"
#include "tests/bench/remote_model.h"
#include "tests/bench/scratch_directory.h"
#include "tests/bench/table.h"
#include "tests/process/server_process.h"
#include "tests/support/problems/design.h"
#include "tests/support/problems/problem.h"

namespace fidelio::bench {
namespace {

constexpr absl::Duration kFlipStart = absl::Seconds(60);
constexpr absl::Duration kFlipPatience = absl::Seconds(2);
constexpr uint64_t kPageBytes = 4096;  // of the database
constexpr const char* kModels[] = {"alpha", "beta", "gamma"};

using Stub = v1::Emulator::Stub;

struct Answer {
  absl::Status status;
  std::string bytes;
};
using Answers = std::vector<Answer>;  // of one model: its state, then the rest

template <typename Request, typename Response>
Answer Ask(Endpoint& endpoint, Endpoint::Method<Request, Response> method, const Request& request, Response* response) {
  Answer answer;
  answer.status = endpoint.Call(method, request, response, kFlipPatience);
  if (answer.status.ok()) answer.bytes = response->SerializeAsString();
  return answer;
}

// Everything that a client can learn about a model. `quarantined` tells whether the server says so.
Answers AskAll(Endpoint& endpoint, const std::string& id, const Matrix& x, bool* quarantined) {
  const std::string name = client::ModelName(id);
  Answers answers;
  v1::GetModelRequest get;
  get.set_name(name);
  v1::Model model;
  answers.push_back(Ask(endpoint, &Stub::GetModel, get, &model));
  *quarantined = answers.back().status.ok() && model.state() == v1::MODEL_STATE_QUARANTINED;
  v1::PredictResponse prediction;
  answers.push_back(Ask(endpoint, &Stub::Predict, MakePredictRequest(id, x), &prediction));
  v1::ListObservationsRequest observations;
  observations.set_parent(name);
  v1::ListObservationsResponse listed_observations;
  answers.push_back(Ask(endpoint, &Stub::ListObservations, observations, &listed_observations));
  v1::ListFitsRequest fits;
  fits.set_parent(name);
  v1::ListFitsResponse listed_fits;
  answers.push_back(Ask(endpoint, &Stub::ListFits, fits, &listed_fits));
  v1::ListRevisionsRequest revisions;
  revisions.set_parent(name);
  v1::ListRevisionsResponse listed_revisions;
  answers.push_back(Ask(endpoint, &Stub::ListRevisions, revisions, &listed_revisions));
  return answers;
}

// A bit of a file.
struct Place {
  std::filesystem::path file;
  uint64_t bit = 0;
};

// One bit of all files of a directory, all bits alike.
absl::StatusOr<Place> ChooseBit(const std::filesystem::path& directory, std::mt19937_64& random) {
  std::vector<std::pair<std::filesystem::path, uint64_t>> files;
  uint64_t bits = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    files.emplace_back(entry.path(), 8 * entry.file_size());
    bits += files.back().second;
  }
  if (bits == 0) return absl::InternalError("the data directory is empty");
  std::sort(files.begin(), files.end());
  uint64_t bit = std::uniform_int_distribution<uint64_t>(0, bits - 1)(random);
  for (const auto& [file, size] : files) {
    if (bit < size) return Place{file, bit};
    bit -= size;
  }
  return absl::InternalError("unreachable");
}

absl::Status Flip(const Place& place) {
  std::fstream file(place.file, std::ios::in | std::ios::out | std::ios::binary);
  const auto position = static_cast<std::streamoff>(place.bit / 8);
  file.seekg(position);
  const int byte = file.get();
  file.seekp(position);
  file.put(static_cast<char>(byte ^ (1 << place.bit % 8)));
  file.close();
  return file.good() ? absl::OkStatus()
                     : absl::UnavailableError(absl::StrCat(place.file.string(), ": can't be changed"));
}

class FlipsCommand : public Command {
 public:
  std::string name() const override { return "flips"; }
  std::string about() const override { return "Single bits of the data directory change: no wrong answer"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--count", count_, "bits, one at a time")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--seed", seed_, "of the choice of bits")->capture_default_str();
    app.add_option("--server", server_program_, "fidelio-server to try; default: the one beside this program");
  }

  absl::StatusOr<Outcome> Run() override {
    FIDELIO_ASSIGN_OR_RETURN(scratch_, ScratchDirectory::Make());
    FIDELIO_RETURN_IF_ERROR(Prepare());
    std::mt19937_64 random(seed_);
    Outcome outcome;
    for (int i = 0; i < count_; ++i) {
      const std::filesystem::path flipped = *scratch_ / "flipped";
      std::filesystem::remove_all(flipped);
      std::filesystem::copy(*scratch_ / "data", flipped, std::filesystem::copy_options::recursive);
      FIDELIO_ASSIGN_OR_RETURN(const Place place, ChooseBit(flipped, random));
      FIDELIO_RETURN_IF_ERROR(Flip(place));
      const std::string where =
          absl::StrFormat("%s, byte %d of page %d, bit %d", place.file.filename().string(), place.bit / 8 % kPageBytes,
                          place.bit / 8 / kPageBytes + 1, place.bit % 8);
      FIDELIO_ASSIGN_OR_RETURN(const std::string wrong, Try(flipped, where));
      if (!wrong.empty()) outcome.missed.push_back(absl::StrCat(where, ": ", wrong));
    }
    Table table({"bits", "count"});
    table.Add({"without effect", absl::StrCat(harmless_)});
    table.Add({"DATA_LOSS, the other models serve", absl::StrCat(quarantined_)});
    table.Add({"DATA_LOSS of more than one model", absl::StrCat(widespread_)});
    table.Add({"refused to start", absl::StrCat(refused_)});
    table.Add({"wrong", absl::StrCat(outcome.missed.size())});
    table.Print();
    outcome.json = {{"bits", count_},
                    {"seed", seed_},
                    {"without_effect", harmless_},
                    {"data_loss", quarantined_},
                    {"widespread", widespread_},
                    {"refused", refused_},
                    {"shared_by_models", shared_},
                    {"wrong", outcome.missed}};
    outcome.summary =
        absl::StrFormat("%d bits: %d without effect, %d found by a model, %d by several, %d at the start, %d wrong",
                        count_, harmless_, quarantined_, widespread_, refused_, outcome.missed.size());
    return outcome;
  }

 private:
  // Makes the models, and learns what they answer after a restart without damage.
  absl::Status Prepare() {
    FIDELIO_ASSIGN_OR_RETURN(const Problem* problem, FindProblem("currin"));
    x_ = LatinHypercube(10, problem->lower, problem->upper, CellPosition::kUniform, /*seed=*/2);
    FIDELIO_ASSIGN_OR_RETURN(auto server, StartFidelio(server_program_, *scratch_ / "data", *scratch_ / ".", {}));
    FIDELIO_ASSIGN_OR_RETURN(const auto client, ConnectTo(*server));
    uint64_t seed = 1;
    for (const char* model : kModels) {
      FIDELIO_ASSIGN_OR_RETURN(const Dataset data, MakeDataset(*problem, {12, 5}, seed));
      FIDELIO_RETURN_IF_ERROR(CreateRemote(*client, model, data));
      FIDELIO_RETURN_IF_ERROR(FitRemote(*client, model, seed++));
    }
    if (!server->Stop(kFlipStart)) {
      return absl::InternalError(absl::StrCat("the server did not end by itself:\n", server->OutputEnd()));
    }
    std::filesystem::copy(*scratch_ / "data", *scratch_ / "same", std::filesystem::copy_options::recursive);
    FIDELIO_ASSIGN_OR_RETURN(server, StartFidelio(server_program_, *scratch_ / "same", *scratch_ / ".", {}));
    Endpoint endpoint;
    endpoint.MoveTo(server->NewChannel());
    for (const char* model : kModels) {
      bool quarantined = false;
      expected_[model] = AskAll(endpoint, model, x_, &quarantined);
      for (const Answer& answer : expected_[model]) FIDELIO_RETURN_IF_ERROR(answer.status);
    }
    return absl::OkStatus();
  }

  // Starts a server on a damaged directory and counts what it does. Answers what is wrong, or nothing.
  absl::StatusOr<std::string> Try(const std::string& directory, const std::string& where) {
    FIDELIO_ASSIGN_OR_RETURN(auto server, LaunchFidelio(server_program_, directory, *scratch_ / ".", {}));
    const absl::Status ready = server->AwaitPort(kFlipStart);
    if (!ready.ok()) {
      if (server->Running()) return absl::StrCat("neither ready nor refused: ", ready.message());
      if (server->OutputEnd().empty()) return "refused to start without a word";
      ++refused_;
      shared_.push_back(absl::StrCat(where, ": ", server->OutputEnd()));
      return "";
    }
    Endpoint endpoint;
    endpoint.MoveTo(server->NewChannel());
    int lost = 0;
    std::string reason;
    for (const char* model : kModels) {
      bool quarantined = false;
      const Answers answers = AskAll(endpoint, model, x_, &quarantined);
      bool damaged = quarantined;
      for (size_t i = 0; i < answers.size(); ++i) {
        const Answer &answer = answers[i], &expected = expected_[model][i];
        if (absl::IsDataLoss(answer.status)) {
          damaged = true;
          reason = std::string(answer.status.message());
        } else if (!answer.status.ok()) {
          return absl::StrCat(model, ", answer ", i, ": ", answer.status.ToString());
        } else if (answer.bytes != expected.bytes && !(i == 0 && quarantined)) {
          return absl::StrCat(model, ", answer ", i, " differs");
        }
      }
      lost += damaged ? 1 : 0;
    }
    ++(lost == 0 ? harmless_ : lost == 1 ? quarantined_ : widespread_);
    if (lost > 1) shared_.push_back(absl::StrCat(where, ": ", lost, " models, ", reason));
    return "";
  }

  int count_ = 2000;
  uint64_t seed_ = 1;
  std::string server_program_;

  std::unique_ptr<ScratchDirectory> scratch_;
  Matrix x_;
  std::map<std::string, Answers> expected_;
  std::vector<std::string> shared_;  // places that more than one model needs, and what was said
  int harmless_ = 0, quarantined_ = 0, widespread_ = 0, refused_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeFlipsCommand() { return std::make_unique<FlipsCommand>(); }

}  // namespace fidelio::bench
