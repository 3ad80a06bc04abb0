#include "server/model/codec_fields.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/cord.h"

namespace fidelio::codec {

void Put(absl::Time value, ByteWriter& out) { out.I64(absl::ToUnixNanos(value)); }
absl::Time GetTime(ByteReader& in) { return absl::FromUnixNanos(in.I64()); }
void Put(absl::Duration value, ByteWriter& out) { out.I64(absl::ToInt64Nanoseconds(value)); }
absl::Duration GetDuration(ByteReader& in) { return absl::Nanoseconds(in.I64()); }

void Put(const std::vector<int64_t>& values, ByteWriter& out) {
  out.U64(values.size());
  for (const int64_t v : values) out.I64(v);
}

std::vector<int64_t> GetIntegers(ByteReader& in) {
  std::vector<int64_t> values;
  const uint64_t count = in.U64();
  for (uint64_t i = 0; i < count && in.ok(); ++i) values.push_back(in.I64());
  return values;
}

namespace {

void PutVariable(const VariableSpec& variable, ByteWriter& out) {
  out.String(variable.name);
  out.String(variable.unit);
  out.String(variable.description);
}

VariableSpec GetVariable(ByteReader& in) {
  VariableSpec variable;
  variable.name = in.ReadString();
  variable.unit = in.ReadString();
  variable.description = in.ReadString();
  return variable;
}

}  // namespace

void Put(const ModelSpec& spec, ByteWriter& out) {
  out.String(spec.description);
  out.I64(spec.input_dimension);
  PutOptional(spec.input_box, out, [&](const InputBox& box) {
    out.Write(box.lower);
    out.Write(box.upper);
  });
  out.U64(spec.fidelities.size());
  for (const FidelitySpec& f : spec.fidelities) {
    out.String(f.name);
    out.F64(f.cost);
  }
  PutEnum(spec.output_transform.kind, out);
  out.F64(spec.output_transform.lower);
  out.F64(spec.output_transform.upper);
  PutEnum(spec.kind, out);
  out.U64(spec.inputs.size());
  for (const VariableSpec& input : spec.inputs) PutVariable(input, out);
  PutOptional(spec.output, out, [&](const VariableSpec& output) { PutVariable(output, out); });
  out.I64(spec.keep_revisions);
}

ModelSpec GetSpec(ByteReader& in, uint32_t version) {
  ModelSpec spec;
  spec.description = in.ReadString();
  spec.input_dimension = in.I64();
  spec.input_box = GetOptional(in, [&] {
    InputBox box;
    box.lower = in.ReadVector();
    box.upper = in.ReadVector();
    return box;
  });
  const uint64_t fidelities = in.U64();
  for (uint64_t t = 0; t < fidelities && in.ok(); ++t) {
    FidelitySpec f;
    f.name = in.ReadString();
    f.cost = in.F64();
    spec.fidelities.push_back(std::move(f));
  }
  spec.output_transform.kind = GetEnum<OutputTransformKind>(in);
  spec.output_transform.lower = in.F64();
  spec.output_transform.upper = in.F64();
  spec.kind = GetEnum<ModelKind>(in);
  // Quarantined models are returned without a spec, so its sizes are checked where they are relied on.
  if (version < 3) return spec;
  const uint64_t inputs = in.U64();
  for (uint64_t i = 0; i < inputs && in.ok(); ++i) spec.inputs.push_back(GetVariable(in));
  spec.output = GetOptional(in, [&] { return GetVariable(in); });
  spec.keep_revisions = in.I64();
  return spec;
}

void Put(const FitSpec& spec, ByteWriter& out) {
  PutEnum(spec.inference, out);
  PutOptional(spec.kernel_family, out, [&](KernelFamily k) { PutEnum(k, out); });
  out.Bool(spec.warm_start);
  PutOptional(spec.budget_seconds, out, [&](double v) { out.F64(v); });
  PutOptional(spec.budget_iterations, out, [&](int64_t v) { out.I64(v); });
  out.U64(spec.seed);
  out.U64(spec.method_options.size());
  for (const auto& [name, value] : spec.method_options) {
    out.String(name);
    out.F64(value);
  }
}

FitSpec GetFitSpec(ByteReader& in, uint32_t version) {
  FitSpec spec;
  spec.inference = GetEnum<Inference>(in);
  spec.kernel_family = GetOptional(in, [&] { return GetEnum<KernelFamily>(in); });
  spec.warm_start = in.Bool();
  spec.budget_seconds = GetOptional(in, [&] { return in.F64(); });
  spec.budget_iterations = GetOptional(in, [&] { return in.I64(); });
  spec.seed = in.U64();
  if (version < 2) return spec;
  if (version < 5) {
    for (const char* name : {"inducing_points", "batch_size", "steps"}) {
      if (in.Bool()) spec.method_options[name] = static_cast<double>(in.I64());
    }
    return spec;
  }
  const uint64_t options = in.U64();
  for (uint64_t i = 0; i < options && in.ok(); ++i) {
    std::string name = in.ReadString();
    spec.method_options[std::move(name)] = in.F64();
  }
  return spec;
}

void Put(const JobProgress& progress, ByteWriter& out) {
  out.String(progress.phase);
  out.I64(progress.iteration);
  out.I64(progress.evaluations);
  out.F64(progress.fraction);
  PutOptional(progress.elbo, out, [&](double v) { out.F64(v); });
  Put(progress.elapsed, out);
  PutOptional(progress.eta, out, [&](absl::Duration v) { Put(v, out); });
}

JobProgress GetProgress(ByteReader& in) {
  JobProgress progress;
  progress.phase = in.ReadString();
  progress.iteration = in.I64();
  progress.evaluations = in.I64();
  progress.fraction = in.F64();
  progress.elbo = GetOptional(in, [&] { return in.F64(); });
  progress.elapsed = GetDuration(in);
  progress.eta = GetOptional(in, [&] { return GetDuration(in); });
  return progress;
}

void Put(const FitReport& report, ByteWriter& out) {
  out.I64(report.evaluations);
  out.F64(report.seconds);
  out.F64(report.log_posterior);
  out.F64(report.acceptance);
  out.F64(report.max_jitter);
  out.I64(report.draws);
  out.I64(report.chains);
  out.F64(report.r_hat);
  out.F64(report.effective_size);
  out.I64(report.moved_chains);
  out.I64(report.failed_curvature);
}

FitReport GetReport(ByteReader& in, bool& good) {
  const auto count = [&] {
    const int64_t value = in.I64();
    if (value < 0 || value > std::numeric_limits<int>::max()) good = false;
    return static_cast<int>(value);
  };
  FitReport report;
  report.evaluations = in.I64();
  report.seconds = in.F64();
  report.log_posterior = in.F64();
  report.acceptance = in.F64();
  report.max_jitter = in.F64();
  report.draws = count();
  report.chains = count();
  report.r_hat = in.F64();
  report.effective_size = in.F64();
  report.moved_chains = count();
  report.failed_curvature = count();
  return report;
}

void Put(const absl::Status& status, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(status.raw_code()));
  out.String(status.message());
  std::vector<std::pair<std::string, std::string>> payloads;
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    payloads.emplace_back(std::string(url), std::string(payload));
  });
  out.U64(payloads.size());
  for (const auto& [url, payload] : payloads) {
    out.String(url);
    out.String(payload);
  }
}

absl::Status GetStatus(ByteReader& in) {
  const auto code = static_cast<absl::StatusCode>(in.U32());
  absl::Status status(code, in.ReadString());
  const uint64_t payloads = in.U64();
  for (uint64_t i = 0; i < payloads && in.ok(); ++i) {
    const std::string url = in.ReadString();
    status.SetPayload(url, absl::Cord(in.ReadString()));
  }
  return status;
}

}  // namespace fidelio::codec
