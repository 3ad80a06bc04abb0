// MapDrawing: maps beside each other, as one self-contained SVG drawing. Each is a raster (an embedded PNG image), with marks.
#ifndef FIDELIO_TESTS_BENCH_MAP_DRAWING_H_
#define FIDELIO_TESTS_BENCH_MAP_DRAWING_H_

#include <string>
#include <vector>

#include "core/base/types.h"

namespace fidelio::bench {

struct MapPanel {
  std::string title;
  Vector values;             // one per point
  double low = 0, high = 1;  // of the colours
  Matrix marks;              // k×2: points to mark; may be empty
};

// Points x (n×2: to the right, up), shared by all panels. Cells without a point stay empty, cells with several show their mean.
std::string DrawMaps(const Matrix& x, const std::vector<MapPanel>& panels);

// A row of x in every cell of such a drawing, with those at its borders: all that it needs to show, in the same cells.
std::vector<int> OneRowPerCell(const Matrix& x);

// A PNG image of 8-bit RGBA pixels, `rows`×`columns`, row by row from the top.
std::string EncodePng(const std::vector<unsigned char>& rgba, int rows, int columns);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_MAP_DRAWING_H_
