// Client::SamplePaths: functions in pieces that fit into a message, all from one revision; joint samples in one call.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "client/cpp/names.h"

namespace fidelio::client {
namespace {

// Numbers of the question or its answer in one call: 8 MiB.
constexpr Eigen::Index kPathElementsPerCall = 1 << 20;

}  // namespace

absl::StatusOr<PathSamples> Client::SamplePaths(absl::string_view model,
                                                const Eigen::Ref<const Eigen::MatrixXd>& inputs,
                                                const SampleOptions& options, const CallOptions& call) {
  const absl::Time deadline = caller_.Deadline(call);
  const Eigen::Index n = inputs.rows(), count = std::max(options.count, 1);
  const bool pieces = options.kind == v1::PATH_KIND_FUNCTION;
  const Eigen::Index at_a_time =
      pieces ? std::max<Eigen::Index>(1, kPathElementsPerCall / std::max(inputs.cols(), count)) : n;
  v1::SamplePathsRequest request;
  request.set_model(ModelName(model));
  request.set_count(static_cast<uint32_t>(options.count));
  request.set_kind(options.kind);
  if (options.level.has_value()) request.set_level(static_cast<uint32_t>(*options.level));
  request.set_seed(options.seed);
  if (!options.revision.empty()) request.set_revision(RevisionName(model, options.revision));
  request.set_min_data_version(options.min_data_version);

  PathSamples samples;
  samples.values.resize(count, n);
  Eigen::Index row = 0;
  do {  // at least once: it is the server that refuses an empty matrix
    const Eigen::Index rows = std::min(at_a_time, n - row);
    *request.mutable_inputs() = ToWire(inputs.middleRows(row, rows));
    const auto response = caller_.Call(&Caller::Stub::SamplePaths, request, deadline);
    if (!response.ok()) return response.status();
    const auto part = FromWire(response->samples(), "samples");
    if (!part.ok()) return part.status();
    if (part->rows() != count || part->cols() != rows) {
      return absl::InternalError(absl::StrCat("the server returned samples of ", part->rows(), " × ", part->cols(),
                                              ", but ", count, " × ", rows, " were requested"));
    }
    samples.values.middleCols(row, rows) = *part;
    samples.revision = response->revision();
    samples.data_version = response->data_version();
    request.set_revision(response->revision());
    row += rows;
  } while (row < n);
  return samples;
}

}  // namespace fidelio::client
