// fidelio fit, fits.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/cli/as_typed.h"
#include "client/cli/command.h"
#include "client/cli/progress.h"
#include "client/cli/text.h"
#include "client/cli/words.h"
#include "client/cpp/errors.h"
#include "client/cpp/names.h"

namespace fidelio::cli {
namespace {

// A server that restarts is back sooner.
constexpr double kWaitSeconds = 600;

struct FitCommandOptions {
  std::string name;
  bool watch = false;
  double wait_seconds = kWaitSeconds;
  uint64_t seed = 0;
  v1::KernelFamily kernel = v1::KERNEL_FAMILY_UNSPECIFIED;
  std::string inference;
  bool warm_start = false;
  std::optional<double> budget_seconds;
  std::optional<int64_t> budget_iterations;
  std::optional<int64_t> inducing_points;
  std::optional<int64_t> batch_size;
  std::optional<int64_t> steps;
  std::vector<std::string> method_options;  // NAME=VALUE
};

struct FitsCommandOptions {
  std::string name;
  std::string fit;
  bool watch = false;
  double wait_seconds = kWaitSeconds;
  bool cancel = false;
};

TypedNames FitNames(const v1::FitOptions& options) {
  TypedNames names;
  for (const auto& [name, value] : options.method_options()) {
    names.emplace_back(absl::StrCat("options.", name), absl::StrCat("--option ", name));
  }
  names.insert(names.end(), {{"model", "NAME"},
                             {"options.inference", "--inference"},
                             {"options.kernel_family", "--kernel"},
                             {"options.budget.seconds", "--budget-seconds"},
                             {"options.budget.iterations", "--budget-iterations"},
                             {"options.seed", "--seed"},
                             {"options.inducing_points", "--inducing-points"},
                             {"options.batch_size", "--batch-size"},
                             {"options.steps", "--steps"}});
  return names;
}

std::string StateText(const v1::Fit& fit) { return EnumText(v1::FitState_Name(fit.state()), "FIT_STATE_"); }

std::string NotServed(const v1::Fit& fit) {
  return absl::StrCat("revision ", client::ShortName(fit.revision()),
                      " was made, but is not served: the model was rolled back meanwhile");
}

std::string Summary(const v1::Fit& fit) {
  std::string text = absl::StrCat("fit ", client::ShortName(fit.name()), " ", StateText(fit));
  if (client::HasEnded(fit)) absl::StrAppend(&text, " after ", DurationText(ToDuration(fit.progress().elapsed())));
  if (fit.not_served()) {
    absl::StrAppend(&text, "; ", NotServed(fit));
  } else if (!fit.revision().empty()) {
    absl::StrAppend(&text, " and created revision ", client::ShortName(fit.revision()));
  }
  return text;
}

void RemarkWarnings(Context& context, const v1::Fit& fit) {
  for (const std::string& warning : fit.warnings()) context.Remark(absl::StrCat("warning: ", warning));
}

// Says that the connection is lost, how long it will be waited for, and how much of that is left.
class LostConnection {
 public:
  LostConnection(const Context& context, absl::Duration patience, ProgressPrinter* printer)
      : context_(context), patience_(patience), printer_(*printer) {}

  void OnEvent() {
    heard_ = true;
    since_ = absl::InfiniteFuture();
  }

  void OnRetry() {
    const absl::Duration patience =
        heard_ ? patience_ : std::min(patience_, absl::Seconds(context_.options.retry_seconds));
    if (since_ == absl::InfiniteFuture()) {
      since_ = absl::Now();
      printer_.Note(heard_ ? absl::StrCat("connection to ", context_.options.server,
                                          " lost; the fit continues when the server is back; waiting up to ",
                                          DurationText(patience), " for it (--wait; Ctrl-C ends watching, not the fit)")
                           : absl::StrCat("no response from ", context_.options.server, ", trying for up to ",
                                          DurationText(patience), " (--retry)"));
    }
    printer_.ShowWaiting(std::max(since_ + patience - absl::Now(), absl::ZeroDuration()));
  }

 private:
  const Context& context_;
  const absl::Duration patience_;
  ProgressPrinter& printer_;
  bool heard_ = false;
  absl::Time since_ = absl::InfiniteFuture();  // when the connection was found to be lost
};

// Shows the progress of a fit until it has ended. An error when it did not succeed.
absl::Status Watch(Context& context, const std::string& name, absl::Duration patience) {
  // A document on standard output, and nothing else unless someone looks.
  const bool quiet = context.options.json && context.streams.err_width == 0;
  ProgressPrinter printer(context.streams.err, context.streams.err_width);
  LostConnection lost(context, patience, &printer);
  const auto client = context.Connect(
      [&](const absl::Status&, absl::Duration) {
        if (!quiet) lost.OnRetry();
      },
      patience);
  if (!client.ok()) return client.status();
  const auto fit = (*client)->WatchFit(name, [&](const v1::Fit& event) {
    lost.OnEvent();
    if (!quiet) printer.Show(event);
  });
  printer.Clear();
  if (!fit.ok()) return fit.status();
  if (fit->state() == v1::FIT_STATE_SUCCEEDED) {
    context.Print(ToJson(*fit), Summary(*fit));
    RemarkWarnings(context, *fit);
    return absl::OkStatus();
  }
  context.exit_code = ExitCode::kFitNotSucceeded;
  if (context.options.json) context.Print(ToJson(*fit), "");
  if (fit->state() == v1::FIT_STATE_CANCELLED) return absl::CancelledError(absl::StrCat(name, ": was cancelled"));
  const absl::Status error = client::ToStatus(fit->error());
  return client::WithMessage(error.ok() ? absl::InternalError("failed without a reason") : error,
                             absl::StrCat(name, ": failed: ", error.message()));
}

absl::Status Fit(Context& context, const FitCommandOptions& options) {
  v1::FitOptions wire;
  wire.set_seed(options.seed);
  wire.set_kernel_family(options.kernel);
  wire.set_warm_start(options.warm_start);
  if (options.budget_seconds.has_value()) wire.mutable_budget()->set_seconds(*options.budget_seconds);
  if (options.budget_iterations.has_value()) wire.mutable_budget()->set_iterations(*options.budget_iterations);
  if (options.inducing_points.has_value()) wire.set_inducing_points(*options.inducing_points);
  if (options.batch_size.has_value()) wire.set_batch_size(*options.batch_size);
  if (options.steps.has_value()) wire.set_steps(*options.steps);
  for (const std::string& text : options.method_options) {
    const size_t equals = text.find('=');
    double value = 0;
    if (equals == 0 || equals == std::string::npos || !absl::SimpleAtod(text.substr(equals + 1), &value)) {
      context.exit_code = ExitCode::kUsage;
      return absl::InvalidArgumentError(absl::StrCat("--option: \"", text, "\", want NAME=NUMBER"));
    }
    (*wire.mutable_method_options())[text.substr(0, equals)] = value;
  }
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  if (!options.inference.empty()) {
    const auto inference = ServerWord(**client, "--inference", options.inference, InferenceWords(),
                                      [](const v1::ServerInfo& info) { return InferenceWords(info); });
    if (!inference.ok()) return inference.status();
    wire.set_inference(*inference);
  }
  const auto fit = (*client)->Fit(options.name, wire);
  if (!fit.ok()) return AsTyped(fit.status(), FitNames(wire));
  if (options.watch) {
    if (context.streams.err_width > 0) {
      context.streams.err << "fit " << client::ShortName(fit->name()) << " of model " << client::ShortName(options.name)
                          << " (Ctrl-C ends watching, not the fit)" << std::endl;
    }
    return Watch(context, fit->name(), absl::Seconds(options.wait_seconds));
  }
  const std::string id = client::ShortName(fit->name());
  context.Print(ToJson(*fit), absl::StrCat(Summary(*fit), "; `fidelio fits ", client::ShortName(options.name), " ", id,
                                           " --watch` shows how it goes"));
  return absl::OkStatus();
}

// "3 chains".
std::string CountText(int64_t count, const char* noun) { return absl::StrCat(count, " ", noun, count == 1 ? "" : "s"); }

std::string RHatText(const v1::Fit& fit) {
  return fit.sampling().has_r_hat() ? absl::StrFormat("%.3f", fit.sampling().r_hat()) : "–";
}

std::string EffectiveSizeText(const v1::Fit& fit) {
  return fit.sampling().effective_size() > 0 ? absl::StrFormat("%.0f", fit.sampling().effective_size()) : "–";
}

std::string Describe(const v1::Fit& fit) {
  std::vector<std::vector<std::string>> rows = {{"fit", client::ShortName(fit.name())}, {"state", StateText(fit)}};
  const auto add = [&](const char* key, const std::string& value) { rows.push_back({key, value}); };
  add("progress", ProgressLine(fit));
  if (!fit.revision().empty()) add("revision", client::ShortName(fit.revision()));
  if (fit.not_served()) add("note", NotServed(fit));
  if (fit.has_error()) add("error", std::string(client::ToStatus(fit.error()).message()));
  add("data version", absl::StrCat(fit.data_version()));
  add("inference", WordFor(InferenceWords(), fit.inference()));
  if (!fit.inference_reason().empty()) add("because", fit.inference_reason());
  if (fit.has_sampling()) {
    const v1::SamplingReport& sampling = fit.sampling();
    add("sampling", absl::StrFormat("%s, %s, acceptance %.2f", CountText(sampling.chains(), "chain"),
                                    CountText(sampling.draws(), "draw"), sampling.acceptance()));
    add("R-hat", RHatText(fit));
    add("effective size", EffectiveSizeText(fit));
    if (sampling.moved_chains() > 0) {
      add("moved", absl::StrCat(CountText(sampling.moved_chains(), "chain"), " to another mode, and counted there"));
    }
    if (sampling.failed_curvature() > 0) {
      add("curvature", absl::StrCat("not measured in ", CountText(sampling.failed_curvature(), "direction")));
    }
  }
  for (const std::string& warning : fit.warnings()) add("warning", warning);
  add("kernel", WordFor(KernelWords(), fit.options().kernel_family()));
  add("seed", absl::StrCat(fit.options().seed()));
  add("resumed", absl::StrCat(fit.resume_count(), " times"));
  add("created", TimeText(fit.create_time()));
  add("started", TimeText(fit.start_time()));
  add("ended", TimeText(fit.end_time()));
  return TextTable(rows);
}

absl::Status ListFits(Context& context, const std::string& model) {
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto fits = (*client)->ListFits(model);
  if (!fits.ok()) return fits.status();
  std::string notes;
  bool warned = false;
  std::vector<std::vector<std::string>> rows = {
      {"FIT", "STATE", "DONE", "OBJECTIVE", "R-HAT", "ESS", "TIME", "REVISION", "CREATED"}};
  for (const v1::Fit& fit : *fits) {
    rows.push_back({client::ShortName(fit.name()), StateText(fit),
                    absl::StrFormat("%.0f %%", 100 * fit.progress().fraction()),
                    fit.progress().has_elbo() ? RoundNumber(fit.progress().elbo()) : "–",
                    RHatText(fit) + (fit.warnings().empty() ? "" : "!"), EffectiveSizeText(fit),
                    DurationText(ToDuration(fit.progress().elapsed())),
                    fit.revision().empty() ? "–" : client::ShortName(fit.revision()) + (fit.not_served() ? "*" : ""),
                    TimeText(fit.create_time())});
    if (fit.not_served()) absl::StrAppend(&notes, "* ", NotServed(fit), "\n");
    warned = warned || !fit.warnings().empty();
  }
  if (warned) {
    absl::StrAppend(&notes, "! has warnings; `fidelio fits ", client::ShortName(model), " FIT` shows them\n");
  }
  context.Print(ToJsonList("fits", *fits),
                fits->empty() ? absl::StrCat("no fits; `fidelio fit ", client::ShortName(model), " --watch` starts one")
                              : TextTable(rows) + notes);
  return absl::OkStatus();
}

absl::Status Fits(Context& context, const FitsCommandOptions& options) {
  if (options.fit.empty() && options.cancel) {
    context.exit_code = ExitCode::kUsage;
    return absl::InvalidArgumentError("FIT: missing, but --cancel needs the number of a fit");
  }
  if (options.fit.empty() && !options.watch) return ListFits(context, options.name);
  const auto client = context.Connect();
  if (!client.ok()) return client.status();
  std::string name = client::FitName(options.name, options.fit);
  if (options.fit.empty()) {
    const auto fits = (*client)->ListFits(options.name);
    if (!fits.ok()) return fits.status();
    if (fits->empty()) return absl::NotFoundError(absl::StrCat(client::ModelName(options.name), ": has no fits"));
    name = fits->front().name();
  }
  if (options.cancel) {
    if (const auto fit = (*client)->CancelFit(name); !fit.ok()) return fit.status();
  }
  if (options.watch) return Watch(context, name, absl::Seconds(options.wait_seconds));
  const auto fit = (*client)->GetFit(name);
  if (!fit.ok()) return fit.status();
  context.Print(ToJson(*fit), Describe(*fit));
  return absl::OkStatus();
}

void AddWait(CLI::App* app, double& seconds) {
  app->add_option("--wait", seconds,
                  "with --watch: how long to wait for a lost server; the fit continues when it is back")
      ->type_name("SECONDS")
      ->check(NotNegative())
      ->capture_default_str();
}

}  // namespace

void AddFitCommands(CLI::App& app, Context& context) {
  auto options = std::make_shared<FitCommandOptions>();
  CLI::App* fit = AddCommand(app, context, "fit", "Fit a model to all its observations",
                             "  fidelio fit wing --watch\n"
                             "  fidelio fit wing --watch --kernel matern52 --seed 7 --budget-seconds 60\n"
                             "  fidelio fit wing --watch --inference svi --steps 10000\n"
                             "\nA fit continues when this command ends, and after a crash of the server.\n",
                             [&context, options] { return Fit(context, *options); });
  fit->add_option("NAME", options->name, "the model")->required();
  fit->add_flag("--watch", options->watch, "show the progress until the fit has ended");
  AddWait(fit, options->wait_seconds);
  fit->add_option("--seed", options->seed, "seed of all random numbers; default 0")->check(NotNegative());
  AddChoice<v1::KernelFamily>(
      fit, context, "--kernel", "KERNEL",
      "rbf (default), matern12, matern32, matern52, or evidence: all, averaged by their evidence", KernelWords(),
      options->kernel);
  AddServerWord<v1::Inference>(
      fit, context, "--inference", "INFERENCE",
      absl::StrCat("one of ", AllWords(InferenceWords()), "; default auto: the server chooses by ",
                   "the kind of model and the amount of data"),
      InferenceWords(), options->inference);
  fit->add_flag("--warm-start", options->warm_start, "also start from the current revision");
  fit->add_option("--budget-seconds", options->budget_seconds,
                  "stop after this computing time, with the best result so far")
      ->type_name("SECONDS")
      ->check(Positive());
  fit->add_option("--budget-iterations", options->budget_iterations,
                  "stop after this many iterations, with the best result so far")
      ->check(Positive());
  fit->add_option("--inducing-points", options->inducing_points, "for variational and svi: maximum per layer")
      ->check(Positive());
  fit->add_option("--batch-size", options->batch_size, "for svi: maximum number of observations of a fidelity per step")
      ->check(Positive());
  fit->add_option("--steps", options->steps, "for svi: training steps; default 35000")->check(Positive());
  fit->add_option("--option", options->method_options,
                  "an option of the inference; `fidelio server-info` lists them; may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);

  auto fits_options = std::make_shared<FitsCommandOptions>();
  CLI::App* fits = AddCommand(app, context, "fits", "List the fits of a model, or show, watch or cancel one",
                              "  fidelio fits wing\n"
                              "  fidelio fits wing --watch      the newest\n"
                              "  fidelio fits wing 3 --watch\n"
                              "  fidelio fits wing 3 --cancel\n"
                              "\nR-HAT (R̂) and ESS (effective sample size) tell how well the hyperparameters were\n"
                              "sampled: an R̂ above 1.1 is warned about. – where nothing was sampled, or not known.\n",
                              [&context, fits_options] { return Fits(context, *fits_options); });
  fits->add_option("NAME", fits_options->name, "the model")->required();
  fits->add_option("FIT", fits_options->fit, "number of a fit; default of --watch: the newest")
      ->check(ResourceNumber());
  fits->add_flag("--watch", fits_options->watch, "show its progress until it has ended");
  AddWait(fits, fits_options->wait_seconds);
  fits->add_flag("--cancel", fits_options->cancel, "stop it");
}

}  // namespace fidelio::cli
