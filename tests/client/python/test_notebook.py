"""What notebooks show: tables, frames, pictures and the report."""

import os
import sys

import numpy as np
import pytest
from conftest import points

import fidelio
from fidelio import _report


def test_models_and_fits_are_tables(fitted):
    html = fitted._repr_html_()
    assert "Model fitted" in html and "<td" in html and "revision" in html
    fit = fitted.fits()[0]
    assert "succeeded" in fit._repr_html_() and fit.inference in fit._repr_html_()


def test_a_description_is_not_markup(client, name):
    model = client.create_model(name, inputs=1, description="<script>alert(1)</script>")
    assert "<script>" not in model._repr_html_() and "&lt;script&gt;" in model._repr_html_()


def test_predictions_are_tables_and_frames(fitted):
    x = points(30, seed=1)
    posterior = fitted.posterior(x, quantiles=[0.05, 0.95])
    assert "30 inputs" in repr(posterior) and "10 more rows" in posterior._repr_html_() and len(posterior) == 30
    pytest.importorskip("pandas")
    frame = posterior.to_frame()
    assert list(frame.columns) == ["x1", "x2", "mean", "std", "q0.05", "q0.95", "median"]
    assert np.array_equal(frame["std"], posterior.std) and np.array_equal(frame[["x1", "x2"]], x)


def test_diagnoses_are_tables_and_frames(fitted):
    diagnosis = fitted.diagnose()
    lines = repr(diagnosis).splitlines()
    assert lines[1].split()[:2] == ["fidelity", "observations"] and lines[3].split()[:2] == ["high", "8"]
    assert "array(" not in repr(diagnosis[0])
    pytest.importorskip("pandas")
    frame = diagnosis.to_frame()
    assert len(frame) == 48 and np.allclose(frame["residual"], (frame["observed"] - frame["mean"]) / frame["std"])
    assert np.allclose(frame["observed"][:40], fitted.observations("low").outputs)


def test_frames_need_pandas_and_say_so(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        fitted.posterior(points(2, seed=1)).to_frame()


def test_pictures_need_matplotlib_and_say_so(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        fitted.plot()


def test_models_and_diagnoses_are_drawn(client, name, fitted, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = fitted.plot("low", at=[0.5, 0.2], points=20)
    first, second = figure.axes
    assert (first.get_xlabel(), second.get_xlabel()) == ("x1", "x2")
    along, mean = second.get_lines()[0].get_data()
    assert np.allclose(mean, fitted.predict(np.column_stack([np.full(20, 0.5), along]), "low"))
    figure.savefig(tmp_path / "model.png")
    figure = fitted.diagnose().plot()
    assert len(figure.axes) == 2
    figure.savefig(tmp_path / "diagnosis.png")
    model = client.create_model(name, inputs=1)
    model.add([0.0, 0.3, 0.5, 1.0], [0, 1, 4, 2])
    model.fit()
    _, own = plt.subplots()
    assert model.plot(axes=own) is own.figure and len(own.get_lines()) == 2  # the mean and the observations
    with pytest.raises(fidelio.InvalidArgument, match="at: 3 numbers, but the model has 2 inputs"):
        fitted.plot(at=[1, 2, 3])
    plt.close("all")


def test_a_report_is_a_path_that_shows_its_page(tmp_path):
    path = tmp_path / "report.html"
    path.write_text('<!doctype html><p class="x">ä & b</p>', encoding="utf-8")
    report = _report.Report(str(path))
    assert report == str(path) and os.fspath(report) == str(path) and isinstance(report, str)
    assert '<iframe srcdoc="&lt;!doctype html&gt;&lt;p class=&quot;x&quot;&gt;ä &amp; b' in report._repr_html_()
    path.unlink()
    assert "No such file" in report._repr_html_()
