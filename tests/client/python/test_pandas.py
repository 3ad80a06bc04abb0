"""Data frames and series go in as they are."""

import numpy as np
import pytest
from conftest import low, points

import fidelio

pandas = pytest.importorskip("pandas")


def test_frames_and_series_are_observations(model):
    x = points(6, seed=1)
    frame = pandas.DataFrame(x, columns=["x1", "x2"], index=range(100, 106))
    fidelity = pandas.Series(["low", "high"] * 3, index=frame.index)
    model.add(frame, pandas.Series(low(x), index=frame.index), fidelity=fidelity)
    assert np.array_equal(model.observations("high").inputs, x[1::2])
    assert np.array_equal(model.observations("high").outputs, low(x)[1::2])


def test_columns_go_by_name_not_by_place(fitted):
    x = points(6, seed=1)
    model = fitted.client.model(fitted.name)
    frame = pandas.DataFrame(x, columns=["x1", "x2"])
    expected = model.predict(frame)
    assert np.array_equal(expected, fitted.predict(x))
    assert np.array_equal(model.predict(frame[["x2", "x1"]]), expected)
    assert np.array_equal(fitted.client.model(fitted.name).predict(frame[["x2", "x1"]]), expected)
    with pytest.raises(
        fidelio.InvalidArgument, match="columns 'x1', 'height', but the inputs of the model have no names"
    ):
        model.predict(frame.rename(columns={"x2": "height"}))
