"""How well the hyperparameters of a fit were sampled."""

import warnings

import pytest

import fidelio
from fidelio.v1 import fit_pb2

POOR = "R̂ is 1.50, and should be at most 1.1: …"


def ended(**fields):
    """A fit that has succeeded, as a server returns it."""
    wire = fit_pb2.Fit(name="models/wing/fits/3", state=fit_pb2.FIT_STATE_SUCCEEDED, **fields)
    return fidelio.Fit(None, wire)


def poor():
    sampling = fit_pb2.SamplingReport(
        chains=4, draws=24, acceptance=0.75, r_hat=1.5, effective_size=42.5, moved_chains=1, failed_curvature=2
    )
    return ended(sampling=sampling, warnings=[POOR])


def test_a_fit_has_the_report_of_its_chains_and_warnings():
    fit = poor()
    assert fit.sampling == fidelio.Sampling(4, 24, 0.75, 1.5, 42.5, 1, 2)
    assert fit.warnings == (POOR,)


def test_what_was_not_sampled_or_is_not_known_is_none():
    assert ended().sampling is None and ended().warnings == ()
    assert ended(sampling=fit_pb2.SamplingReport(chains=2, draws=1)).sampling.r_hat is None


def test_a_notebook_shows_them():
    html = poor()._repr_html_()
    assert "R̂" in html and "1.5" in html and "effective sample size" in html
    assert f"Warning: {POOR}" in html
    assert "R̂" not in ended()._repr_html_()


def test_a_wait_issues_the_warnings(monkeypatch):
    fit = poor()
    monkeypatch.setattr(fit, "_watch", lambda *_: None)
    with pytest.warns(fidelio.FidelioWarning, match="R̂ is 1.50"):
        assert fit.wait() is fit
    good = ended(sampling=fit_pb2.SamplingReport(chains=4, draws=24, r_hat=1.01, effective_size=80))
    monkeypatch.setattr(good, "_watch", lambda *_: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good.wait()
