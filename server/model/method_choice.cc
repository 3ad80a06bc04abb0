#include "server/model/method_choice.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/model/enum_names.h"

namespace fidelio {
namespace {

struct Row {
  ModelKind kind;
  Inference inference;
  const char* method;
};

// Observations of a level up to which AUTO does without neighbour layers: an exact fit takes time ∝ their cube.
constexpr int64_t kMostExact = 2'000;

// AUTO takes a kind's first row, but NEIGHBOURS for large data.
constexpr Row kRows[] = {
    {ModelKind::kMfDgp, Inference::kMoments, "mf_dgp"},
    {ModelKind::kMfDgp, Inference::kVariational, "mf_dgp_variational"},
    {ModelKind::kMfDgp, Inference::kSvi, "mf_dgp_svi"},
    {ModelKind::kMfDgp, Inference::kNeighbours, "mf_dgp_neighbours"},
    {ModelKind::kGp, Inference::kMoments, "mf_dgp"},
    {ModelKind::kGp, Inference::kNeighbours, "mf_dgp_neighbours"},
    {ModelKind::kAr1, Inference::kMoments, "ar1"},
    {ModelKind::kAr1, Inference::kPointEstimate, "ar1"},
    {ModelKind::kAr1Recursive, Inference::kMoments, "ar1_recursive"},
    {ModelKind::kAr1Recursive, Inference::kPointEstimate, "ar1_recursive"},
    {ModelKind::kNargp, Inference::kMoments, "nargp"},
    {ModelKind::kNargp, Inference::kPointEstimate, "nargp"},
    {ModelKind::kDeepMf, Inference::kMoments, "deep_mf"},
    {ModelKind::kDeepMf, Inference::kPointEstimate, "deep_mf"},
};

std::vector<MethodChoice> ChoicesOf(ModelKind kind) {
  std::vector<MethodChoice> choices;
  for (const Row& row : kRows) {
    const auto method = FindEmulatorMethod(row.method);
    if (row.kind == kind && method.ok()) choices.push_back({*method, row.inference, "requested"});
  }
  return choices;
}

}  // namespace

absl::StatusOr<MethodChoice> ChooseMethod(ModelKind kind, Inference asked, const std::vector<int64_t>& counts) {
  const std::vector<MethodChoice> choices = ChoicesOf(kind);
  if (asked == Inference::kAuto && !choices.empty()) {
    MethodChoice choice = choices.front();
    choice.reason =
        absl::StrCat("AUTO: ", choices.size() == 1 ? "the only inference of " : "the default of ", NameOf(kind));
    const size_t first = kind == ModelKind::kGp && !counts.empty() ? counts.size() - 1 : 0;
    for (size_t t = first; t < counts.size(); ++t) {
      if (counts[t] <= kMostExact) continue;
      for (const MethodChoice& other : choices) {
        if (other.inference != Inference::kNeighbours) continue;
        choice = other;
        choice.reason = absl::StrCat("AUTO: level ", t, " has ", counts[t], " observations, more than the ", kMostExact,
                                     " up to which MOMENTS is used");
        return choice;
      }
    }
    return choice;
  }
  std::vector<std::string> known = {NameOf(Inference::kAuto)};
  for (const MethodChoice& choice : choices) {
    if (choice.inference == asked) return choice;
    known.push_back(NameOf(choice.inference));
  }
  return absl::InvalidArgumentError(absl::StrCat("options.inference: ", NameOf(asked), ", but a model of kind ",
                                                 NameOf(kind), " has ", absl::StrJoin(known, ", ")));
}

std::vector<ModelKind> SupportedKinds() {
  std::vector<ModelKind> kinds;
  for (const Row& row : kRows) {
    if (FindEmulatorMethod(row.method).ok() && (kinds.empty() || kinds.back() != row.kind)) kinds.push_back(row.kind);
  }
  return kinds;
}

std::vector<Inference> SupportedInferences() {
  std::vector<Inference> inferences = {Inference::kAuto};
  for (const Row& row : kRows) {
    if (FindEmulatorMethod(row.method).ok() &&
        std::find(inferences.begin(), inferences.end(), row.inference) == inferences.end()) {
      inferences.push_back(row.inference);
    }
  }
  return inferences;
}

}  // namespace fidelio
