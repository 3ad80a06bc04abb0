// fidelio-bench serve: what the server costs. fidelio-server, a bare gRPC server and the same model in-process are
// measured in turns, block by block, so that whatever else the machine does hits all of them; bars are ratios of them.
//
// A server that waits for its only caller predicts with caches that gRPC and the kernel have used since the last time. So
// the prediction in-process that its latency is compared with is made at the same pace: each after a call of the bare
// server. Without these calls it takes a fifth to a third less, which no server with one caller can reach; that figure is
// printed, too ("in-process, without a pause").
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/cpp/client.h"
#include "core/base/status_macros.h"
#include "fidelio/v1/emulator.grpc.pb.h"
#include "tests/bench/callers.h"
#include "tests/bench/commands.h"
#include "tests/bench/latencies.h"
#include "tests/bench/methods.h"
#include "tests/bench/remote_model.h"
#include "tests/bench/scratch_directory.h"
#include "tests/bench/table.h"
#include "tests/process/server_process.h"
#include "tests/support/problems/design.h"
#include "tests/support/problems/problem.h"

namespace fidelio::bench {
namespace {

// Bars.
constexpr double kInProcessFactor = 1.3;   // 1 point: at most the bare server's time and so often that in-process
constexpr double kSmallModelFactor = 1.5;  // 1 point, small model: at most so often the bare server's time
constexpr double kThroughputShare = 0.6;   // 64 callers: at least this share of the bare server's calls
constexpr double kManyPointsShare = 0.8;   // 10,000 points: at least this share of the speed in-process
constexpr double kDuringFitFactor = 5;     // p99 while a fit runs: at most so often the idle one

constexpr int kCallers = 64;
constexpr int kManyPoints = 10000;
constexpr int kBlock = 50;          // calls of one block
constexpr int kBlocksPerRound = 4;  // short ones, so that a noisy moment hits all kinds of calls
constexpr int kFitBlock = 200;      // the same while a fit runs
constexpr absl::Duration kThroughputBlock = absl::Milliseconds(700);
constexpr absl::Duration kServeStart = absl::Seconds(60);
constexpr uint64_t kSeed = 1;

// A model that exists on the server and in-process, with the same bits.
struct Subject {
  std::string model;  // its name on the server
  Matrix point;       // 1×d
  std::unique_ptr<Emulator> emulator;
};

// What one caller sees.
struct OneCaller {
  Latencies echo, server, local;
  Latencies without_pause;  // in-process, without calls in between
};

absl::Status TimeInProcess(const Emulator& emulator, const Matrix& x, int calls, Latencies& latencies) {
  for (int i = 0; i < calls; ++i) {
    const absl::Time start = absl::Now();
    FIDELIO_RETURN_IF_ERROR(emulator.Predict(x, {}).status());
    latencies.Add(absl::Now() - start);
  }
  return absl::OkStatus();
}

nlohmann::json ToJson(const Latencies& latencies) {
  return {{"calls", latencies.size()}, {"p50_us", latencies.Percentile(0.5)}, {"p99_us", latencies.Percentile(0.99)}};
}

class ServeCommand : public Command {
 public:
  std::string name() const override { return "serve"; }
  std::string about() const override { return "What the server costs, beside a bare gRPC server and in-process"; }

  void AddOptions(CLI::App& app) override {
    app.add_flag("--during-fit", during_fit_, "measure 1-point predictions while a fit runs instead");
    app.add_option("--rounds", rounds_, "how often each thing is measured")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--server", server_program_, "fidelio-server to measure; default: the one beside this program");
  }

  absl::StatusOr<Outcome> Run() override {
    FIDELIO_ASSIGN_OR_RETURN(scratch_, ScratchDirectory::Make());
    FIDELIO_ASSIGN_OR_RETURN(server_, StartFidelio(server_program_, *scratch_ / "data", *scratch_ / ".",
                                                   {"--log-level", "info"}));  // as it is by default: a line per call
    FIDELIO_ASSIGN_OR_RETURN(client_, ConnectTo(*server_));
    FIDELIO_ASSIGN_OR_RETURN(const Subject small, MakeSubject("small", "currin", {24, 6}));
    stub_ = v1::Emulator::NewStub(server_->NewChannel());
    Outcome outcome;
    if (during_fit_) {
      FIDELIO_RETURN_IF_ERROR(MeasureDuringFit(small, outcome));
    } else {
      FIDELIO_ASSIGN_OR_RETURN(const Subject levels3, MakeSubject("levels3", "branin", {80, 30, 10}));
      FIDELIO_ASSIGN_OR_RETURN(echo_,
                               ServerProcess::Launch(ProgramBeside("fidelio-bench"), {"echo-server"}, *scratch_ / "."));
      FIDELIO_RETURN_IF_ERROR(echo_->AwaitPort(kServeStart));
      echo_stub_ = v1::Emulator::NewStub(echo_->NewChannel());
      FIDELIO_RETURN_IF_ERROR(MeasureOneCaller(small, levels3, outcome));
      FIDELIO_RETURN_IF_ERROR(MeasureManyCallers(small, outcome));
      FIDELIO_RETURN_IF_ERROR(MeasureManyPoints(levels3, outcome));
    }
    absl::StrAppend(&outcome.summary, outcome.missed.size(), " bars missed");
    if (!server_->Stop(kServeStart)) outcome.missed.push_back("the server did not end by itself on SIGTERM");
    return outcome;
  }

 private:
  absl::StatusOr<Subject> MakeSubject(const std::string& model, const std::string& problem_name,
                                      const std::vector<int>& sizes) {
    FIDELIO_ASSIGN_OR_RETURN(const Problem* problem, FindProblem(problem_name));
    FIDELIO_ASSIGN_OR_RETURN(const Dataset data, MakeDataset(*problem, sizes, /*seed=*/1));
    FIDELIO_RETURN_IF_ERROR(CreateRemote(*client_, model, data));
    FIDELIO_RETURN_IF_ERROR(FitRemote(*client_, model, kSeed));
    FIDELIO_ASSIGN_OR_RETURN(const Method method, FindMethod("mf_dgp"));
    FIDELIO_ASSIGN_OR_RETURN(FittedEmulator fitted, method(data, kSeed, /*threads=*/0));
    Subject subject{.model = model,
                    .point = 0.5 * (problem->lower + problem->upper).transpose(),
                    .emulator = std::move(fitted.emulator)};
    // Otherwise the two would not do the same work.
    FIDELIO_ASSIGN_OR_RETURN(const client::Prediction remote, client_->Predict(model, subject.point));
    FIDELIO_ASSIGN_OR_RETURN(const Prediction local, subject.emulator->Predict(subject.point, {}));
    if (remote.mean != local.mean || remote.variance != local.variance) {
      return absl::InternalError(absl::StrCat("model ", model, ": the server predicts ", remote.mean(0), " ± ",
                                              remote.variance(0), ", the same fit in-process ", local.mean(0), " ± ",
                                              local.variance(0)));
    }
    return subject;
  }

  // A block of each kind of call.
  absl::Status TimeOneCaller(const Subject& subject, const v1::PredictRequest& request, OneCaller& times) {
    FIDELIO_RETURN_IF_ERROR(TimeCalls(*echo_stub_, request, kBlock, times.echo));
    FIDELIO_RETURN_IF_ERROR(TimeCalls(*stub_, request, kBlock, times.server));
    for (int i = 0; i < kBlock; ++i) {
      Latencies pause;
      FIDELIO_RETURN_IF_ERROR(TimeCalls(*echo_stub_, request, 1, pause));
      FIDELIO_RETURN_IF_ERROR(TimeInProcess(*subject.emulator, subject.point, 1, times.local));
    }
    return TimeInProcess(*subject.emulator, subject.point, kBlock, times.without_pause);
  }

  absl::Status MeasureOneCaller(const Subject& small, const Subject& levels3, Outcome& outcome) {
    const Subject* subjects[] = {&small, &levels3};
    OneCaller times[2], warm_up;
    for (int round = 0; round <= rounds_ * kBlocksPerRound; ++round) {
      for (int s = 0; s < 2; ++s) {
        const v1::PredictRequest request = MakePredictRequest(subjects[s]->model, subjects[s]->point);
        FIDELIO_RETURN_IF_ERROR(TimeOneCaller(*subjects[s], request, round == 0 ? warm_up : times[s]));
      }
    }
    Table table({"1 point, 1 caller", "p50 us", "p99 us"});
    for (int s = 0; s < 2; ++s) {
      const std::string& model = subjects[s]->model;
      const auto add = [&](const char* what, const Latencies& latencies) {
        table.Add({absl::StrCat(model, ": ", what), Fixed(latencies.Percentile(0.5), 1),
                   Fixed(latencies.Percentile(0.99), 1)});
        outcome.json["one_caller"][model][what] = ToJson(latencies);
      };
      add("bare server", times[s].echo);
      add("fidelio-server", times[s].server);
      add("in-process", times[s].local);
      add("in-process, without a pause", times[s].without_pause);
      const double bare = times[s].echo.Percentile(0.5), ours = times[s].server.Percentile(0.5),
                   core = times[s].local.Percentile(0.5);
      if (ours > bare + kInProcessFactor * core) {
        outcome.missed.push_back(absl::StrFormat("1 point, %s: p50 %.0f us, bar %.0f + %g * %.0f us", model, ours, bare,
                                                 kInProcessFactor, core));
      }
      if (s == 0 && ours > kSmallModelFactor * bare) {
        outcome.missed.push_back(
            absl::StrFormat("1 point, %s: p50 %.0f us, bar %g * %.0f us", model, ours, kSmallModelFactor, bare));
      }
      absl::StrAppendFormat(&outcome.summary, "%s p50 %.0f us (bare %.0f, in-process %.0f), ", model, ours, bare, core);
    }
    table.Print();
    return absl::OkStatus();
  }

  absl::Status MeasureManyCallers(const Subject& small, Outcome& outcome) {
    CallerGroup echo(*echo_, kCallers), server(*server_, kCallers);
    const v1::PredictRequest request = MakePredictRequest(small.model, small.point);
    double bare = 0, ours = 0;
    const int rounds = std::max(1, rounds_ / 4);
    for (int round = 0; round <= rounds; ++round) {
      FIDELIO_ASSIGN_OR_RETURN(const double bare_rate, echo.Throughput(request, kThroughputBlock));
      FIDELIO_ASSIGN_OR_RETURN(const double our_rate, server.Throughput(request, kThroughputBlock));
      if (round == 0) continue;  // connections are made
      bare += bare_rate / rounds;
      ours += our_rate / rounds;
    }
    Table table({"1 point, 64 callers", "calls/s"});
    table.Add({"bare server", Fixed(bare, 0)});
    table.Add({"fidelio-server", Fixed(ours, 0)});
    table.Print();
    outcome.json["many_callers"] = {
        {"callers", kCallers}, {"bare_calls_per_s", bare}, {"calls_per_s", ours}, {"share", ours / bare}};
    if (ours < kThroughputShare * bare) {
      outcome.missed.push_back(
          absl::StrFormat("%d callers: %.0f calls/s, bar %g * %.0f", kCallers, ours, kThroughputShare, bare));
    }
    absl::StrAppendFormat(&outcome.summary, "%d callers %.2f of bare, ", kCallers, ours / bare);
    return absl::OkStatus();
  }

  absl::Status MeasureManyPoints(const Subject& levels3, Outcome& outcome) {
    FIDELIO_ASSIGN_OR_RETURN(const Problem* problem, FindProblem("branin"));
    const Matrix x = LatinHypercube(kManyPoints, problem->lower, problem->upper, CellPosition::kUniform, /*seed=*/2);
    const v1::PredictRequest request = MakePredictRequest(levels3.model, x);
    FIDELIO_ASSIGN_OR_RETURN(const v1::PredictResponse answer, CallPredict(*stub_, request));
    FIDELIO_ASSIGN_OR_RETURN(const Prediction expected, levels3.emulator->Predict(x, {}));
    if (!SameBits(answer.prediction(), expected.mean, expected.variance)) {
      return absl::InternalError("10,000 points: the server's answer differs from the one in-process");
    }
    Latencies server, local;
    for (int round = 0; round < rounds_; ++round) {
      FIDELIO_RETURN_IF_ERROR(TimeCalls(*stub_, request, 1, server));
      FIDELIO_RETURN_IF_ERROR(TimeInProcess(*levels3.emulator, x, 1, local));
    }
    const double ours = server.Percentile(0.5), core = local.Percentile(0.5), share = core / ours;
    Table table({"10,000 points", "p50 ms"});
    table.Add({"fidelio-server", Fixed(ours / 1000, 1)});
    table.Add({"in-process", Fixed(core / 1000, 1)});
    table.Print();
    outcome.json["many_points"] = {
        {"points", kManyPoints}, {"server", ToJson(server)}, {"in-process", ToJson(local)}, {"share", share}};
    if (share < kManyPointsShare) {
      outcome.missed.push_back(
          absl::StrFormat("%d points: %.2f of the speed in-process, bar %g", kManyPoints, share, kManyPointsShare));
    }
    absl::StrAppendFormat(&outcome.summary, "%d points %.2f of in-process, ", kManyPoints, share);
    return absl::OkStatus();
  }

  // Starts a fit that lasts longer than any block, and waits until it runs. Answers its name.
  absl::StatusOr<std::string> StartLongFit(const std::string& model, uint64_t seed) {
    v1::FitOptions options;
    options.set_seed(seed);
    FIDELIO_ASSIGN_OR_RETURN(v1::Fit fit, client_->Fit(model, options));
    const absl::Time deadline = absl::Now() + kServeStart;
    while (fit.state() == v1::FIT_STATE_PENDING && absl::Now() < deadline) {
      FIDELIO_ASSIGN_OR_RETURN(fit, client_->GetFit(fit.name()));
    }
    return fit.name();
  }

  absl::Status MeasureDuringFit(const Subject& small, Outcome& outcome) {
    FIDELIO_ASSIGN_OR_RETURN(const Problem* problem, FindProblem("hartmann3"));
    FIDELIO_ASSIGN_OR_RETURN(const Dataset data, MakeDataset(*problem, {400, 150, 50}, /*seed=*/1));
    FIDELIO_RETURN_IF_ERROR(CreateRemote(*client_, "fitting", data));
    const v1::PredictRequest request = MakePredictRequest(small.model, small.point);
    Latencies idle, busy, warm_up;
    FIDELIO_RETURN_IF_ERROR(TimeCalls(*stub_, request, kFitBlock, warm_up));
    for (int round = 0; round < rounds_; ++round) {
      FIDELIO_RETURN_IF_ERROR(TimeCalls(*stub_, request, kFitBlock, idle));
      FIDELIO_ASSIGN_OR_RETURN(const std::string fit, StartLongFit("fitting", static_cast<uint64_t>(round)));
      FIDELIO_RETURN_IF_ERROR(TimeCalls(*stub_, request, kFitBlock, busy));
      FIDELIO_ASSIGN_OR_RETURN(const v1::Fit now, client_->GetFit(fit));
      if (now.state() != v1::FIT_STATE_RUNNING) {
        return absl::InternalError(absl::StrCat(fit, ": ", v1::FitState_Name(now.state()),
                                                " after the measurement, must be running: ", now.error().message()));
      }
      FIDELIO_RETURN_IF_ERROR(client_->CancelFit(fit).status());
      FIDELIO_RETURN_IF_ERROR(client_->WatchFit(fit, nullptr).status());
    }
    const double idle99 = idle.Percentile(0.99), busy99 = busy.Percentile(0.99);
    Table table({"1 point, 1 caller", "p50 us", "p99 us"});
    table.Add({"idle", Fixed(idle.Percentile(0.5), 1), Fixed(idle99, 1)});
    table.Add({"while a fit runs", Fixed(busy.Percentile(0.5), 1), Fixed(busy99, 1)});
    table.Print();
    outcome.json["during_fit"] = {{"idle", ToJson(idle)}, {"busy", ToJson(busy)}, {"p99_factor", busy99 / idle99}};
    if (busy99 > kDuringFitFactor * idle99) {
      outcome.missed.push_back(
          absl::StrFormat("1 point while a fit runs: p99 %.0f us, bar %g * %.0f us", busy99, kDuringFitFactor, idle99));
    }
    absl::StrAppendFormat(&outcome.summary, "p99 %.0f us while a fit runs, %.0f us idle, ", busy99, idle99);
    return absl::OkStatus();
  }

  bool during_fit_ = false;
  int rounds_ = 20;
  std::string server_program_;

  std::unique_ptr<ScratchDirectory> scratch_;
  std::unique_ptr<ServerProcess> server_, echo_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<v1::Emulator::Stub> stub_, echo_stub_;
};

}  // namespace

std::unique_ptr<Command> MakeServeCommand() { return std::make_unique<ServeCommand>(); }

}  // namespace fidelio::bench
