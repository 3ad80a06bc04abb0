// Kinds of models and inferences: what users choose between. Numbers are those of fidelio.v1.
//
// Both are open. A program meets numbers that it does not know: those of a newer program, in stored records and in requests.
// Such a number keeps its value and has no method (core/registry/emulator_registry.h). A method may name its own number,
// ModelKind{7}, without joining these lists, which are for numbers that several files refer to.
#ifndef FIDELIO_CORE_REGISTRY_MODEL_KIND_H_
#define FIDELIO_CORE_REGISTRY_MODEL_KIND_H_

namespace fidelio {

enum class ModelKind : int { kMfDgp = 1, kAr1 = 2, kNargp = 3, kDeepMf = 4, kGp = 5, kAr1Recursive = 6 };

enum class Inference : int { kAuto = 1, kMoments = 2, kVariational = 3, kSvi = 4, kNeighbours = 5, kPointEstimate = 6 };

}  // namespace fidelio

#endif  // FIDELIO_CORE_REGISTRY_MODEL_KIND_H_
