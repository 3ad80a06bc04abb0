#include "core/data/dataset_bytes.h"

#include <utility>

namespace fidelio {

void WriteDataset(const Dataset& data, ByteWriter& out) {
  out.U64(data.levels.size());
  for (const LevelData& level : data.levels) {
    out.Write(level.x);
    out.Write(level.y);
    out.Write(level.noise_variance);
  }
  out.Bool(data.box.has_value());
  if (data.box) {
    out.Write(data.box->lower);
    out.Write(data.box->upper);
  }
}

Dataset ReadDataset(ByteReader& in) {
  Dataset data;
  const uint64_t levels = in.U64();
  for (uint64_t t = 0; t < levels && in.ok(); ++t) {
    LevelData level;
    level.x = in.ReadMatrix();
    level.y = in.ReadVector();
    level.noise_variance = in.ReadVector();
    data.levels.push_back(std::move(level));
  }
  if (in.Bool()) {
    InputBox box;
    box.lower = in.ReadVector();
    box.upper = in.ReadVector();
    data.box = std::move(box);
  }
  return data;
}

}  // namespace fidelio
