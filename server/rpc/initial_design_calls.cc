// InitialDesign.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/rpc/emulator_service.h"
#include "server/rpc/enums.h"
#include "server/rpc/matrix.h"
#include "server/rpc/request.h"

namespace fidelio {
namespace {

constexpr int64_t kInitialNumber = sizeof(double);

absl::StatusOr<InitialDesignQuery> ToInitialQuery(const v1::InitialDesignRequest& request,
                                                  const ServiceLimits& limits) {
  InitialDesignQuery query;
  query.options.method = request.method() == v1::INITIAL_DESIGN_METHOD_LATIN_HYPERCUBE ? InitialMethod::kLatinHypercube
                                                                                       : InitialMethod::kSobol;
  query.options.nested = request.nested();
  query.options.seed = request.seed();
  for (const v1::FidelityCount& count : request.counts()) query.counts.push_back({count.level(), count.count()});
  for (int i = 0; i < request.pending_size(); ++i) {
    FIDELIO_ASSIGN_OR_RETURN(
        Matrix inputs,
        DecodeMatrix(request.pending(i).inputs(), absl::StrCat("pending[", i, "].inputs"), limits.max_matrix_elements));
    query.pending.push_back({request.pending(i).level(), std::move(inputs)});
  }
  return query;
}

// OK when the inputs of the response fit into one message.
absl::Status CheckInitialSize(const v1::InitialDesignRequest& request, int64_t dimension, const ServiceLimits& limits) {
  const auto most = static_cast<int64_t>(0.9 * static_cast<double>(limits.max_matrix_elements));
  int64_t elements = 0;
  for (int i = 0; i < request.counts_size(); ++i) {
    elements += request.counts(i).count() * dimension;
    if (elements <= most) continue;
    return absl::InvalidArgumentError(absl::StrCat("counts[", i, "].count: ", request.counts(i).count(),
                                                   ", with which the design has ", elements, " numbers, but at most ",
                                                   most, " fit into a response"));
  }
  return absl::OkStatus();
}

}  // namespace

grpc::Status EmulatorService::InitialDesign(Context* context, const v1::InitialDesignRequest* request,
                                            v1::InitialDesignResponse* response) {
  return Unary(methods::kInitialDesign, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(const std::string model, AdmitModelName(call, request->model(), "model"));
    FIDELIO_ASSIGN_OR_RETURN(const ModelInfo info, parts_.models->GetModel(model));
    FIDELIO_RETURN_IF_ERROR(CheckEnum(request->method(), "method"));
    FIDELIO_RETURN_IF_ERROR(CheckEnum(request->encoding(), "encoding"));
    FIDELIO_RETURN_IF_ERROR(CheckInitialSize(*request, info.spec.input_dimension, parts_.limits));
    // Observed, pending and new inputs: several copies of each.
    int64_t points = 0;
    for (const int64_t count : info.observation_counts) points += count;
    for (const v1::FidelityCount& count : request->counts())
      points += std::min<int64_t>(count.count(), kMostInitialRuns);
    for (const v1::FidelityInputs& pending : request->pending()) points += pending.inputs().rows();
    FIDELIO_ASSIGN_OR_RETURN(const auto memory,
                             parts_.memory->Reserve(kInitialNumber * points * (8 * info.spec.input_dimension + 8)));
    FIDELIO_ASSIGN_OR_RETURN(const InitialDesignQuery query, ToInitialQuery(*request, parts_.limits));
    const auto check = [&call] { return call.StopReason(); };
    FIDELIO_RETURN_IF_ERROR(check());
    FIDELIO_ASSIGN_OR_RETURN(const InitialRuns runs, parts_.models->InitialDesign(model, query, check));
    for (const InitialRuns::Level& level : runs.levels) {
      v1::FidelityInputs* design = response->add_designs();
      design->set_level(static_cast<uint32_t>(level.level));
      design->set_fidelity(level.fidelity);
      EncodeMatrix(level.inputs, request->encoding(), design->mutable_inputs());
    }
    response->set_total_cost(runs.total_cost);
    response->set_data_version(runs.data_version);
    return absl::OkStatus();
  });
}

}  // namespace fidelio
