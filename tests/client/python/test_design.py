"""First designs, suggestions that say why they are few, and diagnoses with a verdict."""

import html

import numpy as np
import pytest
from conftest import learn
from fake_server import FakeServer

import fidelio
from fidelio.v1 import design_pb2, model_pb2


@pytest.fixture
def empty(client, name):
    return client.create_model(
        name,
        inputs=["angle", "speed"],
        fidelities=["low", "high"],
        costs=[1, 10],
        box=fidelio.Box(lower=[0, 10], upper=[1, 20]),
    )


@pytest.mark.parametrize("method", ["sobol", "latin-hypercube"])
def test_a_first_design_fills_the_box_without_any_data(empty, method):
    design = empty.initial_design({"low": 16, "high": 6}, method=method, seed=3)
    assert list(design.by_fidelity) == ["low", "high"] and len(design) == 22 and design.total_cost == 76
    low_x, high_x = design.inputs("low"), design.inputs("high")
    assert low_x.shape == (16, 2) and high_x.shape == (6, 2)
    assert np.all((low_x >= [0, 10]) & (low_x <= [1, 20]))
    again = empty.initial_design({"low": 16, "high": 6}, method=method, seed=3)
    assert np.array_equal(again.inputs("high"), high_x)
    assert not np.array_equal(empty.initial_design({"high": 6}, method=method, seed=4).inputs("high"), high_x)
    assert "16 low, 6 high runs" in repr(design) and "angle" in design._repr_html_()


def test_nested_designs_share_their_inputs(empty):
    design = empty.initial_design({"high": 5, "low": 20}, nested=True, seed=1)
    below = {tuple(row) for row in design.inputs("low")}
    assert all(tuple(row) in below for row in design.inputs("high"))


def test_pending_runs_are_kept_away_from(empty):
    pandas = pytest.importorskip("pandas")
    first = empty.initial_design({"low": 8, "high": 4}, seed=1)
    for pending in (first, first.to_frame(), first.by_fidelity):
        second = empty.initial_design({"low": 8}, seed=1, pending=pending)
        for row in second.inputs("low"):
            assert np.min(np.abs(first.inputs("low") - row).max(axis=1)) > 0
    with pytest.raises(fidelio.InvalidArgument, match="pending: is a data frame without a column 'fidelity'"):
        empty.initial_design({"low": 8}, pending=pandas.DataFrame({"angle": [1], "speed": [2]}))
    with pytest.raises(fidelio.InvalidArgument, match="pending: must be"):
        empty.initial_design({"low": 8}, pending=5)


def test_a_design_with_outputs_is_what_add_takes(empty):
    pytest.importorskip("pandas")
    frame = empty.initial_design({"low": 12, "high": 4}, seed=1).to_frame()
    assert list(frame.columns) == ["fidelity", "angle", "speed"]
    frame["y"] = np.where(frame.fidelity == "low", frame.angle, 2 * frame.angle)
    assert empty.add(frame).counts == (12, 4)


@pytest.mark.parametrize(
    "counts, message",
    [
        (5, "counts: 5, must say how many runs of which fidelity"),
        ({}, "counts: must name at least one fidelity"),
        ({"low": 5, 0: 5}, "each at most once"),
        ({"low": 0}, r"counts\['low'\]: 0, must be at least 1"),
        ({"medium": 5}, "fidelity: 'medium', must be one of low, high"),
    ],
)
def test_counts_that_can_not_be_are_refused(empty, counts, message):
    with pytest.raises(fidelio.InvalidArgument, match=message):
        empty.initial_design(counts)


def test_suggestions_that_are_none_say_why(fitted):
    runs = fitted.suggest(3, budget=0.1)
    assert (
        len(runs) == 0
        and "budget" in runs.reason
        and runs.reason in repr(runs)
        and html.escape(runs.reason) in runs._repr_html_()
    )
    assert runs.inputs().shape == (0, 2)


def test_suggestions_are_a_table(fitted):
    pytest.importorskip("pandas")
    runs = fitted.suggest(2, candidates=64, target_count=64, seed=1)
    assert repr(runs).splitlines()[1].split() == ["fidelity", "x1", "x2", "cost", "value"]
    frame = runs.to_frame()
    assert list(frame.columns) == ["fidelity", "x1", "x2", "cost", "value"] and len(frame) == 2
    assert np.array_equal(frame[["x1", "x2"]].to_numpy(), runs.inputs()) and isinstance(runs[:1], tuple)
    design = fitted.sample_dpp(2, candidates=64).to_frame()
    assert list(design.columns) == ["x1", "x2", "quality"]


def test_few_observations_have_no_verdict_but_a_number(fitted):
    diagnosis = fitted.diagnose()  # 8 of the highest fidelity
    assert diagnosis.verdict.kind == "too-few" and diagnosis.verdict.more_needed == 2
    assert str(diagnosis.verdict) in repr(diagnosis) and html.escape(str(diagnosis.verdict)) in diagnosis._repr_html_()
    assert diagnosis[-1].distinct == 8 and diagnosis.revision == fitted.info.revision


def test_evenly_spaced_inputs_are_warned_about(client, name):
    model = client.create_model(name, inputs=1, fidelities=["low", "high"], box=([0], [1]))
    x_low, x_high = np.random.default_rng(1).uniform(size=30), np.linspace(0, 1, 11)
    model.add(x_low, np.sin(8 * x_low), fidelity="low")
    model.add(x_high, 2 * np.sin(8 * x_high), fidelity="high")
    model.fit(seed=1)
    diagnosis = model.diagnose()
    assert diagnosis.warnings and f"Warning: {diagnosis.warnings[0]}" in repr(diagnosis)


def test_a_diagnosis_is_a_list_of_fidelities_with_a_verdict():
    wire = model_pb2.Model(name="models/m", input_dimension=1, observation_counts=[3])
    wire.fidelities.add(name="only")
    response = design_pb2.DiagnoseResponse(revision="models/m/revisions/4", data_version=2, withdrawn_count=1)
    response.fidelities.add(fidelity="only", count=3, distinct_count=2, r2=0.5, coverage50=0.3, coverage95=1)
    response.verdict.kind = design_pb2.VERDICT_KIND_OVERCONFIDENT
    response.verdict.text = "Do not rely on it."
    response.verdict.warnings.append("<b>Copies.</b>")
    with FakeServer(GetModel=lambda request: wire, Diagnose=lambda request: response) as server:
        diagnosis = server.client.model("m").diagnose()
    (only,) = diagnosis
    assert only is diagnosis[0] and len(diagnosis) == 1 and only.distinct == 2
    assert (diagnosis.verdict.kind, diagnosis.withdrawn, diagnosis.revision) == ("overconfident", 1, 4)
    assert "Do not rely on it." in repr(diagnosis) and "30 %" in repr(diagnosis)
    assert "&lt;b&gt;Copies." in diagnosis._repr_html_()  # text of others is not markup


def test_revisions_can_be_deleted(client, name):
    model = learn(client.create_model(name, inputs=2, fidelities=["low", "high"]))
    model.fit(seed=2)
    with pytest.raises(fidelio.FailedPrecondition):
        model.delete_revision(2)
    model.delete_revision(1)
    assert [revision.number for revision in model.revisions()] == [2]
    model.update(keep_revisions=1)
    model.fit(seed=3)
    assert [revision.number for revision in model.revisions()] == [3]
