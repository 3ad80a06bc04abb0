// The words of the command line for values of enums: what is typed is what is shown.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_WORDS_H_
#define FIDELIO_CLIENT_CLI_WORDS_H_

#include <string>
#include <utility>
#include <vector>

#include "fidelio/v1/design.pb.h"
#include "fidelio/v1/fit.pb.h"
#include "fidelio/v1/model.pb.h"

namespace fidelio::cli {

template <typename Value>
using Words = std::vector<std::pair<std::string, Value>>;

inline Words<v1::ModelKind> KindWords() {
  return {{"mf-dgp", v1::MODEL_KIND_MF_DGP},
          {"ar1", v1::MODEL_KIND_AR1},
          {"nargp", v1::MODEL_KIND_NARGP},
          {"deep-mf", v1::MODEL_KIND_DEEP_MF},
          {"gp", v1::MODEL_KIND_GP}};
}

inline Words<v1::OutputTransformKind> TransformWords() {
  return {{"identity", v1::OUTPUT_TRANSFORM_KIND_IDENTITY},
          {"log", v1::OUTPUT_TRANSFORM_KIND_LOG},
          {"logit", v1::OUTPUT_TRANSFORM_KIND_LOGIT},
          {"bounded", v1::OUTPUT_TRANSFORM_KIND_BOUNDED}};
}

inline Words<v1::KernelFamily> KernelWords() {
  return {{"rbf", v1::KERNEL_FAMILY_RBF},
          {"matern32", v1::KERNEL_FAMILY_MATERN_3_2},
          {"matern52", v1::KERNEL_FAMILY_MATERN_5_2},
          {"evidence", v1::KERNEL_FAMILY_BY_EVIDENCE}};
}

inline Words<v1::Inference> InferenceWords() {
  return {{"auto", v1::INFERENCE_AUTO},
          {"moments", v1::INFERENCE_MOMENTS},
          {"variational", v1::INFERENCE_VARIATIONAL},
          {"svi", v1::INFERENCE_SVI}};
}

inline Words<v1::PathKind> PathKindWords() {
  return {{"joint", v1::PATH_KIND_JOINT}, {"function", v1::PATH_KIND_FUNCTION}};
}

inline Words<v1::DesignMethod> MethodWords() {
  return {{"exact", v1::DESIGN_METHOD_EXACT}, {"map", v1::DESIGN_METHOD_MAP}};
}

inline Words<v1::QualityMode> QualityWords() {
  return {{"mean", v1::QUALITY_MODE_MEAN}, {"none", v1::QUALITY_MODE_NONE}, {"given", v1::QUALITY_MODE_GIVEN}};
}

inline Words<v1::SuggestCriterion> CriterionWords() {
  return {{"variance-reduction", v1::SUGGEST_CRITERION_VARIANCE_REDUCTION},
          {"max-variance", v1::SUGGEST_CRITERION_MAX_VARIANCE},
          {"expected-improvement", v1::SUGGEST_CRITERION_EXPECTED_IMPROVEMENT},
          {"confidence-bound", v1::SUGGEST_CRITERION_CONFIDENCE_BOUND}};
}

// The word for a value; "value 9" for one that a newer server sent.
template <typename Value>
std::string WordFor(const Words<Value>& words, int value) {
  for (const auto& [word, known] : words) {
    if (static_cast<int>(known) == value) return word;
  }
  return value == 0 ? "–" : "value " + std::to_string(value);
}

// "rbf, matern32"
template <typename Value, typename Values>
std::string WordsFor(const Words<Value>& words, const Values& values) {
  std::string text;
  for (const int value : values) text += (text.empty() ? "" : ", ") + WordFor(words, value);
  return text;
}

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_WORDS_H_
