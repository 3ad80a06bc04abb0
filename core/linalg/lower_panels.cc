#include "core/linalg/lower_panels.h"

#include <algorithm>

#include "core/linalg/tile.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kPanelDepth = 256;  // columns of a panel that stay in the first cache while they meet all of b

// body(i, height, depth, at) for the panels: rows i, …, i + height − 1 up to column `depth`, beginning at panels_[at];
// element (i + r, k) is number at + k·kTileRows + r.
template <typename Body>
void ForPanels(Index rows, Index columns, const Body& body) {
  for (Index i = 0, at = 0; i < rows; i += kTileRows) {
    const Index height = std::min<Index>(kTileRows, rows - i), depth = std::min(columns, i + height);
    body(i, height, depth, at);
    at += depth * kTileRows;
  }
}

// A panel times a vector. The sums of one column would wait for each other, so several columns are summed side by side.
void PanelTimesVector(Index depth, const double* a, const double* b, double* out, Index height) {
  constexpr int kSideBySide = 4;
  Lanes sum[kSideBySide][kTileVectors];
  Unrolled<kSideBySide * kTileVectors>([&](int i) { sum[i / kTileVectors][i % kTileVectors] = Lanes{}; });
  Index k = 0;
  for (; k + kSideBySide <= depth; k += kSideBySide, a += kSideBySide * kTileRows) {
    Unrolled<kSideBySide * kTileVectors>([&](int i) {
      sum[i / kTileVectors][i % kTileVectors] += Load<Lanes>(a + i * kLanes) * b[k + i / kTileVectors];
    });
  }
  for (; k < depth; ++k, a += kTileRows) {
    Unrolled<kTileVectors>([&](int v) { sum[0][v] += Load<Lanes>(a + v * kLanes) * b[k]; });
  }
  double result[kTileRows];
  Unrolled<kTileVectors>([&](int v) { Store((sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]), result + v * kLanes); });
  std::copy_n(result, height, out);
}

}  // namespace

LowerPanels::LowerPanels(const ConstMatrixRef& triangle, const ConstMatrixRef& rest)
    : rows_(triangle.rows() + rest.rows()), columns_(triangle.cols()) {
  Index size = 0;
  ForPanels(rows_, columns_, [&](Index, Index, Index depth, Index at) { size = at + depth * kTileRows; });
  panels_.setZero(size);
  ForPanels(rows_, columns_, [&](Index i, Index height, Index depth, Index at) {
    for (Index k = 0; k < depth; ++k) {
      for (Index r = std::max<Index>(0, k - i); r < height; ++r) {
        panels_[at + k * kTileRows + r] = i + r < columns_ ? triangle(i + r, k) : rest(i + r - columns_, k);
      }
    }
  });
}

void LowerPanels::Times(const ConstMatrixRef& b, MatrixRef out) const {
  if (columns_ == 0) out.setZero();
  if (b.cols() == 1) {
    ForPanels(rows_, columns_, [&](Index i, Index height, Index depth, Index at) {
      PanelTimesVector(depth, panels_.data() + at, b.data(), &out(i, 0), height);
    });
    return;
  }
  for (Index first = 0; first < columns_; first += kPanelDepth) {
    ForPanels(rows_, columns_, [&](Index i, Index height, Index depth, Index at) {
      const Index vectors = (height + kLanes - 1) / kLanes, size = std::min(kPanelDepth, depth - first);
      if (size <= 0) return;
      for (Index j = 0; j < b.cols(); j += kTileColumns) {
        const Index width = std::min<Index>(kTileColumns, b.cols() - j);
        kTiles[vectors - 1][width - 1](size, 1, panels_.data() + at + first * kTileRows, kTileRows,
                                       b.col(j).data() + first, 1, b.outerStride(),
                                       first == 0 ? Write::kSet : Write::kAdd, &out(i, j), out.outerStride(), height);
      }
    });
  }
}

Matrix LowerPanels::Dense() const {
  Matrix dense = Matrix::Zero(rows_, columns_);
  ForPanels(rows_, columns_, [&](Index i, Index height, Index depth, Index at) {
    for (Index k = 0; k < depth; ++k) dense.block(i, k, height, 1) = panels_.segment(at + k * kTileRows, height);
  });
  return dense;
}

}  // namespace fidelio
