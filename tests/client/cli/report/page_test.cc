#include "client/cli/report/page.h"

#include <cmath>
#include <utility>

#include "client/cli/report/figures.h"
#include "gtest/gtest.h"

namespace fidelio::cli {
namespace {

using Eigen::VectorXd;

// A model of d inputs and the fidelities low and high, with all that a report can have.
ReportData Example(int d) {
  ReportData data;
  data.server = "1.2.3";
  data.generated = "2024-05-06 07:08 UTC";
  data.model.set_name("models/wing");
  data.model.set_input_dimension(static_cast<uint32_t>(d));
  data.model.set_kind(v1::MODEL_KIND_MF_DGP);
  data.model.set_data_version(3);
  data.revision.set_name("models/wing/revisions/2");
  data.revision.set_data_version(3);
  data.revision.set_current(true);
  data.revision.set_inference(v1::INFERENCE_MOMENTS);
  data.lower = VectorXd::Zero(d);
  data.upper = VectorXd::Ones(d);
  data.centre = VectorXd::Constant(d, 0.5);
  data.centre_text = "the middle";
  v1::Fit fit;
  for (int i = 1; i <= 30; ++i) {
    v1::FitPoint* point = fit.add_history();
    point->set_phase(i < 20 ? "optimise" : "sample");
    point->set_iteration(i);
    point->set_elbo(-100.0 / i);
  }
  data.fit = fit;
  client::Diagnostics diagnostics;
  client::Suggestions suggestions;
  for (int t = 0; t < 2; ++t) {
    const int n = t == 0 ? 20 : 9;
    FidelityData fidelity{.level = t, .name = t == 0 ? "low" : "high", .cost = t == 0 ? 1.0 : 10.0, .count = n};
    fidelity.x = Eigen::MatrixXd::Constant(n, d, 0.5);
    fidelity.x.col(0).setLinSpaced(n, 0, 1);
    fidelity.y = fidelity.x.col(0).array().sin();
    for (int j = 0; j < d; ++j) {
      const VectorXd x = VectorXd::LinSpaced(5, 0, 1), y = x.array().sin();
      fidelity.slices.push_back({x, y, y.array() - 0.2, y.array() - 0.1, y.array() + 0.1, y.array() + 0.2});
    }
    data.fidelities.push_back(fidelity);
    diagnostics.fidelities.push_back({.level = t,
                                      .fidelity = fidelity.name,
                                      .count = n,
                                      .residuals = VectorXd::LinSpaced(n, -2, 2),
                                      .mean = fidelity.y,
                                      .variance = VectorXd::Constant(n, 0.01),
                                      .cdf = VectorXd::LinSpaced(n, 0.02, 0.98),
                                      .r2 = 0.97,
                                      .coverage50 = 0.5,
                                      .coverage90 = 0.9,
                                      .coverage95 = 1});
    suggestions.runs.push_back(
        {.input = VectorXd::Constant(d, 0.25), .level = t, .fidelity = fidelity.name, .cost = 1});
  }
  for (int j = 0; j < d; ++j) data.panels.push_back(j);
  data.links.push_back({0, 1, data.fidelities[0].y, data.fidelities[0].y, data.fidelities[1].y, data.fidelities[1].y});
  if (d == 2) {
    const VectorXd grid = VectorXd::LinSpaced(7, 0, 1);
    data.map = Map{grid, grid, grid * grid.transpose(), Eigen::MatrixXd::Ones(7, 7)};
  }
  diagnostics.verdict.emplace();
  diagnostics.verdict->set_kind(v1::VERDICT_KIND_CALIBRATED);
  diagnostics.verdict->set_text("19 of 20 high observations lie in their 95 % intervals.");
  data.diagnostics = diagnostics;
  data.suggestions = suggestions;
  return data;
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(PageTest, HasEveryPartWithAPicture) {
  const std::string page = RenderReport(Example(2));
  for (const char* title :
       {"Slices", "Map", "How the fidelities relate", "Can it be trusted?", "Fit history", "Where to run next"}) {
    EXPECT_TRUE(Has(page, std::string("<h2>") + title)) << title;
  }
  EXPECT_TRUE(Has(page, "9 runs"));
  EXPECT_TRUE(Has(page, "at cost 10"));
  EXPECT_TRUE(Has(page, "moments"));
  EXPECT_TRUE(Has(page, "verdict good\"><b>Calibrated</b> 19 of 20 high observations"));
  EXPECT_FALSE(Has(RenderReport(Example(1)), "<h2>Map"));
  EXPECT_TRUE(Has(RenderReport(Example(1)), "<h2>The function"));
}

TEST(PageTest, NeedsNothingElse) {
  const std::string page = RenderReport(Example(2));
  for (const char* word : {"<script", "http:", "https:", "src=", "@import", "url("})
    EXPECT_FALSE(Has(page, word)) << word;
}

TEST(PageTest, TheSameDataGiveTheSameBytes) { EXPECT_EQ(RenderReport(Example(3)), RenderReport(Example(3))); }

TEST(PageTest, NamesAndDescriptionsAreText) {
  ReportData data = Example(1);
  data.model.set_description("<script>alert(1)</script>");
  data.model.set_name("models/a<b");
  data.fidelities[0].name = "<img onerror=x>";
  data.diagnostics->fidelities[0].fidelity = "<i>";
  data.suggestions->runs[0].fidelity = "\"><u>";
  const std::string page = RenderReport(data);
  for (const char* markup : {"<script", "<img", "<i>", "<u>", "a<b"}) EXPECT_FALSE(Has(page, markup)) << markup;
  EXPECT_TRUE(Has(page, "&lt;script&gt;alert(1)"));
}

TEST(PageTest, PartsThatTheServerCouldNotAnswerSayWhy) {
  ReportData data = Example(2);
  data.diagnostics = absl::ResourceExhaustedError("too much data");
  data.suggestions = absl::DeadlineExceededError("too slow");
  data.fit = absl::NotFoundError("another server's");
  data.map.reset();
  data.links.clear();
  const std::string page = RenderReport(data);
  EXPECT_TRUE(Has(page, "too much data"));
  EXPECT_TRUE(Has(page, "too slow"));
  EXPECT_TRUE(Has(page, "another server&#39;s"));
  EXPECT_FALSE(Has(page, "<h2>Map"));
  EXPECT_FALSE(Has(page, "verdict good"));
  data.suggestions = absl::UnknownError("");
  EXPECT_FALSE(Has(RenderReport(data), "Where to run next"));
}

TEST(PageTest, AModelWithoutDataOfAFidelityIsShown) {
  ReportData data = Example(2);
  data.fidelities[0].count = 0;
  data.fidelities[0].x.resize(0, 2);
  data.fidelities[0].y.resize(0);
  data.fidelities[0].slices.clear();
  data.diagnostics->fidelities[0] = {.level = 0, .fidelity = "low"};
  EXPECT_TRUE(Has(RenderReport(data), "0 runs"));
}

TEST(PageTest, TheVerdictIsTheServers) {
  ReportData data = Example(1);
  v1::Verdict& verdict = *data.diagnostics->verdict;
  const auto expect = [&](v1::VerdictKind kind, const char* tone_and_title) {
    verdict.set_kind(kind);
    EXPECT_TRUE(Has(RenderReport(data), tone_and_title)) << tone_and_title;
  };
  expect(v1::VERDICT_KIND_CAUTIOUS, "verdict good\"><b>Cautious</b>");
  expect(v1::VERDICT_KIND_TOO_FEW, "verdict neutral\"><b>Too few observations</b>");
  expect(v1::VERDICT_KIND_UNINFORMATIVE, "verdict neutral\"><b>Uninformative</b>");
  expect(v1::VERDICT_KIND_OVERCONFIDENT, "verdict bad\"><b>Overconfident</b>");
  verdict.add_warnings("inputs are <evenly> spaced");
  expect(v1::VERDICT_KIND_CALIBRATED, "verdict neutral\"><b>Calibrated</b>");
  EXPECT_TRUE(Has(RenderReport(data), "<b>Warning</b> inputs are &lt;evenly&gt; spaced"));
}

TEST(PageTest, MediansAreShownBesideMeans) {
  ReportData data = Example(2);
  EXPECT_FALSE(Has(RenderReport(data), "</svg>median</span>"));
  data.fidelities[1].slices[0].median = data.fidelities[1].slices[0].mean.array() - 0.15;
  data.fidelities[1].warnings = {"The mean is <far> away."};
  data.map->median = Eigen::MatrixXd::Ones(7, 7);
  data.map->warnings = {"Here, too."};
  client::FidelityDiagnostics& d = data.diagnostics->fidelities[1];
  d.median = d.mean.array() - 0.25;
  d.median_rmse = 0.125;
  const std::string page = RenderReport(data);
  EXPECT_TRUE(Has(page, "class=\"curve median l0\""));
  EXPECT_TRUE(Has(page, "</svg>median</span>"));
  EXPECT_TRUE(Has(page, "<b>Warning</b> Fidelity &quot;high&quot;: The mean is &lt;far&gt; away."));
  EXPECT_TRUE(Has(page, "Median of high"));
  EXPECT_TRUE(Has(page, "<b>Warning</b> Here, too."));
  EXPECT_TRUE(Has(page, "(of the median 0.125)"));
  EXPECT_TRUE(Has(page, ", median -0.25 ("));
}

TEST(PageTest, AServerWithoutVerdictsIsSaidToGiveNone) {
  ReportData data = Example(1);
  data.diagnostics->verdict.reset();
  const std::string page = RenderReport(data);
  EXPECT_TRUE(Has(page, "verdict neutral\">This server gives no verdict"));
  EXPECT_FALSE(Has(page, "verdict good"));
}

TEST(PageTest, WithdrawnObservationsThatTheRevisionKnowsAreCounted) {
  ReportData data = Example(1);
  EXPECT_FALSE(Has(RenderReport(data), "withdrawn"));
  data.revision.set_withdrawn_count(3);
  EXPECT_TRUE(Has(RenderReport(data), "<dt>withdrawn</dt><dd>3 <small>observations that it knows: fit again"));
}

TEST(PageTest, WhyThereAreNoSuggestionsIsSaid) {
  ReportData data = Example(1);
  data.suggestions->runs.clear();
  data.suggestions->shortfall_reason = "nothing is left to learn";
  EXPECT_TRUE(Has(RenderReport(data), "No run: nothing is left to learn"));
}

TEST(FiguresTest, ChanceExplainsWhatTheBinomialDistributionSays) {
  // 95 % of 20: P(X ≤ 16) = 0.0159, P(X ≤ 17) = 0.0755; 50 % of 10: P(X ≤ 1) = 0.0107, P(X ≤ 8) = 0.9893.
  EXPECT_EQ(ExpectedWithin(20, 0.95).least, 17);
  EXPECT_EQ(ExpectedWithin(20, 0.95).most, 20);
  EXPECT_EQ(ExpectedWithin(10, 0.5).least, 2);
  EXPECT_EQ(ExpectedWithin(10, 0.5).most, 8);
  EXPECT_EQ(ExpectedWithin(1, 0.95).least, 0);
  const Counts many = ExpectedWithin(1'000'000, 0.5);
  EXPECT_NEAR(static_cast<double>(many.least), 499'020, 1);
  EXPECT_NEAR(static_cast<double>(many.most), 500'980, 1);
}

TEST(PageTest, HistoriesBeginWhereThereIsAnObjective) {
  ReportData data = Example(1);
  v1::Fit fit;
  for (const auto& [iteration, objective] : {std::pair(0, 0.0), std::pair(16, -300.0), std::pair(32, -100.0)}) {
    v1::FitPoint* point = fit.add_history();
    point->set_iteration(iteration);
    point->set_elbo(objective);
  }
  data.fit = fit;
  // Not from the 0 of a step that was not evaluated.
  EXPECT_TRUE(Has(RenderReport(data), "Objective against iteration, from -300 to -100"));
}

TEST(PageTest, TheHistoryOfTheFitSaysHowWellItsChainsMixed) {
  ReportData data = Example(1);
  EXPECT_FALSE(Has(RenderReport(data), "R̂"));
  data.fit->mutable_sampling()->set_chains(4);
  data.fit->mutable_sampling()->set_r_hat(1.5);
  data.fit->add_warnings("Chains disagree.");
  const std::string page = RenderReport(data);
  EXPECT_TRUE(Has(page, "R̂ is <b>1.500</b>"));
  EXPECT_TRUE(Has(page, "<b>Warning</b> Chains disagree."));
}

TEST(PageTest, NamesOfPhasesAtTheRightEdgeAreWhole) {
  ReportData data = Example(1);
  EXPECT_FALSE(Has(RenderReport(data), "tick halo end"));
  data.fit->mutable_history(29)->set_phase("finish");
  EXPECT_TRUE(Has(RenderReport(data), "class=\"tick halo end\">finish</text>"));
}

TEST(PageTest, AGpDoesNotUseTheLowerFidelities) {
  ReportData data = Example(1);
  data.model.set_kind(v1::MODEL_KIND_GP);
  data.fidelities[0].count = 0;
  data.fidelities[0].x.resize(0, 1);
  data.fidelities[0].y.resize(0);
  data.fidelities[0].slices.clear();
  data.links.clear();
  data.diagnostics->fidelities[0] = {.level = 0, .fidelity = "low"};
  const std::string page = RenderReport(data);
  EXPECT_TRUE(Has(page, "fidelity low</dt><dd>not used"));
  EXPECT_TRUE(Has(page, "9 runs"));
  EXPECT_FALSE(Has(page, "</svg>low</span>")) << "a legend for what is not drawn";
}

// "deflection" in mm of "thickness" in mm and "load".
void NameVariables(ReportData* data) {
  data->model.clear_inputs();
  data->model.add_inputs()->set_name("thickness");
  data->model.mutable_inputs(0)->set_unit("mm");
  if (data->model.input_dimension() > 1) data->model.add_inputs()->set_name("load");
  data->model.add_outputs()->set_name("deflection");
  data->model.mutable_outputs(0)->set_unit("mm");
}

TEST(PageTest, AxesTablesAndSymbolsHaveTheNamesAndUnits) {
  ReportData data = Example(2);
  NameVariables(&data);
  const std::string page = RenderReport(data);
  for (const char* part :
       {">thickness (mm)</text>", ">load</text>", "<th>thickness (mm)</th>", ">deflection (mm)</text>",
        ">mean deflection (mm) of low</text>", ">deflection (mm) of high</text>", "Mean of high: deflection (mm)",
        "<title>high: thickness = 0, load = 0.5, deflection = 0</title>", "thickness&nbsp;=&nbsp;0.5",
        "<dt>output</dt><dd>deflection (mm)", "thickness, load"}) {
    EXPECT_TRUE(Has(page, part)) << part;
  }
  EXPECT_FALSE(Has(page, "x1"));
  EXPECT_FALSE(Has(page, "x2"));
  EXPECT_TRUE(Has(RenderReport(Example(2)), ">x1</text>"));
  ReportData one = Example(1);
  NameVariables(&one);
  EXPECT_TRUE(Has(RenderReport(one), ">deflection (mm)</text>"));
}

TEST(PageTest, NamesOfVariablesAreText) {
  ReportData data = Example(2);
  NameVariables(&data);
  data.model.mutable_inputs(0)->set_unit("<i>");
  data.model.mutable_outputs(0)->set_unit("<u>");
  const std::string page = RenderReport(data);
  EXPECT_FALSE(Has(page, "<i>"));
  EXPECT_FALSE(Has(page, "<u>"));
}

TEST(PageTest, LongNamesAreCutToTheirAxes) {
  ReportData data = Example(2);
  NameVariables(&data);
  data.model.mutable_inputs(0)->set_name(std::string(63, 'a'));
  EXPECT_TRUE(Has(RenderReport(data), "aaa…</text>"));
}

TEST(PageTest, LinesOfSuggestedRunsDoNotCrossTheirNumbers) {
  ReportData data = Example(1);
  const std::string page = RenderReport(data);
  EXPECT_LT(page.rfind("class=\"next l"), page.find("class=\"number halo"));
}

TEST(PageTest, StandardDeviationsOverOrdersOfMagnitudeHaveLogarithmicColours) {
  ReportData data = Example(2);
  EXPECT_FALSE(Has(RenderReport(data), "logarithmic"));
  // All but a corner are below a tenth of the largest: one colour of a linear scale.
  Eigen::MatrixXd& sd = data.map->sd;
  for (Eigen::Index i = 0; i < sd.rows(); ++i) {
    for (Eigen::Index j = 0; j < sd.cols(); ++j) sd(i, j) = std::pow(10, 0.25 * static_cast<double>(i + j) - 3);
  }
  const std::string page = RenderReport(data);
  EXPECT_TRUE(Has(page, "Standard deviation of high <small>(logarithmic colours)</small>"));
  EXPECT_FALSE(Has(page, "Mean of high <small>"));
  const std::string map = page.substr(page.find("Standard deviation of high <small>"));
  const std::string cells = map.substr(map.find("crispEdges"), map.find("</g>") - map.find("crispEdges"));
  int colours = 0;
  for (const char* colour : {"#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70",
                             "#7ad151", "#bddf26", "#fde725"}) {
    colours += Has(cells, colour) ? 1 : 0;
  }
  EXPECT_EQ(colours, 11);
  sd(0, 0) = 0;
  EXPECT_TRUE(Has(RenderReport(data), ">≤ 0.001</text>"));
}

TEST(PageTest, TheObjectiveStandsWhereItIsExplained) {
  ReportData data = Example(1);
  data.revision.set_elbo(-7.25);
  const std::string page = RenderReport(data);
  EXPECT_FALSE(Has(page, "<dt>objective"));
  EXPECT_TRUE(Has(page, "the objective of this revision, -7.25. It can lie below the best"));
}

TEST(PageTest, TheHintAboutHoveringIsForThoseWhoCan) {
  const std::string page = RenderReport(Example(1));
  EXPECT_FALSE(Has(page, "Rest the mouse"));
  EXPECT_TRUE(Has(page, "<span class=\"hover\"> Hover over a symbol"));
  EXPECT_TRUE(Has(page, "@media (hover:none){.hover{display:none}}"));
}

TEST(PageTest, NumbersOfRunsAtTheRightEdgeStandOnTheLeftOfTheirLines) {
  ReportData data = Example(1);
  EXPECT_FALSE(Has(RenderReport(data), "number halo end"));
  data.suggestions->runs[0].input[0] = 1;
  EXPECT_TRUE(Has(RenderReport(data), "number halo end"));
}

}  // namespace
}  // namespace fidelio::cli
