#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/rpc/emulator_service.h"
#include "server/rpc/enums.h"
#include "server/rpc/matrix.h"
#include "server/rpc/predictor.h"
#include "server/rpc/request.h"

namespace fidelio {

grpc::Status EmulatorService::Predict(Context* context, const v1::PredictRequest* request,
                                      v1::PredictResponse* response) {
  return Unary(methods::kPredict, context, *request, *response, [&](Call& call) -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(auto revision, AcquireRevision(*parts_.models, call, *request, ""));
    FIDELIO_ASSIGN_OR_RETURN(const Predictor predictor, Predictor::Create(std::move(revision), request->options(),
                                                                          "options", parts_.limits, parts_.memory));
    FIDELIO_RETURN_IF_ERROR(predictor.Predict(call, request->inputs(), response->mutable_prediction()));
    response->set_revision(predictor.revision_name());
    response->set_data_version(predictor.data_version());
    return absl::OkStatus();
  });
}

grpc::Status EmulatorService::PredictStream(
    Context* context, grpc::ServerReaderWriter<v1::PredictStreamResponse, v1::PredictStreamRequest>* stream) {
  return Stream(methods::kPredictStream, context, [&](Call& call) -> absl::Status {
    v1::PredictStreamRequest request;
    v1::PredictStreamResponse response;
    const auto read = [&] {
      const CallGate::Waiting waiting(parts_.environment.gate);
      const bool more = stream->Read(&request);
      if (more) call.CountReceived(request);
      return more;
    };
    const auto write = [&] {
      const CallGate::Waiting waiting(parts_.environment.gate);
      call.CountSent(response);
      return stream->Write(response);
    };

    if (!read()) {
      FIDELIO_RETURN_IF_ERROR(call.StreamStopReason());
      return absl::InvalidArgumentError("header: missing; the first message must have one");
    }
    if (!request.has_header()) return absl::InvalidArgumentError("header: missing; the first message must have one");
    if (request.header().options().full_covariance()) {
      return absl::InvalidArgumentError("header.options.full_covariance: true, but PredictStream has no covariance");
    }
    FIDELIO_ASSIGN_OR_RETURN(auto revision, AcquireRevision(*parts_.models, call, request.header(), "header."));
    FIDELIO_ASSIGN_OR_RETURN(const Predictor predictor,
                             Predictor::Create(std::move(revision), request.header().options(), "header.options",
                                               parts_.limits, parts_.memory));
    int64_t chunk = 0;
    bool has_header = request.has_inputs();  // whether the message of this chunk is that of the header
    for (bool more = has_header || read(); more; more = read(), has_header = false) {
      FIDELIO_RETURN_IF_ERROR(call.StreamStopReason());
      if (!has_header && request.has_header()) {
        return absl::InvalidArgumentError(
            absl::StrCat("header: present in the message of chunk ", chunk, ", but only the first may have one"));
      }
      response.Clear();
      FIDELIO_RETURN_IF_ERROR(predictor.Predict(call, request.inputs(), response.mutable_prediction()));
      response.set_chunk(chunk++);
      response.set_revision(predictor.revision_name());
      response.set_data_version(predictor.data_version());
      if (!write()) break;
    }
    return call.StopReason();
  });
}

namespace {

// Functions that are drawn, and inputs at which they are evaluated, at a time: between them, a call whose client has gone is
// left alone.
constexpr int kFunctionsAtATime = 32;
constexpr Eigen::Index kInputsAtATime = 1024;
constexpr int64_t kFunctionBytes = 1 << 19;  // that one function takes while it is evaluated, from above

// The values of options.count functions at the rows of x.
absl::StatusOr<Matrix> EvaluateFunctions(const Call& call, const Emulator& emulator, const Matrix& x,
                                         const SampleOptions& options) {
  Matrix samples(options.count, x.rows());
  PathOptions some{.level = options.level, .seed = options.seed};
  for (some.first = 0; some.first < options.count; some.first += kFunctionsAtATime) {
    some.count = std::min(kFunctionsAtATime, options.count - some.first);
    FIDELIO_RETURN_IF_ERROR(call.StopReason());
    FIDELIO_ASSIGN_OR_RETURN(const auto functions, emulator.DrawPaths(some));
    for (Eigen::Index begin = 0; begin < x.rows(); begin += kInputsAtATime) {
      FIDELIO_RETURN_IF_ERROR(call.StopReason());
      const Eigen::Index size = std::min(kInputsAtATime, x.rows() - begin);
      FIDELIO_ASSIGN_OR_RETURN(samples.block(some.first, begin, some.count, size),
                               functions->Evaluate(x.middleRows(begin, size)));
    }
  }
  return samples;
}

}  // namespace

grpc::Status EmulatorService::SamplePaths(Context* context, const v1::SamplePathsRequest* request,
                                          v1::SamplePathsResponse* response) {
  return Unary(methods::kSamplePaths, context, *request, *response, [&](Call& call) -> absl::Status {
    const ServiceLimits& limits = parts_.limits;
    FIDELIO_ASSIGN_OR_RETURN(const auto revision, AcquireRevision(*parts_.models, call, *request, ""));
    FIDELIO_RETURN_IF_ERROR(CheckEnum(request->kind(), "kind"));
    const bool functions = request->kind() == v1::PATH_KIND_FUNCTION;
    SampleOptions options;
    std::optional<int64_t> level;
    if (request->has_level()) level = request->level();
    FIDELIO_ASSIGN_OR_RETURN(options.level, revision->EmulatorLevel(level, "level"));
    if (request->count() > limits.max_paths) {
      return absl::InvalidArgumentError(
          absl::StrCat("count: ", request->count(), " paths, but at most ", limits.max_paths, " are allowed"));
    }
    options.count = static_cast<int>(std::max(request->count(), 1u));
    options.seed = request->seed();
    options.check = [&call] { return call.StopReason(); };
    FIDELIO_RETURN_IF_ERROR(CheckInputs(request->inputs(), *revision, limits));
    const int64_t n = request->inputs().rows(), s = options.count;
    if (!functions && n > limits.max_covariance_points) {
      return absl::InvalidArgumentError(absl::StrCat("inputs: ", n, " points, but paths are drawn jointly at most at ",
                                                     limits.max_covariance_points,
                                                     "; of kind PATH_KIND_FUNCTION, at any number"));
    }
    FIDELIO_RETURN_IF_ERROR(CheckAnswer(n * s, absl::StrCat(s, " paths at ", n, " inputs"), limits));
    // Inputs and answer, each in core and on the wire; and some functions, or a few n×n matrices.
    const int64_t work =
        functions ? std::min<int64_t>(s, kFunctionsAtATime) * kFunctionBytes : int64_t{sizeof(double)} * 5 * n * n;
    FIDELIO_ASSIGN_OR_RETURN(
        const auto memory,
        parts_.memory->Reserve(int64_t{sizeof(double)} * (2 * n * revision->input_dimension() + 2 * n * s) + work));
    FIDELIO_ASSIGN_OR_RETURN(const Matrix x, DecodeMatrix(request->inputs(), "inputs", limits.max_matrix_elements));
    FIDELIO_RETURN_IF_ERROR(call.StopReason());
    FIDELIO_ASSIGN_OR_RETURN(const Matrix samples, functions ? EvaluateFunctions(call, revision->emulator(), x, options)
                                                             : revision->emulator().SamplePaths(x, options));
    EncodeMatrix(samples, EncodingOf(request->inputs()), response->mutable_samples());
    response->set_revision(RevisionName(revision->model(), revision->revision()));
    response->set_data_version(revision->data_version());
    return absl::OkStatus();
  });
}

}  // namespace fidelio
