#include "core/linalg/product.h"

#include <algorithm>
#include <cstring>

#include "core/linalg/tile.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kSmallProduct = 320;  // up to this size, operands are read where they are

// Above it, blocks of a (kRowBlock×kDepthBlock) and b (kDepthBlock×kColumnBlock) are copied to where they stay in
// cache.
constexpr Index kRowBlock = 8 * kTileRows;
constexpr Index kColumnBlock = 512;
constexpr Index kDepthBlock = 256;

struct Range {
  Index begin, end;
};

bool Wanted(const Parts& parts, Range rows, Range columns) {
  return parts.c != Part::kLower || rows.end > columns.begin;
}

// The part of k for which a(i,k)·b(k,j) need not be zero for some i in rows, j in columns.
Range Depth(const Parts& parts, Range rows, Range columns, Range k) {
  if (parts.a == Part::kUpper) k.begin = std::max(k.begin, rows.begin);
  if (parts.b == Part::kLower) k.begin = std::max(k.begin, columns.begin);
  if (parts.a == Part::kLower) k.end = std::min(k.end, rows.end);
  if (parts.b == Part::kUpper) k.end = std::min(k.end, columns.end);
  k.end = std::max(k.begin, k.end);
  return k;
}

// Where a block lies in its product.
struct Origin {
  Index i = 0, j = 0, k = 0;
};

// A factor in panels of as many rows of a, or columns of b, as a tile has: element r of panel p at depth k is
// data[p·panel + r·within + k·step].
struct Panels {
  const double* data;
  Index panel, within, step;
};

// Packs a panel of which `count` elements exist; the others are filled with anything.
template <int size>
void Pack(const double* from, Index count, Index within, Index depth, Index step, double* to) {
  Index offsets[size];
  for (int r = 0; r < size; ++r) offsets[r] = r < count ? r * within : 0;
  // Neighbours in memory are copied together, along with what follows them if anything does.
  const Index together = within == 1 ? std::max<Index>(0, depth - (size - count + step - 1) / step) : 0;
  for (Index k = 0; k < together; ++k) std::memcpy(to + k * size, from + k * step, size * sizeof(double));
  for (Index k = together; k < depth; ++k) {
    for (int r = 0; r < size; ++r) to[k * size + r] = from[k * step + offsets[r]];
  }
}

// With `padded`, all panels of a have kTileRows rows.
void MultiplyTiles(const Parts& parts, const Origin& at, double scale, Index depth, const Panels& a, bool padded,
                   const Panels& b, Write write, MatrixRef c) {
  alignas(64) double packed[kTileRows * kSmallProduct];
  const Index m = c.rows(), n = c.cols(), tiles = (n + kTileColumns - 1) / kTileColumns;
  const Range all_columns{at.j, at.j + n}, all_k{at.k, at.k + depth};
  for (Index i = 0; i < m; i += kTileRows) {
    const Index height = std::min<Index>(kTileRows, m - i), vectors = (height + kLanes - 1) / kLanes;
    const Range rows{at.i + i, at.i + i + height};
    const double* panel = a.data + i / kTileRows * a.panel;
    Index step = a.step;
    if (a.within != 1 || (height % kLanes != 0 && !padded)) {
      const Range k = Depth(parts, rows, all_columns, all_k);
      const Index first = k.begin - at.k;
      Pack<kTileRows>(panel + first * step, height, a.within, k.end - k.begin, step, packed + first * kTileRows);
      panel = packed;
      step = kTileRows;
    }
    for (Index tile = 0; tile < tiles; ++tile) {
      // From the side where b is full: so c may replace a.
      const Index t = parts.b == Part::kUpper ? tiles - 1 - tile : tile, j = t * kTileColumns;
      const Index width = std::min<Index>(kTileColumns, n - j);
      const Range columns{at.j + j, at.j + j + width};
      if (!Wanted(parts, rows, columns)) continue;
      const Range k = Depth(parts, rows, columns, all_k);
      const Index first = k.begin - at.k;
      kTiles[vectors - 1][width - 1](k.end - k.begin, scale, panel + first * step, step,
                                     b.data + t * b.panel + first * b.step, b.step, b.within, write, &c(i, j),
                                     c.outerStride(), height);
    }
  }
}

void MultiplyBlocks(const Parts& parts, double scale, const Factor& a, const Factor& b, MatrixRef c) {
  const Index m = c.rows(), n = c.cols(), depth = a.columns;
  Vector a_packed(kRowBlock * kDepthBlock), b_packed(kColumnBlock * kDepthBlock);
  Origin at;
  for (at.k = 0; at.k < depth; at.k += kDepthBlock) {
    const Index k_size = std::min(kDepthBlock, depth - at.k);
    for (at.j = 0; at.j < n; at.j += kColumnBlock) {
      const Index width = std::min(kColumnBlock, n - at.j);
      const double* const b_block = b.data + at.k * b.row_stride + at.j * b.column_stride;
      for (Index j = 0; j < width; j += kTileColumns) {
        Pack<kTileColumns>(b_block + j * b.column_stride, std::min<Index>(kTileColumns, width - j), b.column_stride,
                           k_size, b.row_stride, &b_packed[j * k_size]);
      }
      for (at.i = 0; at.i < m; at.i += kRowBlock) {
        const Index height = std::min(kRowBlock, m - at.i);
        const Range rows{at.i, at.i + height}, columns{at.j, at.j + width};
        if (!Wanted(parts, rows, columns)) continue;
        const Range k = Depth(parts, rows, columns, {at.k, at.k + k_size});
        if (k.begin == k.end) continue;
        const double* const a_block = a.data + at.i * a.row_stride + at.k * a.column_stride;
        for (Index i = 0; i < height; i += kTileRows) {
          Pack<kTileRows>(a_block + i * a.row_stride, std::min<Index>(kTileRows, height - i), a.row_stride, k_size,
                          a.column_stride, &a_packed[i * k_size]);
        }
        MultiplyTiles(parts, at, scale, k_size, {a_packed.data(), kTileRows * k_size, 1, kTileRows}, true,
                      {b_packed.data(), kTileColumns * k_size, 1, kTileColumns}, Write::kAdd,
                      c.block(at.i, at.j, height, width));
      }
    }
  }
}

}  // namespace

void Multiply(const Parts& parts, double scale, const Factor& a, const Factor& b, Write write, MatrixRef c) {
  if (std::max({c.rows(), c.cols(), a.columns}) <= kSmallProduct) {
    MultiplyTiles(parts, {}, scale, a.columns, {a.data, kTileRows * a.row_stride, a.row_stride, a.column_stride}, false,
                  {b.data, kTileColumns * b.column_stride, b.column_stride, b.row_stride}, write, c);
  } else if (write == Write::kAdd) {
    MultiplyBlocks(parts, scale, a, b, c);
  } else if (c.data() == a.data) {
    const Matrix copy = c;
    c.setZero();
    MultiplyBlocks(parts, scale, copy, b, c);
  } else {
    c.setZero();
    MultiplyBlocks(parts, scale, a, b, c);
  }
}

}  // namespace fidelio
