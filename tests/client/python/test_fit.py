"""Fits: progress, budgets, cancellation, and servers that go away meanwhile."""

import io
import sys

import numpy as np
import pytest
from conftest import high, learn, low, points

import fidelio
from fidelio import _progress


def big(client, name):
    """A model whose fit takes a while."""
    model = client.create_model(name, inputs=2, fidelities=["low", "high"])
    x_low, x_high = points(150, seed=1), points(50, seed=2)
    model.add(x_low, low(x_low), fidelity="low")
    model.add(x_high, high(x_high), fidelity="high")
    return model


def test_a_callback_sees_the_fit_from_beginning_to_end(client, name):
    seen = []
    model = client.create_model(name, inputs=1)
    model.add([0.0, 0.5, 1.0], [0.0, 1.0, 0.5])
    fit = model.fit(callback=lambda fit: seen.append((fit.state, fit.fraction)))
    assert seen[-1][0] == "succeeded" == fit.state
    assert [fraction for _, fraction in seen] == sorted(fraction for _, fraction in seen)
    assert fit.revision == 1 and fit.ended and fit.error is None and fit.inference == "moments"
    assert [other.name for other in model.fits()] == [fit.name]
    history = fit.history()
    assert len(history) > 1 and np.all(np.diff(history[:, 0]) > 0) and np.all(np.diff(history[:, 2]) >= 0)


def test_options_of_an_inference_can_be_given_by_name(client, name):
    model = client.create_model(name, inputs=1)
    model.add([0.0, 0.3, 0.5, 1.0], [0.0, 0.1, 0.3, 1.0])
    assert model.fit(inference="svi", options={"steps": 20, "batch_size": 3}).state == "succeeded"
    with pytest.raises(fidelio.InvalidArgument, match=r"^margin: given, but inference='svi' does not use it"):
        model.fit(inference="svi", options={"margin": 2})


def test_the_same_seed_gives_the_same_model(client, name):
    model = learn(client.create_model(name, inputs=2, fidelities=["low", "high"]))
    first = model.predict(points(4, seed=3))
    model.fit(seed=1)
    assert np.array_equal(model.predict(points(4, seed=3)), first)
    model.fit(seed=2)
    assert not np.array_equal(model.predict(points(4, seed=3)), first)


def test_progress_is_plain_lines_without_a_terminal(client, name, capfd):
    model = client.create_model(name, inputs=1)
    model.add([0.0, 0.5, 1.0], [0.0, 1.0, 0.5])
    model.fit(progress=True)
    lines = capfd.readouterr().err.splitlines()
    assert lines[-1].startswith(f"fit 1 of {name}: succeeded") and len(lines) < 40


def test_progress_is_a_bar_where_someone_watches(client, name):
    pytest.importorskip("tqdm")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    reporter = _progress.reporter(terminal)
    model = client.create_model(name, inputs=1)
    model.add([0.0, 0.5, 1.0], [0.0, 1.0, 0.5])
    model.fit(callback=reporter)
    reporter.close()
    assert f"fit 1 of {name}: 100 %" in terminal.getvalue()


def test_progress_needs_no_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(_progress, "_watched", lambda stream: True)
    assert isinstance(_progress.reporter(io.StringIO()), _progress.Lines)


def test_a_fit_without_data_says_what_to_do(model):
    with pytest.raises(fidelio.FailedPrecondition) as caught:
        model.fit()
    assert caught.value.violations


def test_a_cancelled_fit_raises_and_leaves_the_model_alone(client, name):
    model = big(client, name)
    fit = model.fit(wait=False)
    fit.cancel()
    with pytest.raises(fidelio.Cancelled):
        fit.wait()
    assert fit.state == "cancelled" and model.refresh().revision is None


def test_a_budget_ends_a_fit_with_success(client, name):
    assert big(client, name).fit(iterations=5).state == "succeeded"


def test_a_wait_that_is_over_too_soon_leaves_the_fit_alone(client, name):
    fit = big(client, name).fit(wait=False)
    with pytest.raises(fidelio.DeadlineExceeded):
        fit.wait(timeout=0.001)
    assert fit.refresh().state in ("pending", "running")
    fit.cancel()


def test_a_fit_outlives_the_death_of_its_server(own_server):
    model = big(own_server, "big")
    kills = []

    def kill_once(fit):
        if not kills and fit.state == "running":
            kills.append(fit)
            own_server.server.kill()
            own_server.server.start()

    fit = model.fit(seed=1, callback=kill_once)
    assert kills and fit.state == "succeeded"
    assert model.predict(points(3, seed=3)).shape == (3,)
