// Options and results of Predict and PredictStream, to and from the wire.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CPP_PREDICTION_H_
#define FIDELIO_CLIENT_CPP_PREDICTION_H_

#include "absl/status/statusor.h"
#include "client/cpp/types.h"
#include "fidelio/v1/prediction.pb.h"

namespace fidelio::client {

// Level, noise, quantiles, covariance, gradient.
v1::PredictOptions ToWire(const PredictOptions& options);

// A prediction at n inputs in d dimensions, without revision and data_version. INTERNAL when a server returns other
// shapes than requested.
absl::StatusOr<Prediction> FromWire(const v1::Prediction& wire, const PredictOptions& options, Eigen::Index n,
                                    Eigen::Index d);

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_PREDICTION_H_
