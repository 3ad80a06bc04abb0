"""What a model takes, and what it answers."""

import numpy as np
import pytest
from conftest import high, learn, low, points

import fidelio
from fidelio import _caller, _predict


def test_a_new_model_is_what_was_asked_for(client, name):
    model = client.create_model(
        name, inputs=3, fidelities=["a", "b"], costs=[1, 5], box=([0, 0, 0], [1, 2, 3]), description="wing",
        transform="bounded", bounds=(-1, 4),
    )  # fmt: skip
    info = client.model(name).info
    assert (info.inputs, info.description, info.kind, info.transform, info.bounds) == (
        3,
        "wing",
        "mf-dgp",
        "bounded",
        (-1, 4),
    )
    assert info.fidelities == (fidelio.Fidelity("a", 1), fidelio.Fidelity("b", 5))
    assert info.box[1].tolist() == [1, 2, 3]
    assert info.counts == (0, 0) and info.revision is None
    assert name in [other.name for other in client.models()]
    model.delete()
    assert name not in [other.name for other in client.models()]


def test_exist_ok_takes_the_model_that_is_there_but_no_other_one(client, model):
    same = {"fidelities": ["low", "high"], "costs": [1, 10], "box": ([0, 0], [1, 1])}
    again = client.create_model(model.name, inputs=2, **same, exist_ok=True)
    assert again.info.etag == model.info.etag
    for change in ({"fidelities": ["high", "low"]}, {"costs": [1, 2]}, {"kind": "gp"}, {"box": None}):
        with pytest.raises(
            fidelio.InvalidArgument, match="(?s)exists, but it is not what this call would create.*, not"
        ):
            client.create_model(model.name, inputs=2, **{**same, **change}, exist_ok=True)
    with pytest.raises(fidelio.InvalidArgument, match="inputs: 2, not 3"):
        client.create_model(model.name, inputs=3, fidelities=2, exist_ok=True)
    with pytest.raises(fidelio.AlreadyExists):
        client.create_model(model.name, inputs=2, fidelities=2)


def test_update_changes_what_is_given_and_nothing_else(model):
    model.update(description="new", costs=[2, 20])
    info = model.refresh()
    assert info.description == "new" and [f.cost for f in info.fidelities] == [2, 20]
    assert [f.name for f in info.fidelities] == ["low", "high"] and info.box is not None
    model.update(fidelities=["coarse", "fine"], box=([0, 0], [2, 2]))
    assert model.fidelities == ["coarse", "fine"] and model.info.box[1].tolist() == [2, 2]


def test_observations_come_back_as_they_were_added(model):
    x, y = points(7, seed=3), np.arange(7.0)
    added = model.add(x, y, fidelity="low", noise=0.25)
    assert (added.rows, added.data_version, added.counts) == (7, 1, (7, 0))
    back = model.observations("low")
    assert np.array_equal(back.inputs, x) and np.array_equal(back.outputs, y) and np.array_equal(back.noise, [0.25] * 7)
    assert model.observations("high").inputs.shape == (0, 2)


def test_one_call_adds_rows_of_several_fidelities_at_once(model):
    x, y = points(6, seed=3), np.arange(6.0)
    added = model.add(x, y, fidelity=["high", "low", "low", "high", "low", "low"])
    assert added.data_version == 1 and added.counts == (4, 2)
    assert model.observations("high").outputs.tolist() == [0, 3]
    assert model.observations(0).outputs.tolist() == [1, 2, 4, 5]


def test_many_rows_go_in_chunks_in_their_order(model):
    x, y = points(2500, seed=3), np.arange(2500.0)
    added = model.add(x, y, fidelity="low", noise=np.arange(2500.0), rows_per_call=1000)
    assert added.data_version == 3 and added.counts == (2500, 0)
    back = model.observations("low")
    assert np.array_equal(back.inputs, x) and np.array_equal(back.outputs, y) and np.array_equal(back.noise, y)


def test_a_bad_chunk_tells_what_was_committed_before_it(client, name):
    model = client.create_model(name, inputs=2, fidelities=["low", "high"], transform="log")
    y = np.arange(25.0)
    y[17] = -3
    message = r"(?s)^y\[17\]: -3.*rows 10 to 19 of X; the 10 before them are committed"
    with pytest.raises(fidelio.InvalidArgument, match=message) as caught:
        model.add(points(25, seed=3), y, fidelity="low", rows_per_call=10)
    assert caught.value.rows_committed == 10
    assert model.refresh().counts == (10, 0)


def test_outputs_that_are_none_are_refused_before_any_chunk_is_sent(model):
    y = np.arange(25.0)
    y[17] = np.nan
    with pytest.raises(fidelio.InvalidArgument, match="y: row 17 is not finite"):
        model.add(points(25, seed=3), y, fidelity="low", rows_per_call=10)
    assert model.refresh().counts == (0, 0)


@pytest.mark.filterwarnings("ignore::fidelio.FidelioWarning")  # the same rows, again and again
def test_arrays_in_any_layout_mean_the_same(model):
    x = points(6, seed=4)
    for layout in (np.asfortranarray(x), x.astype(">f8"), x.tolist(), x[::-1][::-1]):
        model.add(layout, low(x), fidelity="low")
    assert np.array_equal(model.observations("low").inputs, np.tile(x, (4, 1)))


def test_predictions_are_near_the_truth_and_know_how_near(fitted):
    x = points(200, seed=5)
    mean, std, quantiles = fitted.predict(x, return_std=True, quantiles=[0.025, 0.975])
    assert np.sqrt(np.mean((mean - high(x)) ** 2)) < 0.1 * np.std(high(x))
    assert np.mean((quantiles[:, 0] <= high(x)) & (high(x) <= quantiles[:, 1])) > 0.8
    assert np.all(std > 0) and np.all(quantiles[:, 0] < quantiles[:, 1])
    assert np.allclose(fitted.predict(x, "low"), low(x), atol=0.2)
    assert np.array_equal(fitted.predict(x), mean)


def test_covariance_and_gradient_agree_with_the_rest(fitted):
    x = points(5, seed=6)
    mean, std, covariance, gradient = fitted.predict(x, return_std=True, return_cov=True, return_gradient=True)
    assert covariance.shape == (5, 5) and np.allclose(np.sqrt(np.diag(covariance)), std)
    step = 1e-5
    for column in range(2):
        shift = np.eye(2)[column] * step
        difference = (fitted.predict(x + shift) - fitted.predict(x - shift)) / (2 * step)
        assert np.allclose(gradient[:, column], difference, rtol=1e-4, atol=1e-4)


def test_noise_is_added_when_asked_for(model):
    x_low, x_high = points(30, seed=1), points(8, seed=2)
    model.add(x_low, low(x_low), fidelity="low", noise=1e-6)
    model.add(x_high, high(x_high), fidelity="high", noise=0.04)
    model.fit(seed=1)
    x = points(4, seed=3)
    without, with_noise = model.posterior(x), model.posterior(x, include_noise=True)
    assert np.allclose(with_noise.variance - without.variance, 0.04)


def test_many_inputs_are_streamed_and_answered_as_if_in_one_call(fitted, monkeypatch):
    x = points(2500, seed=7)
    whole = fitted.posterior(x, quantiles=[0.5], gradient=True)
    monkeypatch.setattr(_predict, "_ROWS_PER_CALL", 2000)
    monkeypatch.setattr(_predict, "_ROWS_PER_CHUNK", 1000)
    streamed = fitted.posterior(x, quantiles=[0.5], gradient=True)
    assert streamed.revision == whole.revision
    assert streamed.median is not None and np.allclose(streamed.median, streamed.quantiles[:, 0])
    for field in ("mean", "variance", "quantiles", "gradient", "median"):
        assert np.allclose(getattr(streamed, field), getattr(whole, field), rtol=1e-9, atol=1e-9)


def test_skewed_predictions_are_warned_about(client, name):
    # Outputs over 12 decades, predicted beside them.
    model = client.create_model(name, inputs=1, transform="log")
    model.add([0, 0.2, 0.35, 0.6, 0.85, 1], [1e-6, 1e4, 1e-2, 1e6, 1e-5, 1e3])
    model.fit(seed=1)
    posterior = model.posterior([1.3])
    assert posterior.median[0] < 1e-3 * posterior.mean[0] < 1e9
    assert "outside the central 50 % interval" in posterior.warnings[0]
    assert "Warning: At 1 of 1 input" in posterior._repr_html_()
    with pytest.warns(fidelio.FidelioWarning, match="use the median"):
        model.predict([1.3])
    diagnosis = model.diagnose()
    assert diagnosis[0].median.shape == (6,) and 0 < diagnosis[0].median_rmse < diagnosis[0].rmse
    assert list(diagnosis.to_frame()["median"]) == list(diagnosis[0].median)
    assert any("left-out observations" in warning for warning in diagnosis.warnings)


def test_a_stream_goes_on_where_it_was_when_the_server_comes_back(own_server, monkeypatch):
    model = learn(own_server.create_model("wing", inputs=2, fidelities=["low", "high"]))
    x = points(2500, seed=7)
    whole = model.predict(x)
    monkeypatch.setattr(_predict, "_ROWS_PER_CALL", 100)
    monkeypatch.setattr(_predict, "_ROWS_PER_CHUNK", 50)
    once, streams = _caller.Caller.once, []

    class Dying:
        """A stream whose server dies after the second answer."""

        def __init__(self, stream):
            self._stream, self.cancel = stream, stream.cancel

        def __iter__(self):
            for number, answer in enumerate(self._stream):
                yield answer
                if number == 1:
                    own_server.server.kill()
                    own_server.server.start()

    def wrapped(self, method, request, deadline):
        stream = once(self, method, request, deadline)
        if method != "PredictStream":
            return stream
        streams.append(stream)
        return Dying(stream) if len(streams) == 1 else stream

    monkeypatch.setattr(_caller.Caller, "once", wrapped)
    assert np.allclose(model.predict(x), whole, rtol=1e-9, atol=1e-9)
    assert len(streams) == 2


def test_paths_are_joint_samples_that_a_seed_repeats(fitted):
    x = points(6, seed=8)
    paths = fitted.sample_paths(x, 400, seed=3)
    assert paths.shape == (400, 6)
    assert np.array_equal(paths, fitted.sample_paths(x, 400, seed=3))
    mean, std = fitted.predict(x, return_std=True)
    assert np.all(abs(paths.mean(axis=0) - mean) < 6 * std / 20)


def test_paths_may_be_functions_that_other_calls_ask_again(fitted):
    x = points(6, seed=8)
    paths = fitted.sample_paths(x, 3, kind="function", seed=3)
    again = fitted.sample_paths(x[2:4], 2, kind="function", seed=3)
    assert paths.shape == (3, 6) and np.allclose(again, paths[:2, 2:4], rtol=1e-9, atol=1e-9)


def test_designs_choose_among_the_candidates(fitted):
    candidates = points(50, seed=9)
    design = fitted.sample_dpp(4, candidates=candidates, seed=1)
    assert np.array_equal(design.inputs, candidates[design.indices]) and len(set(design.indices)) == 4
    assert design.variance_after < design.variance_before
    again = fitted.sample_dpp(4, candidates=candidates, quality=np.ones(50), seed=1)
    assert np.array_equal(again.indices, fitted.sample_dpp(4, candidates=candidates, quality="none", seed=1).indices)
    assert fitted.sample_dpp(2, method="map", candidates=128).inputs.shape == (2, 2)


def test_suggestions_heed_budget_and_fidelities(fitted):
    runs = fitted.suggest(5, budget=12, candidates=64, target_count=64, seed=1)
    assert 0 < len(runs) <= 5 and runs.total_cost <= 12
    assert sum(run.cost for run in runs) == runs.total_cost
    assert runs.inputs().shape == (len(runs), 2)
    only = fitted.suggest(
        2, fidelities=["low"], criterion="expected-improvement", maximise=True, candidates=64, target_count=64
    )
    assert {run.fidelity for run in only} == {"low"}


def test_a_diagnosis_tells_of_every_fidelity(fitted):
    below, above = fitted.diagnose()
    assert (below.fidelity, below.count, above.fidelity, above.count) == ("low", 40, "high", 8)
    assert below.residuals.shape == (40,) and below.r2 > 0.9 and 0 <= above.coverage90 <= 1
    seen = fitted.observations("low").outputs
    assert np.allclose(below.residuals, (seen - below.mean) / np.sqrt(below.variance))
    assert np.all((above.cdf >= 0) & (above.cdf <= 1))


def test_conditioning_takes_new_observations_into_account_without_a_fit(client, name):
    model = learn(client.create_model(name, inputs=2, fidelities=["low", "high"]))
    x = np.array([[0.5, 0.5]])
    added = model.add(x, [9.0], fidelity="high", condition=True)
    assert added.revision == 2 == model.info.revision
    assert model.predict(x, min_data_version=added.data_version)[0] > 3 + high(x)[0]
    assert [revision.origin for revision in model.revisions()] == ["condition", "fit"]


def test_rollback_predicts_as_before(client, name):
    model = learn(client.create_model(name, inputs=2, fidelities=["low", "high"]))
    x = points(3, seed=3)
    before = model.predict(x)
    model.add([[0.5, 0.5]], [9.0], fidelity="high", condition=True)
    assert not np.array_equal(model.predict(x), before)
    assert np.array_equal(model.predict(x, revision=1), before)
    assert model.rollback(1).revision == 1
    assert np.array_equal(model.predict(x), before)
    assert [revision.current for revision in model.revisions()] == [False, True]


def test_an_exported_model_predicts_the_same_elsewhere(fitted, own_server, tmp_path):
    path = tmp_path / "model.fidelio"
    assert fitted.export(path) is None
    x = points(5, seed=1)
    for source in (path, path.read_bytes(), open(path, "rb"), fitted.export()):
        twin = own_server.import_model(source, name="twin")
        assert np.array_equal(twin.predict(x), fitted.predict(x))
        twin.delete()


def test_a_model_of_one_input_takes_plain_lists(client, name):
    model = client.create_model(name, inputs=1)
    model.add([0.0, 0.25, 0.5, 0.75, 1.0], [0, 1, 4, 9, 16])
    model.fit()
    assert model.predict([0.3, 0.6]).shape == (2,)


def test_the_server_says_what_it_is(client):
    info = client.server_info()
    assert info.version == fidelio.__version__
    assert "mf-dgp" in info.kinds and info.role == "admin" and info.limits.max_message_bytes > 0
    svi = next(method for method in info.methods if method.inference == "svi")
    assert (svi.kind, svi.maturity, svi.chosen_by_auto) == ("mf-dgp", "stable", "")
    assert [option.name for option in svi.options] == ["inducing_points", "batch_size", "steps"]
    assert svi.options[2].least == 1 and svi.options[2].whole and svi.options[2].default.startswith("35000")
