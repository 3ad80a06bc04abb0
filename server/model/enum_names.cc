#include "server/model/enum_names.h"

namespace fidelio {

const char* NameOf(ModelKind kind) {
  switch (kind) {
    case ModelKind::kMfDgp:
      return "MF_DGP";
    case ModelKind::kAr1:
      return "AR1";
    case ModelKind::kNargp:
      return "NARGP";
    case ModelKind::kDeepMf:
      return "DEEP_MF";
    case ModelKind::kGp:
      return "GP";
    case ModelKind::kAr1Recursive:
      return "AR1_RECURSIVE";
  }
  return "unknown";
}

const char* NameOf(Inference inference) {
  switch (inference) {
    case Inference::kAuto:
      return "AUTO";
    case Inference::kMoments:
      return "MOMENTS";
    case Inference::kVariational:
      return "VARIATIONAL";
    case Inference::kSvi:
      return "SVI";
    case Inference::kNeighbours:
      return "NEIGHBOURS";
    case Inference::kPointEstimate:
      return "POINT_ESTIMATE";
  }
  return "unknown";
}

const char* NameOf(OutputTransformKind kind) {
  switch (kind) {
    case OutputTransformKind::kIdentity:
      return "IDENTITY";
    case OutputTransformKind::kLog:
      return "LOG";
    case OutputTransformKind::kLogit:
      return "LOGIT";
    case OutputTransformKind::kBounded:
      return "BOUNDED";
  }
  return "unknown";
}

const char* NameOf(ObservationUpdate update) { return update == ObservationUpdate::kNone ? "NONE" : "CONDITION"; }

}  // namespace fidelio
