// The words of the command line for values of enums: what is typed is what is shown.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_WORDS_H_
#define FIDELIO_CLIENT_CLI_WORDS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/cli/text.h"
#include "fidelio/v1/design.pb.h"
#include "fidelio/v1/fit.pb.h"
#include "fidelio/v1/model.pb.h"
#include "fidelio/v1/prediction.pb.h"
#include "fidelio/v1/server_info.pb.h"
#include "google/protobuf/descriptor.h"

namespace fidelio::cli {

template <typename Value>
using Words = std::vector<std::pair<std::string, Value>>;

// All values of an enum by their names in the contract, so that what the contract gains can be typed:
// MODEL_KIND_DEEP_MF is "deep-mf".
template <typename Value>
Words<Value> WordsOf(const google::protobuf::EnumDescriptor* values, absl::string_view prefix) {
  Words<Value> words;
  for (int i = 0; i < values->value_count(); ++i) {
    const google::protobuf::EnumValueDescriptor* value = values->value(i);
    if (value->number() != 0) words.emplace_back(EnumText(value->name(), prefix), static_cast<Value>(value->number()));
  }
  return words;
}

inline Words<v1::ModelKind> KindWords() { return WordsOf<v1::ModelKind>(v1::ModelKind_descriptor(), "MODEL_KIND_"); }

inline Words<v1::OutputTransformKind> TransformWords() {
  return WordsOf<v1::OutputTransformKind>(v1::OutputTransformKind_descriptor(), "OUTPUT_TRANSFORM_KIND_");
}

inline Words<v1::Inference> InferenceWords() {
  return WordsOf<v1::Inference>(v1::Inference_descriptor(), "INFERENCE_");
}

// Shorter than in the contract.
inline Words<v1::KernelFamily> KernelWords() {
  return {{"rbf", v1::KERNEL_FAMILY_RBF},
          {"matern12", v1::KERNEL_FAMILY_MATERN_1_2},
          {"matern32", v1::KERNEL_FAMILY_MATERN_3_2},
          {"matern52", v1::KERNEL_FAMILY_MATERN_5_2},
          {"evidence", v1::KERNEL_FAMILY_BY_EVIDENCE}};
}

inline Words<v1::PathKind> PathKindWords() { return WordsOf<v1::PathKind>(v1::PathKind_descriptor(), "PATH_KIND_"); }

inline Words<v1::DesignMethod> MethodWords() {
  return WordsOf<v1::DesignMethod>(v1::DesignMethod_descriptor(), "DESIGN_METHOD_");
}

inline Words<v1::QualityMode> QualityWords() {
  return WordsOf<v1::QualityMode>(v1::QualityMode_descriptor(), "QUALITY_MODE_");
}

inline Words<v1::SuggestCriterion> CriterionWords() {
  return WordsOf<v1::SuggestCriterion>(v1::SuggestCriterion_descriptor(), "SUGGEST_CRITERION_");
}

// The value of a word, or 0 (UNSPECIFIED) for a word that is none.
template <typename Value>
Value ValueFor(const Words<Value>& words, const std::string& text) {
  for (const auto& [word, value] : words) {
    if (word == text) return value;
  }
  return static_cast<Value>(0);
}

// The word for a value; "value 9" for one that a newer server sent.
template <typename Value>
std::string WordFor(const Words<Value>& words, int value) {
  for (const auto& [word, known] : words) {
    if (static_cast<int>(known) == value) return word;
  }
  return value == 0 ? "–" : "value " + std::to_string(value);
}

// The words for what a server lists, in its order: by the names that it gives them, as far as it does.
template <typename Value, typename Values>
Words<Value> ListedWords(const Words<Value>& named, const Words<Value>& words, const Values& values) {
  Words<Value> listed;
  for (const int value : values) {
    const std::string word = WordFor(words, value);
    listed.emplace_back(static_cast<int>(ValueFor(words, word)) != 0 ? word : WordFor(named, value), Value(value));
  }
  return listed;
}

// The kinds and inferences that a server has, also those that this program does not know.
inline Words<v1::ModelKind> KindWords(const v1::ServerInfo& info) {
  Words<v1::ModelKind> named;
  for (const v1::MethodInfo& method : info.methods())
    named.emplace_back(EnumText(method.kind_name(), ""), method.kind());
  return ListedWords(named, KindWords(), info.model_kinds());
}

inline Words<v1::Inference> InferenceWords(const v1::ServerInfo& info) {
  Words<v1::Inference> named;
  for (const v1::MethodInfo& method : info.methods()) {
    named.emplace_back(EnumText(method.inference_name(), ""), method.inference());
  }
  return ListedWords(named, InferenceWords(), info.inferences());
}

// "rbf, matern32"
template <typename Value, typename Values>
std::string WordsFor(const Words<Value>& words, const Values& values) {
  std::string text;
  for (const int value : values) text += (text.empty() ? "" : ", ") + WordFor(words, value);
  return text;
}

// "rbf, matern32, …": every word.
template <typename Value>
std::string AllWords(const Words<Value>& words) {
  std::string text;
  for (const auto& [word, value] : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_WORDS_H_
