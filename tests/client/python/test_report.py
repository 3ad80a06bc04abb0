"""Model.report, which the command `fidelio` (FIDELIO_BINARY) writes."""

import os

import pytest

import fidelio

pytestmark = pytest.mark.skipif("FIDELIO_BINARY" not in os.environ, reason="needs the command fidelio")


def test_a_report_is_a_page_about_the_model(fitted, tmp_path):
    path = tmp_path / "report.html"
    assert fitted.report(path) == str(path)
    page = path.read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>") and fitted.name in page


def test_a_report_that_can_not_be_written_says_why(model, tmp_path):
    with pytest.raises(fidelio.FidelioError, match="(?s)report failed.*fit"):
        model.report(tmp_path / "report.html")


def test_without_the_command_the_error_says_what_is_needed(fitted, monkeypatch, tmp_path):
    monkeypatch.delenv("FIDELIO_BINARY")
    monkeypatch.setenv("PATH", "/nowhere")
    client = fidelio.Client(fitted.client.address)  # does not know where its server's programs are
    with pytest.raises(fidelio.ProgramNotFound, match="fidelio was not found"):
        client.model("fitted").report(tmp_path / "report.html")
