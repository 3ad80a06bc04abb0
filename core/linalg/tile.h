// Tile: the part of a product of matrices that is summed in registers.
//
// Include this in sources only: its contents depend on the instruction set.
#ifndef FIDELIO_CORE_LINALG_TILE_H_
#define FIDELIO_CORE_LINALG_TILE_H_

#include "core/linalg/lanes.h"
#include "core/linalg/product.h"

namespace fidelio {

// A tile of c: with its operands it just fits 16 registers.
inline constexpr int kTileVectors = 3;
inline constexpr int kTileColumns = 4;
inline constexpr int kTileRows = kTileVectors * kLanes;

// Reads vectors·kLanes rows of a, writes the first `rows` of them to c.
template <int vectors, int columns>
void Tile(Eigen::Index depth, double scale, const double* a, Eigen::Index a_stride, const double* b, Eigen::Index b_row,
          Eigen::Index b_column, Write write, double* c, Eigen::Index c_stride, Eigen::Index rows) {
  Lanes sum[columns][vectors];
  Unrolled<columns * vectors>([&](int i) { sum[i / vectors][i % vectors] = Lanes{}; });
  for (Eigen::Index k = 0; k < depth; ++k, a += a_stride, b += b_row) {
    Lanes x[vectors];
    for (int v = 0; v < vectors; ++v) x[v] = Load<Lanes>(a + v * kLanes);
    for (int j = 0; j < columns; ++j) {
      for (int v = 0; v < vectors; ++v) sum[j][v] += x[v] * b[j * b_column];
    }
  }
  if (rows == vectors * kLanes) {
    Unrolled<columns * vectors>([&](int i) {
      double* const to = c + (i / vectors) * c_stride + (i % vectors) * kLanes;
      Lanes result = scale * sum[i / vectors][i % vectors];
      if (write == Write::kAdd) result += Load<Lanes>(to);
      Store(result, to);
    });
    return;
  }
  Unrolled<columns>([&](int j) {
    double result[vectors * kLanes];
    Unrolled<vectors>([&](int v) { Store(sum[j][v], result + v * kLanes); });
    for (Eigen::Index i = 0; i < rows; ++i) {
      double& to = c[i + j * c_stride];
      to = scale * result[i] + (write == Write::kAdd ? to : 0);
    }
  });
}

using TileFunction = decltype(&Tile<1, 1>);
static_assert(kTileVectors == 3 && kTileColumns == 4);
inline constexpr TileFunction kTiles[kTileVectors][kTileColumns] = {{Tile<1, 1>, Tile<1, 2>, Tile<1, 3>, Tile<1, 4>},
                                                                    {Tile<2, 1>, Tile<2, 2>, Tile<2, 3>, Tile<2, 4>},
                                                                    {Tile<3, 1>, Tile<3, 2>, Tile<3, 3>, Tile<3, 4>}};

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_TILE_H_
