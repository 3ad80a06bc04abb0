// Payload of a NeighbourFitState:
//
//   u64 levels; per level u64 candidates, per candidate u32 kernel, vector θ, f64 value; vector metric, u32 rounds, bool done
//   i64 iterations
// of a warm start: u64 layers, per layer u32 kernel, vector θ; u64 recipes (core/dgp/moments/recipe_bytes.h);
//   u64 draws, per draw u32 structure, f64 weight, vector θ
#include "core/neighbour/neighbour_fit_state.h"

#include <algorithm>
#include <utility>

#include "core/dgp/moments/recipe_bytes.h"

namespace fidelio {
namespace {

void Write(const NeighbourLayer& layer, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(layer.kernel));
  out.Write(layer.theta);
}

NeighbourLayer ReadLayer(ByteReader& in) {
  NeighbourLayer layer;
  layer.kernel = static_cast<KernelFamily>(in.U32());
  layer.theta = in.ReadVector();
  return layer;
}

}  // namespace

const NeighbourLevelState::Candidate& NeighbourLevelState::best() const {
  return *std::min_element(candidates.begin(), candidates.end(),
                           [](const Candidate& a, const Candidate& b) { return a.value < b.value; });
}
NeighbourLevelState::Candidate& NeighbourLevelState::best() {
  return const_cast<Candidate&>(std::as_const(*this).best());
}

void Write(const NeighbourWarmStart& warm, ByteWriter& out) {
  out.U64(warm.layers.size());
  for (const NeighbourLayer& layer : warm.layers) Write(layer, out);
  out.U64(warm.recipes.size());
  for (const Recipe& recipe : warm.recipes) WriteRecipe(recipe, out);
  out.U64(warm.draws.size());
  for (const MomentDraw& draw : warm.draws) {
    out.U32(static_cast<uint32_t>(draw.structure));
    out.F64(draw.weight);
    out.Write(draw.theta);
  }
}

NeighbourWarmStart ReadNeighbourWarmStart(ByteReader& in) {
  NeighbourWarmStart warm;
  const uint64_t layers = in.U64();
  for (uint64_t t = 0; t < layers && in.ok(); ++t) warm.layers.push_back(ReadLayer(in));
  const uint64_t recipes = in.U64();
  for (uint64_t k = 0; k < recipes && in.ok(); ++k) warm.recipes.push_back(ReadRecipe(in));
  const uint64_t draws = in.U64();
  for (uint64_t i = 0; i < draws && in.ok(); ++i) {
    MomentDraw draw;
    draw.structure = static_cast<int>(in.U32());
    draw.weight = in.F64();
    draw.theta = in.ReadVector();
    warm.draws.push_back(std::move(draw));
  }
  return warm;
}

void Write(const NeighbourFitState& state, ByteWriter& out) {
  out.U64(state.levels.size());
  for (const NeighbourLevelState& level : state.levels) {
    out.U64(level.candidates.size());
    for (const NeighbourLevelState::Candidate& candidate : level.candidates) {
      Write(candidate.layer, out);
      out.F64(candidate.value);
    }
    out.Write(level.metric);
    out.U32(static_cast<uint32_t>(level.rounds));
    out.Bool(level.done);
  }
  out.I64(state.iterations);
}

NeighbourFitState ReadNeighbourFitState(ByteReader& in) {
  NeighbourFitState state;
  const uint64_t levels = in.U64();
  for (uint64_t t = 0; t < levels && in.ok(); ++t) {
    NeighbourLevelState level;
    const uint64_t candidates = in.U64();
    for (uint64_t k = 0; k < candidates && in.ok(); ++k) {
      NeighbourLevelState::Candidate candidate;
      candidate.layer = ReadLayer(in);
      candidate.value = in.F64();
      level.candidates.push_back(std::move(candidate));
    }
    level.metric = in.ReadVector();
    level.rounds = static_cast<int>(in.U32());
    level.done = in.Bool();
    state.levels.push_back(std::move(level));
  }
  state.iterations = in.I64();
  return state;
}

}  // namespace fidelio
