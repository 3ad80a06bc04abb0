// The names of enumerations in messages: those of fidelio.v1 without their prefix, or "unknown".
#ifndef FIDELIO_SERVER_MODEL_ENUM_NAMES_H_
#define FIDELIO_SERVER_MODEL_ENUM_NAMES_H_

#include <string>

#include "server/model/model_types.h"

namespace fidelio {

std::string NameOf(ModelKind kind);
std::string NameOf(Inference inference);
const char* NameOf(OutputTransformKind kind);
const char* NameOf(ObservationUpdate update);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_ENUM_NAMES_H_
