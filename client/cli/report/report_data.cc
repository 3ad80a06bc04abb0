#include "client/cli/report/report_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/text.h"
#include "client/cpp/names.h"

namespace fidelio::cli {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kSlicePoints = 81;
constexpr int kMapPoints = 41;
constexpr int kLinkPoints = 240;
constexpr int64_t kMostFetched = 20'000;  // observations of a fidelity that are looked at

// Number `index` ≥ 1 of van der Corput's sequence in a base.
double RadicalInverse(int index, int base) {
  double value = 0, scale = 1;
  for (; index > 0; index /= base) value += (scale /= base) * (index % base);
  return value;
}

// Points that fill the box: Halton's, or evenly spaced when there is one input.
MatrixXd Fill(const VectorXd& lower, const VectorXd& upper, int count) {
  static constexpr int kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  MatrixXd x(count, lower.size());
  for (Index j = 0; j < x.cols(); ++j) {
    for (int i = 0; i < count; ++i) {
      // Beyond the first dozen inputs the sequences would be too alike: golden ratios take their place.
      const double u = x.cols() == 1 ? i / (count - 1.0)
                       : j < 12      ? RadicalInverse(i + 1, kPrimes[j])
                                     : std::fmod((i + 1) * std::sqrt(2.0 + static_cast<double>(j)), 1.0);
      x(i, j) = lower[j] + u * (upper[j] - lower[j]);
    }
  }
  return x;
}

// At most kMostPoints rows, evenly over all.
std::vector<Index> Some(Index n) {
  std::vector<Index> rows;
  const Index stride = std::max<Index>(1, (n + kMostPoints - 1) / kMostPoints);
  for (Index i = 0; i < n; i += stride) rows.push_back(i);
  return rows;
}

class Collector {
 public:
  Collector(client::Client& client, const ReportOptions& options) : client_(client), options_(options) {}

  absl::StatusOr<ReportData> Run(const std::string& name) {
    absl::Status status = GetFacts(name);
    if (status.ok()) status = GetObservations();
    if (status.ok()) status = ChooseCentre();
    ChoosePanels();
    if (status.ok()) status = PredictSlices();
    if (!status.ok()) return status;
    PredictLinks();
    PredictMap();
    data_.diagnostics = client_.Diagnose(name, {.revision = data_.revision.name()});
    if (options_.runs > 0) {
      // All else as `fidelio suggest` has it by default: the same seed gives the same runs.
      data_.suggestions =
          client_.Suggest(name, {.count = options_.runs, .seed = options_.seed, .revision = data_.revision.name()});
    }
    return std::move(data_);
  }

 private:
  const std::string& model() const { return data_.model.name(); }
  Index d() const { return static_cast<Index>(data_.model.input_dimension()); }

  absl::StatusOr<client::Prediction> Predict(const MatrixXd& x, int level) const {
    return client_.Predict(
        model(), x, {.level = level, .quantiles = {0.025, 0.25, 0.75, 0.975}, .revision = data_.revision.name()});
  }

  absl::Status GetFacts(const std::string& name) {
    auto model = client_.GetModel(name);
    if (!model.ok()) return model.status();
    data_.model = *std::move(model);
    if (options_.revision.empty() && data_.model.current_revision().empty()) {
      return absl::FailedPreconditionError(absl::StrCat("model ", client::ShortName(name),
                                                        " has no revision yet\n  to do: fidelio fit ",
                                                        client::ShortName(name), " --watch"));
    }
    auto revision = client_.GetRevision(options_.revision.empty() ? data_.model.current_revision()
                                                                  : client::RevisionName(name, options_.revision));
    if (!revision.ok()) return revision.status();
    data_.revision = *std::move(revision);
    data_.fit = data_.revision.fit().empty() ? absl::NotFoundError("the fit ran on another server")
                                             : client_.GetFit(data_.revision.fit());
    const auto info = client_.GetServerInfo();
    if (!info.ok()) return info.status();
    data_.server = info->version();
    data_.generated = absl::FormatTime("%Y-%m-%d %H:%M UTC", absl::Now(), absl::UTCTimeZone());
    return absl::OkStatus();
  }

  // Whether the revision knows these observations, which may have been withdrawn since.
  bool Knows(const client::Observations& batch) const {
    return batch.data_version <= data_.revision.data_version() &&
           (!batch.withdrawal.has_value() || batch.withdrawal->data_version() > data_.revision.data_version());
  }

  // The first observations of every fidelity that the revision knows.
  absl::Status GetObservations() {
    const bool box = data_.model.has_input_box();
    data_.lower = VectorXd::Constant(d(), std::numeric_limits<double>::infinity());
    data_.upper = -data_.lower;
    for (int t = 0; t < data_.model.fidelities_size(); ++t) {
      FidelityData fidelity{
          .level = t,
          .name = data_.model.fidelities(t).name(),
          .cost = data_.model.fidelities(t).has_cost() ? data_.model.fidelities(t).cost() : 1,
          .count = t < data_.revision.observation_counts_size() ? data_.revision.observation_counts(t) : 0};
      const int64_t wanted = std::min(fidelity.count, kMostFetched);
      const auto batches = client_.ListObservations(
          model(), {.level = t, .show_withdrawn = true, .most = wanted + data_.model.withdrawn_count()});
      if (!batches.ok()) return batches.status();
      MatrixXd x(wanted, d());
      VectorXd y(wanted);
      Index n = 0;
      for (const client::Observations& batch : *batches) {
        if (!Knows(batch)) continue;
        const Index rows = std::min<Index>(batch.outputs.size(), wanted - n);
        x.middleRows(n, rows) = batch.inputs.topRows(rows);
        y.segment(n, rows) = batch.outputs.head(rows);
        n += rows;
      }
      if (n > 0) {
        data_.lower = data_.lower.cwiseMin(x.topRows(n).colwise().minCoeff().transpose());
        data_.upper = data_.upper.cwiseMax(x.topRows(n).colwise().maxCoeff().transpose());
      }
      const std::vector<Index> some = Some(n);
      fidelity.x = x(some, Eigen::all);
      fidelity.y = y(some);
      data_.fidelities.push_back(std::move(fidelity));
    }
    if (box) {
      data_.lower = Eigen::Map<const VectorXd>(data_.model.input_box().lower().data(), d());
      data_.upper = Eigen::Map<const VectorXd>(data_.model.input_box().upper().data(), d());
    }
    for (Index j = 0; j < d(); ++j) {
      if (!(data_.lower[j] <= data_.upper[j])) data_.lower[j] = 0, data_.upper[j] = 1;
      if (data_.lower[j] == data_.upper[j]) data_.lower[j] -= 0.5, data_.upper[j] += 0.5;
    }
    return absl::OkStatus();
  }

  absl::Status ChooseCentre() {
    const FidelityData& top = data_.fidelities.back();
    const std::string name = top.name;
    const bool known = top.y.size() > 0;
    Index row = 0;
    if (options_.at == "centre") {
      data_.centre = (data_.lower + data_.upper) / 2;
      data_.centre_text = "the middle of the box";
      if (!known) return absl::OkStatus();
      const MatrixXd scaled = (top.x.rowwise() - data_.centre.transpose()).array().rowwise() /
                              (data_.upper - data_.lower).transpose().array();
      scaled.rowwise().squaredNorm().minCoeff(&row);
      data_.centre_text = absl::StrCat("the ", name, " observation nearest to the middle of the box");
    } else if (options_.at == "min" || options_.at == "max") {
      if (!known)
        return absl::InvalidArgumentError(absl::StrCat("--at: ", options_.at, ", but ", name, " has no data"));
      if (options_.at == "min") {
        top.y.minCoeff(&row);
      } else {
        top.y.maxCoeff(&row);
      }
      data_.centre_text = absl::StrCat("the ", name, " observation with the ",
                                       options_.at == "min" ? "smallest" : "largest", " output");
    } else {
      const auto numbers = ParseNumbers("--at", options_.at);
      if (!numbers.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat(numbers.status().message(), "; must be centre, min, max, or one number per input: 0.5,0.2"));
      }
      if (static_cast<Index>(numbers->size()) != d()) {
        return absl::InvalidArgumentError(absl::StrCat("--at: ", numbers->size(), " numbers, but model \"",
                                                       client::ShortName(model()), "\" has ", d(), " inputs"));
      }
      data_.centre = Eigen::Map<const VectorXd>(numbers->data(), d());
      data_.centre_text = "the given point";
      return absl::OkStatus();
    }
    data_.centre = top.x.row(row);
    return absl::OkStatus();
  }

  // Without order: PredictSlices sorts those out that matter least.
  void ChoosePanels() {
    data_.panels.resize(static_cast<size_t>(d()));
    std::iota(data_.panels.begin(), data_.panels.end(), 0);
  }

  // All slices of a level, one below the other.
  MatrixXd SliceInputs() const {
    MatrixXd x = data_.centre.transpose().replicate(kSlicePoints * d(), 1);
    for (Index j = 0; j < d(); ++j) {
      x.col(j).segment(j * kSlicePoints, kSlicePoints).setLinSpaced(kSlicePoints, data_.lower[j], data_.upper[j]);
    }
    return x;
  }

  absl::Status PredictSlices() {
    const MatrixXd x = SliceInputs();
    absl::Status top;
    for (FidelityData& fidelity : data_.fidelities) {
      const auto p = Predict(x, fidelity.level);
      top = p.status();
      if (!p.ok()) continue;  // a fidelity that the model leaves out; the highest never is
      fidelity.warnings = p->warnings;
      for (Index j = 0; j < d(); ++j) {
        const auto part = [&](Index column) -> VectorXd {
          return p->quantiles.col(column).segment(j * kSlicePoints, kSlicePoints);
        };
        fidelity.slices.push_back({.x = x.col(j).segment(j * kSlicePoints, kSlicePoints),
                                   .mean = p->mean.segment(j * kSlicePoints, kSlicePoints),
                                   .lower95 = part(0),
                                   .lower50 = part(1),
                                   .upper50 = part(2),
                                   .upper95 = part(3)});
        if (p->median.size() > 0) {
          fidelity.slices.back().median = p->median.segment(j * kSlicePoints, kSlicePoints);
        }
      }
    }
    if (!top.ok()) return top;
    if (d() <= kMostPanels) return absl::OkStatus();
    // Those along which the mean of the highest fidelity moves most.
    const std::vector<Curve>& slices = data_.fidelities.back().slices;
    const auto span = [&](int j) {
      const VectorXd& mean = slices[static_cast<size_t>(j)].mean;
      return mean.maxCoeff() - mean.minCoeff();
    };
    std::stable_sort(data_.panels.begin(), data_.panels.end(), [&](int a, int b) { return span(a) > span(b); });
    data_.panels.resize(kMostPanels);
    std::sort(data_.panels.begin(), data_.panels.end());
    return absl::OkStatus();
  }

  void PredictLinks() {
    const MatrixXd fill = Fill(data_.lower, data_.upper, kLinkPoints);
    for (size_t t = 0; t + 1 < data_.fidelities.size(); ++t) {
      const FidelityData &low = data_.fidelities[t], &high = data_.fidelities[t + 1];
      if (low.slices.empty() || high.slices.empty()) continue;
      MatrixXd x(fill.rows() + high.x.rows(), d());
      x << fill, high.x;
      const auto below = Predict(x, low.level);
      const auto above = Predict(fill, high.level);
      if (!below.ok() || !above.ok()) continue;
      data_.links.push_back({.lower = low.level,
                             .upper = high.level,
                             .low = below->mean.head(fill.rows()),
                             .high = above->mean,
                             .data_low = below->mean.tail(high.x.rows()),
                             .data_y = high.y});
    }
  }

  void PredictMap() {
    if (d() != 2) return;
    Map map;
    map.x1 = VectorXd::LinSpaced(kMapPoints, data_.lower[0], data_.upper[0]);
    map.x2 = VectorXd::LinSpaced(kMapPoints, data_.lower[1], data_.upper[1]);
    MatrixXd x(kMapPoints * kMapPoints, 2);
    for (Index i = 0; i < kMapPoints; ++i) {
      for (Index j = 0; j < kMapPoints; ++j) x.row(i * kMapPoints + j) << map.x1[i], map.x2[j];
    }
    const auto p = Predict(x, data_.fidelities.back().level);
    if (!p.ok()) return;
    map.mean = p->mean.reshaped(kMapPoints, kMapPoints).transpose();
    map.sd = p->variance.cwiseSqrt().reshaped(kMapPoints, kMapPoints).transpose();
    map.warnings = p->warnings;
    if (!p->warnings.empty()) map.median = p->median.reshaped(kMapPoints, kMapPoints).transpose();
    data_.map = std::move(map);
  }

  client::Client& client_;
  const ReportOptions& options_;
  ReportData data_;
};

}  // namespace

absl::StatusOr<ReportData> CollectReport(client::Client& client, const std::string& model,
                                         const ReportOptions& options) {
  return Collector(client, options).Run(model);
}

}  // namespace fidelio::cli
