// Table: aligned columns on standard output, words to the left and numbers to the right.
#ifndef FIDELIO_TESTS_BENCH_TABLE_H_
#define FIDELIO_TESTS_BENCH_TABLE_H_

#include <string>
#include <utility>
#include <vector>

namespace fidelio::bench {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}

  // One cell per column of the header.
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string ToString() const;
  void Print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// A number with that many digits after the point, or "-" when it is not finite.
std::string Fixed(double value, int digits);

// A number with three significant digits, or "-" when it is not finite.
std::string Short(double value);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_TABLE_H_
