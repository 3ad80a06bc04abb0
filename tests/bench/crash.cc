// fidelio-bench crash: kills the server with SIGKILL at random moments while it is written to, fits and predicts, and
// checks that it kept every promise.
#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "tests/bench/commands.h"
#include "tests/bench/crash_workers.h"
#include "tests/bench/endpoint.h"
#include "tests/bench/latencies.h"
#include "tests/bench/remote_model.h"
#include "tests/bench/scratch_directory.h"
#include "tests/bench/table.h"
#include "tests/process/server_process.h"

namespace fidelio::bench {
namespace {

constexpr absl::Duration kReadyBar = absl::Seconds(2);
constexpr absl::Duration kStartTimeout = absl::Seconds(60);
constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr int kMakers = 8;               // threads that make the models on disk
constexpr double kKilledStarting = 0.1;  // share of the restarts that are killed before they are ready

// Runs a step again and again in a thread, until it fails or is told to stop.
class Worker {
 public:
  template <typename Step>
  Worker(const std::atomic<bool>& stop, Step step)
      : thread_([this, &stop, step] {
          while (!stop.load() && status_.ok()) status_ = step();
        }) {}
  ~Worker() {
    if (thread_.joinable()) thread_.join();
  }

  // After `stop` was set: the error that ended it, or OK.
  const absl::Status& Join() {
    thread_.join();
    return status_;
  }

 private:
  absl::Status status_;
  std::thread thread_;  // last: it uses the rest
};

// Sets a flag on the way out, before what waits for it is destroyed.
struct StopOnExit {
  std::atomic<bool>& stop;
  ~StopOnExit() { stop.store(true); }
};

class CrashCommand : public Command {
 public:
  std::string name() const override { return "crash"; }
  std::string about() const override { return "Nothing acknowledged is lost when the server is killed"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--kills", kills_, "how often the server is killed")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--models", models_, "models on disk besides those that are used")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--longest-life", longest_life_, "seconds that the server lives at most between two kills")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--seed", seed_, "of the moments of the kills")->capture_default_str();
    app.add_option("--server", server_program_, "fidelio-server to kill; default: the one beside this program");
  }

  absl::StatusOr<Outcome> Run() override {
    FIDELIO_ASSIGN_OR_RETURN(scratch_, ScratchDirectory::Make());
    FIDELIO_RETURN_IF_ERROR(Launch());
    FIDELIO_RETURN_IF_ERROR(AwaitReady());
    ready_ = {};  // an empty directory does not count
    FIDELIO_RETURN_IF_ERROR(MakeModels());

    BatchWriter writer(&endpoint_, "written");
    Fitter fitter(&endpoint_, "fitted");
    Reader reader(&endpoint_, "fitted");
    absl::Status failures[3];
    {
      std::atomic<bool> stop{false};
      Worker writing(stop, [&] { return writer.WriteNext(); });
      Worker fitting(stop, [&] { return fitter.FitNext(); });
      Worker reading(stop, [&] { return reader.ReadNext(); });
      const StopOnExit stopper{stop};
      FIDELIO_RETURN_IF_ERROR(KillAgainAndAgain());
      stop.store(true);
      failures[0] = writing.Join();
      failures[1] = fitting.Join();
      failures[2] = reading.Join();
    }
    Outcome outcome;
    const char* workers[] = {"the writer", "the fitter", "the reader"};
    for (int i = 0; i < 3; ++i) {
      if (!failures[i].ok()) outcome.missed.push_back(absl::StrCat(workers[i], " failed: ", failures[i].ToString()));
    }
    FIDELIO_RETURN_IF_ERROR(Verify(writer, fitter, reader, outcome));
    return outcome;
  }

 private:
  absl::Status Launch() {
    FIDELIO_ASSIGN_OR_RETURN(
        server_, LaunchFidelio(server_program_, *scratch_ / "data", *scratch_ / ".", {"--checkpoint-seconds", "0.1"}));
    return absl::OkStatus();
  }

  absl::Status AwaitReady() {
    FIDELIO_RETURN_IF_ERROR(server_->AwaitPort(kStartTimeout));
    ready_.Add(server_->time_to_port());
    endpoint_.MoveTo(server_->NewChannel());
    return absl::OkStatus();
  }

  absl::Status MakeModel(const std::string& id) {
    v1::CreateModelRequest request;
    request.set_model_id(id);
    request.set_request_id("create-" + id);
    request.mutable_model()->set_input_dimension(1);
    request.mutable_model()->add_fidelities();
    request.mutable_model()->add_fidelities();
    v1::Model model;
    return endpoint_.Call(&Endpoint::Stub::CreateModel, request, &model, kPatience);
  }

  // Those that are used, and others that are only there, with a batch of observations each.
  absl::Status MakeModels() {
    FIDELIO_RETURN_IF_ERROR(MakeModel("written"));
    FIDELIO_RETURN_IF_ERROR(MakeModel("fitted"));
    std::atomic<int> next{0};
    std::vector<absl::Status> statuses(kMakers);
    std::vector<std::thread> makers;
    for (int m = 0; m < kMakers; ++m) {
      makers.emplace_back([&, m] {
        for (int i = next++; i < models_ && statuses[m].ok(); i = next++) {
          const std::string id = absl::StrCat("other-", i);
          statuses[m] = MakeModel(id);
          v1::AddObservationsResponse response;
          if (!statuses[m].ok()) return;
          statuses[m] = endpoint_.Call(&Endpoint::Stub::AddObservations, MakeBatch(id, 0), &response, kPatience);
        }
      });
    }
    for (std::thread& maker : makers) maker.join();
    for (const absl::Status& status : statuses) FIDELIO_RETURN_IF_ERROR(status);
    return absl::OkStatus();
  }

  absl::Status KillAgainAndAgain() {
    std::mt19937_64 random(seed_);
    std::uniform_real_distribution<double> unit(0, 1);
    const absl::Notification never;  // what ends each life is its length
    for (int kill = 0; kill < kills_; ++kill) {
      if (unit(random) >= kKilledStarting || kill == 0) {
        if (kill > 0) FIDELIO_RETURN_IF_ERROR(AwaitReady());
        never.WaitForNotificationWithTimeout(absl::Seconds(longest_life_ * unit(random)));
      } else {
        never.WaitForNotificationWithTimeout(absl::Milliseconds(100 * unit(random)));
        ++killed_starting_;
      }
      if (!server_->Running()) {
        return absl::InternalError(absl::StrCat("the server ended by itself:\n", server_->OutputEnd()));
      }
      server_->Kill();
      FIDELIO_RETURN_IF_ERROR(Launch());
    }
    return AwaitReady();
  }

  absl::Status Verify(const BatchWriter& writer, const Fitter& fitter, Reader& reader, Outcome& outcome) {
    BatchWriter::Audit audit;
    for (const BatchWriter* w : {&writer, &fitter.writer()}) {
      FIDELIO_ASSIGN_OR_RETURN(const BatchWriter::Audit one, w->Check());
      audit.lost += one.lost;
      audit.duplicated += one.duplicated;
      audit.altered += one.altered;
    }
    FIDELIO_ASSIGN_OR_RETURN(const int64_t stuck, fitter.CountStuck());
    FIDELIO_RETURN_IF_ERROR(reader.ReadAll());
    const int64_t batches = writer.acknowledged() + fitter.writer().acknowledged();
    const double slowest = ready_.Percentile(1) / 1e6;

    const auto expect_none = [&](int64_t count, const char* what) {
      if (count > 0) outcome.missed.push_back(absl::StrCat(count, " ", what, ", bar 0"));
    };
    expect_none(audit.lost, "acknowledged batches lost");
    expect_none(audit.duplicated, "batches duplicated");
    expect_none(audit.altered, "batches altered");
    expect_none(reader.differences(), "predictions that differ for the same revision");
    expect_none(stuck, "fits stuck or other than answered");
    if (slowest >= absl::ToDoubleSeconds(kReadyBar)) {
      outcome.missed.push_back(
          absl::StrFormat("ready after %.2f s, bar %g s", slowest, absl::ToDoubleSeconds(kReadyBar)));
    }
    if (batches == 0 || fitter.fits() == 0 || reader.predictions() == 0) {
      outcome.missed.push_back("nothing was written, fitted or predicted between the kills");
    }
    outcome.json = {{"kills", kills_},
                    {"killed_while_starting", killed_starting_},
                    {"models", models_},
                    {"seed", seed_},
                    {"batches", batches},
                    {"batches_lost", audit.lost},
                    {"batches_duplicated", audit.duplicated},
                    {"batches_altered", audit.altered},
                    {"fits", fitter.fits()},
                    {"fits_resumed", fitter.resumed()},
                    {"fits_stuck", stuck},
                    {"revisions", reader.revisions()},
                    {"predictions", reader.predictions()},
                    {"predictions_different", reader.differences()},
                    {"retries", endpoint_.retries()},
                    {"ready_s", {{"median", ready_.Percentile(0.5) / 1e6}, {"max", slowest}}}};
    Table table({"promise", "kept", "broken"});
    table.Add(
        {"batches stored once", absl::StrCat(batches), absl::StrCat(audit.lost + audit.duplicated + audit.altered)});
    table.Add({"fits ended", absl::StrCat(fitter.fits()), absl::StrCat(stuck)});
    table.Add({"predictions the same", absl::StrCat(reader.predictions()), absl::StrCat(reader.differences())});
    table.Print();
    outcome.summary = absl::StrFormat(
        "%d kills, %d batches (%d lost, %d duplicated), %d fits (%d resumed, %d stuck), %d predictions (%d differ), "
        "ready "
        "in %.2f s with %d models, %d bars missed",
        kills_, batches, audit.lost, audit.duplicated, fitter.fits(), fitter.resumed(), stuck, reader.predictions(),
        reader.differences(), slowest, models_, outcome.missed.size());
    return absl::OkStatus();
  }

  int kills_ = 200;
  int models_ = 50;
  double longest_life_ = 1;
  uint64_t seed_ = 1;
  std::string server_program_;

  int killed_starting_ = 0;
  std::unique_ptr<ScratchDirectory> scratch_;
  std::unique_ptr<ServerProcess> server_;
  Endpoint endpoint_;
  Latencies ready_;
};

}  // namespace

std::unique_ptr<Command> MakeCrashCommand() { return std::make_unique<CrashCommand>(); }

}  // namespace fidelio::bench
