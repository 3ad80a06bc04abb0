#include "core/gp/left_out_sites.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/parallel.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kMostPlain = 0.85;  // of h, where 1 − h is taken as a difference
constexpr int kSiteChunks = 8;       // whose factors are found separately; fixed, so that threads change nothing

// R and z = Qᵀt of rows of [U | t] that come piece by piece.
class RowFactor {
 public:
  explicit RowFactor(Index inducing) : stack_(2 * inducing + 64, inducing + 1) {}

  void Add(const ConstMatrixRef& rows, const ConstVectorRef& target) {
    const Index m = stack_.cols() - 1;
    for (Index begin = 0; begin < rows.rows();) {
      if (used_ == stack_.rows()) Reduce();
      const Index n = std::min(rows.rows() - begin, stack_.rows() - used_);
      stack_.block(used_, 0, n, m) = rows.middleRows(begin, n);
      stack_.col(m).segment(used_, n) = target.segment(begin, n);
      used_ += n;
      begin += n;
    }
  }
  void Add(const RowFactor& other) {
    const Index m = stack_.cols() - 1;
    Add(other.stack_.topLeftCorner(other.used_, m), other.stack_.col(m).head(other.used_));
  }
  // Afterwards there are at most M rows, upper triangular.
  void Reduce() {
    const Index m = stack_.cols() - 1, kept = std::min(used_, m);
    if (used_ == 0) return;
    Eigen::Ref<Matrix> rows = stack_.topRows(used_);
    const Eigen::HouseholderQR<Eigen::Ref<Matrix>> qr(rows);
    stack_.topLeftCorner(kept, m).triangularView<Eigen::StrictlyLower>().setZero();
    used_ = kept;
  }
  void Shrink() { stack_.conservativeResize(used_, Eigen::NoChange); }
  // R⁻ᵀ rightᵀ
  Matrix Solve(const Matrix& right) const {
    return stack_.topLeftCorner(used_, used_).transpose().triangularView<Eigen::Lower>().solve(right.transpose());
  }
  Vector Solution() const {  // m = R⁻¹z
    return stack_.topLeftCorner(used_, used_).triangularView<Eigen::Upper>().solve(stack_.col(used_).head(used_));
  }

 private:
  Matrix stack_;
  Index used_ = 0;
};

// A group with directions that it determines almost alone. `basis`: eigenvectors of H, the other directions first.
struct HighGroup {
  Index first = 0;  // its first site
  Matrix basis;
  Matrix low_rows, rows;      // basisᵀ U_G
  Vector low_target, target;  // basisᵀ t_G
  Vector low_h, low_error;    // error: basisᵀ e
};

class SiteRemoval {
 public:
  SiteRemoval(const SiteLayout& layout, const std::function<SiteBlock(int)>& block, int threads)
      : layout_(layout), block_(block), threads_(threads), high_(static_cast<size_t>(layout.blocks())) {
    const Index sites = static_cast<Index>(layout.groups) * layout.group_size;
    for (Vector* v : {&result_.mean, &result_.variance, &result_.seen_mean, &result_.seen_variance}) v->setZero(sites);
  }

  LeftOutSites Run() {
    const RowFactor all = Factorise();
    const Vector m = all.Solution();
    ParallelFor(layout_.blocks(), threads_, [&](int b) { Plain(b, all, m); });
    std::vector<const HighGroup*> high;
    for (const auto& of_block : high_) {
      for (const HighGroup& group : of_block) high.push_back(&group);
    }
    if (!high.empty()) High(high, Factorise());
    return std::move(result_);
  }

 private:
  Index First(int b) const { return static_cast<Index>(b) * layout_.block_groups * layout_.group_size; }

  // Of all sites, without the directions in high_.
  RowFactor Factorise() const {
    const Index m = layout_.inducing;
    const int blocks = layout_.blocks(), count = std::min(kSiteChunks, blocks);
    std::vector<std::optional<RowFactor>> chunks(static_cast<size_t>(count));
    ParallelFor(count, threads_, [&](int c) {
      RowFactor& factor = chunks[c].emplace(m);
      const auto begin = static_cast<int>(static_cast<int64_t>(blocks) * c / count);
      const auto end = static_cast<int>(static_cast<int64_t>(blocks) * (c + 1) / count);
      for (int b = begin; b < end; ++b) AddBlock(b, factor);
      factor.Reduce();
      factor.Shrink();
    });
    RowFactor all(m);
    all.Add(Matrix::Identity(m, m), Vector::Zero(m));
    for (const auto& chunk : chunks) all.Add(*chunk);
    all.Reduce();
    return all;
  }

  void AddBlock(int b, RowFactor& factor) const {
    const SiteBlock sites = block_(b);
    Index begin = 0;
    const auto add = [&](Index end) {
      factor.Add(sites.rows.middleRows(begin, end - begin), sites.target.segment(begin, end - begin));
    };
    for (const HighGroup& group : high_[b]) {
      add(group.first - First(b));
      factor.Add(group.low_rows, group.low_target);
      begin = group.first - First(b) + layout_.group_size;
    }
    add(sites.target.size());
  }

  // Groups whose 1 − h can be taken as differences; the others go to high_.
  void Plain(int b, const RowFactor& all, const Vector& m) {
    const SiteBlock sites = block_(b);
    const Index first = First(b), size = layout_.group_size, n = sites.target.size();
    const Matrix solved = all.Solve(sites.rows);  // R⁻ᵀUᵀ
    result_.seen_mean.segment(first, n) = sites.rows * m;
    result_.seen_variance.segment(first, n) = solved.colwise().squaredNorm();
    for (Index at = 0; at < n; at += size) {
      const auto own = solved.middleCols(at, size);
      const Eigen::SelfAdjointEigenSolver<Matrix> eigen(own.transpose() * own);
      const Matrix& basis = eigen.eigenvectors();
      const auto target = sites.target.segment(at, size);
      const Vector h = eigen.eigenvalues().cwiseMax(0);
      const Vector error = basis.transpose() * (target - result_.seen_mean.segment(first + at, size));
      const Index low = (h.array() <= kMostPlain).count();  // ascending
      if (low < size) {
        const Matrix rows = basis.transpose() * sites.rows.middleRows(at, size);
        const Vector turned = basis.transpose() * target;
        high_[b].push_back({.first = first + at,
                            .basis = basis,
                            .low_rows = rows.topRows(low),
                            .rows = rows.bottomRows(size - low),
                            .low_target = turned.head(low),
                            .target = turned.tail(size - low),
                            .low_h = h.head(low),
                            .low_error = error.head(low)});
        continue;
      }
      result_.mean.segment(first + at, size) = target - basis * error.cwiseQuotient((1 - h.array()).matrix());
      result_.variance.segment(first + at, size) = basis.cwiseAbs2() * (h.array() / (1 - h.array())).matrix();
    }
  }

  // The others: `rest` is what all but their high directions say.
  void High(const std::vector<const HighGroup*>& groups, const RowFactor& rest) {
    const Index m = layout_.inducing;
    Index count = 0;
    for (const HighGroup* group : groups) count += group->target.size();
    Matrix rows(count, m);
    Vector target(count);
    count = 0;
    for (const HighGroup* group : groups) {
      rows.middleRows(count, group->target.size()) = group->rows;
      target.segment(count, group->target.size()) = group->target;
      count += group->target.size();
    }
    // C = I + VVᵀ = KᵀK from a QR factorisation of [Vᵀ; I].
    Matrix stacked(m + count, count);
    stacked.topRows(m) = rest.Solve(rows);
    stacked.bottomRows(count).setIdentity();
    const Eigen::HouseholderQR<Eigen::Ref<Matrix>> qr(stacked);
    const Matrix inverse = stacked.topRows(count).transpose().triangularView<Eigen::Lower>().solve(
        Matrix::Identity(count, count));  // K⁻ᵀ: C⁻¹ is its Gram matrix
    const Vector whitened = inverse.triangularView<Eigen::Lower>() * (target - rows * rest.Solution());
    Index at = 0;
    for (const HighGroup* group : groups) {
      const Index high = group->target.size(), low = group->low_h.size(), size = layout_.group_size;
      // The block of C⁻¹ is FᵀF with F = Q Y: its inverse is Y⁻¹Y⁻ᵀ, and the error Y⁻¹Qᵀ(whitened), a least-squares
      // problem.
      const Eigen::HouseholderQR<Matrix> own(inverse.middleCols(at, high).bottomRows(count - at));
      const auto y = own.matrixQR().topRows(high).transpose().triangularView<Eigen::Lower>();  // Yᵀ
      const Vector projected = (own.householderQ().adjoint() * whitened.tail(count - at)).head(high);
      const auto basis = group->basis.rightCols(high), low_basis = group->basis.leftCols(low);
      const Matrix root = y.solve(basis.transpose());  // Y⁻ᵀ basisᵀ
      const Eigen::ArrayXd left = 1 - group->low_h.array();
      result_.mean.segment(group->first, size) =
          low_basis * (group->low_target - (group->low_error.array() / left).matrix()) + basis * group->target -
          root.transpose() * projected;
      result_.variance.segment(group->first, size) =
          (low_basis.cwiseAbs2() * (group->low_h.array() / left).matrix() + root.colwise().squaredNorm().transpose() -
           basis.cwiseAbs2().rowwise().sum());
      at += high;
    }
  }

  const SiteLayout& layout_;
  const std::function<SiteBlock(int)>& block_;
  int threads_;
  std::vector<std::vector<HighGroup>> high_;  // per block
  LeftOutSites result_;
};

}  // namespace

absl::StatusOr<LeftOutSites> LeaveOutSites(const SiteLayout& layout, const std::function<SiteBlock(int)>& block,
                                           int threads, absl::string_view name) {
  LeftOutSites result = SiteRemoval(layout, block, threads).Run();
  if (!result.mean.allFinite() || !result.variance.allFinite()) {
    return absl::InternalError(absl::StrCat(name, ": leave-one-out predictions are not finite"));
  }
  return result;
}

}  // namespace fidelio
