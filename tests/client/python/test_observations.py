"""Observations can be put right: ids, copies, withdrawals and corrections."""

import warnings

import numpy as np
import pytest
from conftest import high, low, points
from fake_server import FakeServer

import fidelio
from fidelio.v1 import model_pb2, observation_pb2


def test_a_wrong_row_can_be_taken_back(client, name):
    model = client.create_model(name, inputs=2, fidelities=["low", "high"], box=([0, 0], [1, 1]))
    x = points(6, seed=1)
    added = model.add(x, low(x), fidelity="low", run_ids=[f"run_{i}" for i in range(6)])
    model.add(x[:4], high(x[:4]), fidelity="high")
    model.fit(seed=1)
    changed = model.withdraw("run_2", reason="wrong unit")
    assert (changed.rows, changed.counts, changed.revision_withdrawn) == (1, (5, 4), 1)
    assert model.info.counts == (5, 4) == model.refresh().counts and model.info.revision_withdrawn == 1
    assert model.info.withdrawn == 1 and model.revisions()[0].withdrawn == 1
    assert "run_2" not in model.observations("low").run_ids
    history = model.observations("low", withdrawn=True)
    place = history.run_ids.index("run_2")
    assert history.withdrawn.tolist().count(True) == 1 and history.withdrawn[place]
    assert history.reasons[place] == "wrong unit" and np.array_equal(history.inputs[place], x[2])
    model.fit(seed=1)
    assert model.refresh().revision_withdrawn == 0
    assert model.withdraw(batch=added).rows == 5
    with pytest.raises(fidelio.NotFound):
        model.withdraw(["run_2"])


def test_a_wrong_output_can_be_corrected(model):
    x = points(3, seed=1)
    model.add(x, [1.0, 2.0, 300.0], fidelity="low", noise=0.25, run_ids=["a", "b", "c"])
    changed = model.correct("c", 3.0, reason="typo")
    assert (changed.rows, changed.counts) == (1, (3, 0))
    now = model.observations("low")
    assert dict(zip(now.run_ids, now.outputs)) == {"a": 1.0, "b": 2.0, "c": 3.0}
    assert np.array_equal(now.noise, [0.25] * 3)
    model.correct(["b", "a"], [20.0, 10.0], noise=[0.5, 1.0])
    now = model.observations("low")
    assert dict(zip(now.run_ids, zip(now.outputs, now.noise))) == {"a": (10, 1), "b": (20, 0.5), "c": (3, 0.25)}
    history = model.observations("low", withdrawn=True)
    assert sorted(history.outputs[history.withdrawn].tolist()) == [1.0, 2.0, 300.0]


def test_a_file_that_is_added_twice_is_noticed(model):
    x = points(5, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.add(x, low(x), fidelity="low").warnings == ()
    with pytest.warns(fidelio.FidelioWarning, match="5 rows are exact copies .* rows 0, 1, 2, 3, 4 of X"):
        added = model.add(x, low(x), fidelity="low")
    assert [(w.kind, w.count, w.rows) for w in added.warnings] == [("duplicate", 5, (0, 1, 2, 3, 4))]
    model.withdraw(batch=added, reason="the same file again")
    with pytest.warns(fidelio.FidelioWarning, match="left out"):
        added = model.add(np.vstack([x, [[0.5, 0.5]]]), np.append(low(x), 1), fidelity="low", skip_duplicates=True)
    assert (added.rows, added.skipped, added.counts) == (1, 5, (6, 0))


def test_rows_far_outside_the_box_are_noticed(model):
    with pytest.warns(fidelio.FidelioWarning, match="1 row lies far outside the model's box.*row 1 of X"):
        added = model.add([[0.5, 0.5], [100.0, 0.5]], [1, 2], fidelity="low")
    assert added.warnings[0].kind == "far-outside-box" and added.counts == (2, 0)


def test_the_same_ids_again_change_nothing_but_other_content_is_refused(model):
    x = points(2, seed=1)
    model.add(x, [1, 2], fidelity="low", run_ids=["a", "b"])
    added = model.add(x, [1, 2], fidelity="low", run_ids=["a", "b"])
    assert (added.rows, added.replayed, added.counts) == (0, 2, (2, 0))
    with pytest.raises(fidelio.Aborted):
        model.add(x, [1, 3], fidelity="low", run_ids=["a", "b"])
    with pytest.raises(fidelio.InvalidArgument):
        model.add(x, [1, 3], fidelity="low", run_ids=["a b", "c"])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda m: m.withdraw(), "run_ids, batch: exactly one of them is needed"),
        (lambda m: m.withdraw("a", batch=1), "run_ids, batch: exactly one"),
        (lambda m: m.withdraw(["a", "a"]), "run_ids: 'a' is there twice"),
        (lambda m: m.withdraw([1.5]), "run_ids: 1.5, must be text"),
        (lambda m: m.withdraw(batch=0), "batch: 0, must be at least 1"),
        (lambda m: m.correct(["a", "b"], [1.0]), "y: 1 numbers, but there are 2 run_ids"),
        (lambda m: m.correct("a", float("nan")), "y: row 0 is not finite"),
        (lambda m: m.add([[1, 2]], [1], "low", run_ids=["a", "b"]), "run_ids: 2 entries, but X has 1 rows"),
        (lambda m: m.add([[1, 2]], np.ones((1, 16)), "low"), r"y: has shape \(1, 16\), but a model has one output"),
        (lambda m: m.add([[1, 2]] * 3, [1, np.nan, np.inf], "low"), r"y: rows 1, 2 \(2 of 3\) are not finite .*leave failed runs out"),
        (lambda m: m.add([[1, 2], [1, np.nan]], [1, 2], "low"), "X: row 1 is not finite"),
    ],
)  # fmt: skip
def test_what_can_not_be_is_refused_in_words_of_the_caller(model, call, message):
    with pytest.raises(fidelio.InvalidArgument, match=message):
        call(model)
    assert model.refresh().data_version == 0


def test_warnings_name_rows_of_x_whatever_the_order_and_the_chunks():
    wire = model_pb2.Model(name="models/m", input_dimension=1, observation_counts=[0, 0])
    wire.fidelities.add(name="low")
    wire.fidelities.add(name="high")

    def add(request):
        # The last row of each call is a copy.
        rows = sum(batch.inputs.rows for batch in request.observations)
        response = observation_pb2.AddObservationsResponse(data_version=1, observation_counts=[3, 3], added_count=rows)
        response.warnings.add(kind=observation_pb2.OBSERVATION_WARNING_KIND_DUPLICATE, count=1, rows=[rows - 1])
        response.warnings.add(kind=77, count=2, rows=[0], message="something new")
        return response

    with FakeServer(GetModel=lambda request: wire, AddObservations=add) as server:
        model = server.client.model("m")
        with pytest.warns(fidelio.FidelioWarning) as seen:
            added = model.add(
                np.arange(6.0), np.arange(6.0), ["high", "low", "low", "low", "high", "low"], run_ids=list("abcdef"),
                rows_per_call=3,
            )  # fmt: skip
        batches = [
            [(batch.level, list(batch.run_ids)) for batch in request.observations]
            for method, request in server.requests
            if method == "AddObservations"
        ]
    assert batches == [[(0, ["b", "c"]), (1, ["a"])], [(0, ["d", "f"]), (1, ["e"])]]
    copies, unknown = added.warnings
    assert (copies.kind, copies.count, copies.rows) == ("duplicate", 2, (0, 4))
    assert (unknown.message, unknown.count, unknown.rows) == ("something new", 4, (1, 3))
    assert len(seen) == 2 and str(copies) in str(seen[0].message)


def test_observations_of_all_fidelities_come_together(model):
    model.add(points(3, seed=1), [1, 2, 3], fidelity=["low", "high", "low"], noise=[1, 2, 3])
    every = model.observations(None)
    assert sorted(zip(every.fidelities, every.outputs, every.noise)) == [("high", 2, 2), ("low", 1, 1), ("low", 3, 3)]
    assert len(set(every.run_ids)) == 3 and every.data_versions.tolist() == [1, 1, 1]
    assert "3 rows" in repr(every) and "noise_variance" in every._repr_html_()
