"""Words, names and matrices between numpy and the contract."""

import numpy as np
import pytest

import fidelio
from fidelio import _wire
from fidelio.v1 import fit_pb2, matrix_pb2, model_pb2


def test_words_are_those_of_the_command_line():
    assert _wire.KINDS.value("mf-dgp") == model_pb2.MODEL_KIND_MF_DGP == _wire.KINDS.value("MF_DGP")
    assert _wire.KERNELS.value("matern52") == fit_pb2.KERNEL_FAMILY_MATERN_5_2
    assert _wire.KERNELS.word(fit_pb2.KERNEL_FAMILY_BY_EVIDENCE) == "evidence"
    assert _wire.INFERENCES.word(fit_pb2.INFERENCE_AUTO) == "auto"


def test_values_of_newer_servers_have_no_word_but_are_shown():
    assert _wire.KINDS.word(99) == "value 99" and _wire.KINDS.word(0) == ""


def test_names_may_be_short_or_full():
    assert _wire.model_name("wing") == "models/wing" == _wire.model_name("models/wing")
    assert (
        _wire.revision_name("wing", 3)
        == "models/wing/revisions/3"
        == _wire.revision_name("wing", "models/wing/revisions/3")
    )
    assert _wire.revision_name("wing", None) == "" and _wire.short_name("models/wing/fits/7") == "7"


def test_matrices_travel_as_bytes_and_are_read_in_both_encodings():
    x = np.arange(6.0).reshape(2, 3)
    wire = _wire.to_matrix(x.T)
    assert (wire.rows, wire.cols, len(wire.f64_le)) == (3, 2, 48)
    assert np.array_equal(_wire.from_matrix(wire, "x"), x.T)
    values = matrix_pb2.Matrix(rows=2, cols=3, values=matrix_pb2.DoubleList(values=x.ravel()))
    assert np.array_equal(_wire.from_matrix(values, "x"), x)


def test_a_matrix_that_is_not_its_shape_is_a_bug_of_the_server():
    with pytest.raises(fidelio.Internal, match="mean with 1 numbers, but 2 × 1"):
        _wire.from_matrix(matrix_pb2.Matrix(rows=2, cols=1, f64_le=bytes(8)), "mean")
