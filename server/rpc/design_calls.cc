// SampleDPP, Suggest and Diagnose.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/rpc/emulator_service.h"
#include "server/rpc/enums.h"
#include "server/rpc/matrix.h"
#include "server/rpc/predictor.h"
#include "server/rpc/request.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

constexpr int64_t kNumber = sizeof(double);
constexpr uint32_t kDppCandidates = 1024, kSuggestCandidates = 256, kTargets = 256;  // as the contract says

// Number of inputs or runs of the answer.
absl::StatusOr<int> ToSize(uint32_t size, absl::string_view field, const ServiceLimits& limits) {
  if (size > limits.max_design_size) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": ", size, ", but at most ", limits.max_design_size, " are allowed"));
  }
  return static_cast<int>(std::max(size, 1u));
}

// How many candidates a request is about; the shape of those that it has is right.
template <typename Request>
absl::StatusOr<int64_t> CountCandidates(const Request& request, uint32_t standard, const LoadedRevision& revision) {
  if (!request.has_candidates()) {
    return request.candidate_count() > 0 ? request.candidate_count() : standard;
  }
  const v1::Matrix& candidates = request.candidates();
  if (candidates.rows() > 0 && candidates.cols() != static_cast<uint32_t>(revision.input_dimension())) {
    return absl::InvalidArgumentError(absl::StrCat("candidates: ", candidates.cols(), " columns, but model ",
                                                   Quoted(revision.model()), " has input dimension ",
                                                   revision.input_dimension()));
  }
  return candidates.rows();
}

template <typename Request>
absl::StatusOr<CandidateSource> ToSource(const Request& request, int64_t count, const ServiceLimits& limits) {
  CandidateSource source{.count = static_cast<int>(count)};
  if (request.has_candidates()) {
    FIDELIO_ASSIGN_OR_RETURN(source.given,
                             DecodeMatrix(request.candidates(), "candidates", limits.max_matrix_elements));
  }
  return source;
}

absl::string_view SourceField(bool given) { return given ? "candidates" : "candidate_count"; }

absl::Status CheckDppOptions(const v1::SampleDPPRequest& request) {
  FIDELIO_RETURN_IF_ERROR(CheckEnum(request.method(), "method"));
  FIDELIO_RETURN_IF_ERROR(CheckEnum(request.quality_mode(), "quality_mode"));
  FIDELIO_RETURN_IF_ERROR(CheckEnum(request.encoding(), "encoding"));
  if (request.quality_mode() != v1::QUALITY_MODE_GIVEN) {
    if (!request.has_quality()) return absl::OkStatus();
    return absl::InvalidArgumentError("quality: present, but quality_mode is not GIVEN");
  }
  if (!request.has_quality()) return absl::InvalidArgumentError("quality: missing, but quality_mode is GIVEN");
  if (!request.has_candidates()) {
    return absl::InvalidArgumentError(
        "candidates: missing, but quality_mode is GIVEN, which is about candidates of yours");
  }
  if (request.quality().rows() == request.candidates().rows()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("quality: ", request.quality().rows(), " rows, but there are ",
                                                 request.candidates().rows(), " candidates"));
}

QualityMode ToQualityMode(v1::QualityMode mode) {
  switch (mode) {
    case v1::QUALITY_MODE_MEAN:
      return QualityMode::kMean;
    case v1::QUALITY_MODE_GIVEN:
      return QualityMode::kGiven;
    default:
      return QualityMode::kNone;
  }
}

absl::StatusOr<DppQuery> ToDppQuery(const v1::SampleDPPRequest& request, int64_t candidates,
                                    const ServiceLimits& limits) {
  DppQuery query;
  FIDELIO_ASSIGN_OR_RETURN(query.source, ToSource(request, candidates, limits));
  if (request.has_level()) query.level = request.level();
  query.exclude_observed = request.exclude_observed();
  FIDELIO_ASSIGN_OR_RETURN(query.options.k, ToSize(request.k(), "k", limits));
  query.options.method = request.method() == v1::DESIGN_METHOD_MAP ? DppMethod::kMap : DppMethod::kExact;
  query.options.quality_mode = ToQualityMode(request.quality_mode());
  if (request.has_quality()) {
    FIDELIO_ASSIGN_OR_RETURN(query.options.quality,
                             DecodeColumn(request.quality(), "quality", limits.max_matrix_elements));
  }
  query.options.seed = request.seed();
  return query;
}

void ToMessage(const Design& design, v1::MatrixEncoding encoding, v1::SampleDPPResponse* message) {
  EncodeMatrix(design.inputs, encoding, message->mutable_inputs());
  message->mutable_indices()->Add(design.indices.begin(), design.indices.end());
  message->set_log_determinant(design.log_determinant);
  EncodeMatrix(design.quality, encoding, message->mutable_quality());
  message->set_variance_before(design.reduction.before);
  message->set_variance_after(design.reduction.after);
}

// How many points of the emulator a Suggest needs jointly: candidates at each level that may be run and at the highest.
absl::StatusOr<int64_t> JointBlocks(const v1::SuggestRequest& request, const LoadedRevision& revision) {
  const int top = revision.emulator().levels() - 1;
  if (request.levels_size() == 0) return top + 1;
  std::vector<int> levels = {top};
  for (int i = 0; i < request.levels_size(); ++i) {
    FIDELIO_ASSIGN_OR_RETURN(const int level,
                             revision.EmulatorLevel(request.levels(i), absl::StrCat("levels[", i, "]")));
    if (std::find(levels.begin(), levels.end(), level) == levels.end()) levels.push_back(level);
  }
  return static_cast<int64_t>(levels.size());
}

absl::Status CheckSuggestOptions(const v1::SuggestRequest& request) {
  FIDELIO_RETURN_IF_ERROR(CheckEnum(request.criterion(), "criterion"));
  FIDELIO_RETURN_IF_ERROR(CheckEnum(request.direction(), "direction"));
  const bool bound = request.criterion() == v1::SUGGEST_CRITERION_CONFIDENCE_BOUND;
  const bool directed = bound || request.criterion() == v1::SUGGEST_CRITERION_EXPECTED_IMPROVEMENT;
  if (!directed && request.direction() != v1::SUGGEST_DIRECTION_UNSPECIFIED) {
    return absl::InvalidArgumentError(
        absl::StrCat("direction: ", v1::SuggestDirection_Name(request.direction()),
                     ", but only the criteria EXPECTED_IMPROVEMENT and CONFIDENCE_BOUND have one"));
  }
  if (!bound && request.has_width()) {
    return absl::InvalidArgumentError(
        absl::StrCat("width: ", request.width(), ", but only the criterion CONFIDENCE_BOUND has one"));
  }
  return absl::OkStatus();
}

Criterion ToCriterion(v1::SuggestCriterion criterion) {
  switch (criterion) {
    case v1::SUGGEST_CRITERION_MAX_VARIANCE:
      return Criterion::kMaximumVariance;
    case v1::SUGGEST_CRITERION_EXPECTED_IMPROVEMENT:
      return Criterion::kExpectedImprovement;
    case v1::SUGGEST_CRITERION_CONFIDENCE_BOUND:
      return Criterion::kConfidenceBound;
    default:
      return Criterion::kVarianceReduction;
  }
}

absl::StatusOr<SuggestQuery> ToSuggestQuery(const v1::SuggestRequest& request, int64_t candidates, int64_t targets,
                                            const ServiceLimits& limits) {
  SuggestQuery query;
  FIDELIO_ASSIGN_OR_RETURN(query.source, ToSource(request, candidates, limits));
  query.target_count = static_cast<int>(targets);
  query.seed = request.seed();
  query.levels.assign(request.levels().begin(), request.levels().end());
  query.options.criterion = ToCriterion(request.criterion());
  FIDELIO_ASSIGN_OR_RETURN(query.options.count, ToSize(request.count(), "count", limits));
  if (request.has_budget()) query.options.budget = request.budget();
  query.options.maximise = request.direction() == v1::SUGGEST_DIRECTION_MAXIMISE;
  if (request.has_width()) query.options.width = request.width();
  return query;
}

void ToMessage(const SuggestedRuns& answer, v1::SuggestResponse* message) {
  for (const SuggestedRun& run : answer.runs) {
    v1::Suggestion* suggestion = message->add_suggestions();
    suggestion->mutable_input()->Add(run.input.begin(), run.input.end());
    suggestion->set_level(static_cast<uint32_t>(run.level));
    suggestion->set_fidelity(run.fidelity);
    suggestion->set_cost(run.cost);
    suggestion->set_value(run.value);
    suggestion->set_candidate(static_cast<uint32_t>(run.candidate));
  }
  message->set_variance_before(answer.variance_before);
  message->set_variance_after(answer.variance_after);
  message->set_total_cost(answer.total_cost);
  message->set_shortfall_reason(answer.shortfall_reason);
}

void ToMessage(const FidelityDiagnosis& diagnosis, v1::MatrixEncoding encoding, v1::FidelityDiagnostics* message) {
  const LevelDiagnostics& d = diagnosis.diagnostics;
  message->set_level(static_cast<uint32_t>(diagnosis.level));
  message->set_fidelity(diagnosis.fidelity);
  message->set_count(d.count);
  message->set_distinct_count(d.distinct_count);
  if (d.count > 0) {
    EncodeMatrix(d.residuals, encoding, message->mutable_residuals());
    EncodeMatrix(d.mean, encoding, message->mutable_mean());
    EncodeMatrix(d.variance, encoding, message->mutable_variance());
    EncodeMatrix(d.cdf, encoding, message->mutable_cdf());
    EncodeMatrix(d.median, encoding, message->mutable_median());
  }
  message->set_r2(d.r2);
  message->set_rmse(d.rmse);
  message->set_median_rmse(d.median_rmse);
  message->set_coverage50(d.coverage50);
  message->set_coverage90(d.coverage90);
  message->set_coverage95(d.coverage95);
  message->set_mean_log_density(d.mean_log_density);
  message->set_inflation(d.inflation);
}

v1::VerdictKind ToVerdictKind(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kTooFew:
      return v1::VERDICT_KIND_TOO_FEW;
    case VerdictKind::kOverconfident:
      return v1::VERDICT_KIND_OVERCONFIDENT;
    case VerdictKind::kUninformative:
      return v1::VERDICT_KIND_UNINFORMATIVE;
    case VerdictKind::kCautious:
      return v1::VERDICT_KIND_CAUTIOUS;
    case VerdictKind::kCalibrated:
      return v1::VERDICT_KIND_CALIBRATED;
  }
  return v1::VERDICT_KIND_UNSPECIFIED;
}

void ToMessage(const Verdict& verdict, v1::Verdict* message) {
  message->set_kind(ToVerdictKind(verdict.kind));
  message->set_text(verdict.text);
  for (const std::string& warning : verdict.warnings) message->add_warnings(warning);
  message->set_distinct_count(verdict.distinct_count);
  message->set_more_needed(verdict.more_needed);
}

template <typename Response>
void SetRevision(const LoadedRevision& revision, Response* response) {
  response->set_revision(RevisionName(revision.model(), revision.revision()));
  response->set_data_version(revision.data_version());
}

}  // namespace

grpc::Status EmulatorService::SampleDPP(Context* context, const v1::SampleDPPRequest* request,
                                        v1::SampleDPPResponse* response) {
  return Unary(methods::kSampleDpp, context, *request, *response, [&](Call& call) -> absl::Status {
    const ServiceLimits& limits = parts_.limits;
    FIDELIO_ASSIGN_OR_RETURN(const auto revision, AcquireRevision(*parts_.models, call, *request, ""));
    FIDELIO_RETURN_IF_ERROR(CheckDppOptions(*request));
    FIDELIO_ASSIGN_OR_RETURN(const int64_t n, CountCandidates(*request, kDppCandidates, *revision));
    if (n > limits.max_design_points) {
      return absl::InvalidArgumentError(absl::StrCat(SourceField(request->has_candidates()), ": ", n,
                                                     " candidates, but at most ", limits.max_design_points,
                                                     " are allowed"));
    }
    // Candidates on the wire, decoded and chosen from; their covariances, the kernel and its factors.
    FIDELIO_ASSIGN_OR_RETURN(const auto memory,
                             parts_.memory->Reserve(kNumber * n * (4 * revision->input_dimension() + 8 * n)));
    FIDELIO_ASSIGN_OR_RETURN(const DppQuery query, ToDppQuery(*request, n, limits));
    const auto check = [&call] { return call.StopReason(); };
    FIDELIO_RETURN_IF_ERROR(check());
    FIDELIO_ASSIGN_OR_RETURN(const Design design, parts_.models->SampleDpp(*revision, query, check));
    const bool follow = request->encoding() == v1::MATRIX_ENCODING_UNSPECIFIED && request->has_candidates();
    ToMessage(design, follow ? EncodingOf(request->candidates()) : request->encoding(), response);
    SetRevision(*revision, response);
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::Suggest(Context* context, const v1::SuggestRequest* request,
                                      v1::SuggestResponse* response) {
  return Unary(methods::kSuggest, context, *request, *response, [&](Call& call) -> absl::Status {
    const ServiceLimits& limits = parts_.limits;
    FIDELIO_ASSIGN_OR_RETURN(const auto revision, AcquireRevision(*parts_.models, call, *request, ""));
    FIDELIO_RETURN_IF_ERROR(CheckSuggestOptions(*request));
    FIDELIO_ASSIGN_OR_RETURN(const int64_t blocks, JointBlocks(*request, *revision));
    FIDELIO_ASSIGN_OR_RETURN(const int64_t n, CountCandidates(*request, kSuggestCandidates, *revision));
    const int64_t m = request->target_count() > 0 ? request->target_count() : kTargets;
    const int64_t points = blocks * n + m, d = revision->input_dimension();
    if (points > limits.max_design_points) {
      return absl::InvalidArgumentError(absl::StrCat(
          SourceField(request->has_candidates()), ": ", n, " candidates at ", blocks, " levels and ", m,
          " target points are ", points, " points, but at most ", limits.max_design_points, " are allowed"));
    }
    // Candidates on the wire and decoded, all points, and several matrices of their covariances.
    FIDELIO_ASSIGN_OR_RETURN(const auto memory,
                             parts_.memory->Reserve(kNumber * (2 * n * d + 2 * points * d + 6 * points * points)));
    FIDELIO_ASSIGN_OR_RETURN(const SuggestQuery query, ToSuggestQuery(*request, n, m, limits));
    const auto check = [&call] { return call.StopReason(); };
    FIDELIO_RETURN_IF_ERROR(check());
    FIDELIO_ASSIGN_OR_RETURN(const SuggestedRuns answer, parts_.models->Suggest(*revision, query, check));
    ToMessage(answer, response);
    SetRevision(*revision, response);
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::Diagnose(Context* context, const v1::DiagnoseRequest* request,
                                       v1::DiagnoseResponse* response) {
  return Unary(methods::kDiagnose, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const auto revision, AcquireRevision(*parts_.models, call, *request, ""));
    FIDELIO_RETURN_IF_ERROR(CheckEnum(request->encoding(), "encoding"));
    // About what the model itself holds: factors of the covariances of its observations.
    FIDELIO_ASSIGN_OR_RETURN(const auto memory, parts_.memory->Reserve(revision->bytes()));
    const auto check = [&call] { return call.StopReason(); };
    FIDELIO_RETURN_IF_ERROR(check());
    FIDELIO_ASSIGN_OR_RETURN(const auto answer, parts_.models->Diagnose(*revision, check));
    for (const FidelityDiagnosis& fidelity : answer.fidelities) {
      ToMessage(fidelity, request->encoding(), response->add_fidelities());
    }
    ToMessage(answer.verdict, response->mutable_verdict());
    response->set_withdrawn_count(answer.withdrawn);
    SetRevision(*revision, response);
    return absl::OkStatus();
  });
}

}  // namespace fidelio
