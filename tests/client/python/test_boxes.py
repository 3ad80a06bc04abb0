"""Boxes: corners, and pairs as scipy has them, are never confused."""

import numpy as np
import pytest

import fidelio
from fidelio._boxes import box_of


@pytest.mark.parametrize(
    "box, dimension, lower, upper",
    [
        (([0, 0], [1, 1]), 2, (0, 0), (1, 1)),
        ([np.array([0, -1]), np.array([1, 1])], 2, (0, -1), (1, 1)),  # as pairs, the second would be empty
        ([(0, 1), (1, 2)], 2, (0, 1), (1, 2)),  # both readings are this box
        ([(0, 1), (2, 5), (-1, 1)], 3, (0, 2, -1), (1, 5, 1)),
        (([0, 2, -1], [1, 5, 1]), 3, (0, 2, -1), (1, 5, 1)),
        ([(0, 1)], 1, (0,), (1,)),
        (([0], [1]), 1, (0,), (1,)),
        ((0, 1), 1, (0,), (1,)),
        (np.array([[0, 0, 0], [1, 2, 3]]), 3, (0, 0, 0), (1, 2, 3)),
        (fidelio.Box(lower=[0, 1], upper=[2, 5]), 2, (0, 1), (2, 5)),
        (fidelio.Box.from_bounds([(0, 1), (2, 5)]), 2, (0, 2), (1, 5)),
    ],
)
def test_clear_boxes_are_taken(box, dimension, lower, upper):
    assert box_of(box, dimension) == fidelio.Box(lower, upper)


@pytest.mark.parametrize(
    "box, dimension, message",
    [
        ([(0, 1), (2, 5)], 2, r"may mean .* say: fidelio.Box\(lower=\[…\], upper=\[…\]\) or fidelio.Box.from_bounds"),
        ([(0, 1), (0, 1)], 2, "may mean"),
        (([0, 5], [1, 3]), 2, "may mean"),
        (([0, 0], [1, 0]), 2, "input 1 goes from 0 to 0"),
        (([0, 3, 0], [1, 2, 1]), 3, "input 1 goes from 3 to 2"),
        ([(0, 1), (5, 2), (0, 1)], 3, "input 1 goes from 5 to 2"),
        (([0, 0], [1, 1]), 3, "has 2 inputs, but the model has 3"),
        ([1, 2, 3], 3, "must be"),
        (([0], [1, 2]), 2, "must be"),
        ("box", 2, "must be"),
        (([0, np.nan], [1, 1]), 2, "input 1 goes from nan"),
        (fidelio.Box([0], [1]), 2, "has 1 inputs, but the model has 2"),
    ],
)
def test_other_boxes_are_refused(box, dimension, message):
    with pytest.raises(fidelio.InvalidArgument, match=message):
        box_of(box, dimension)


def test_models_are_created_and_updated_with_pairs(client, name, model):
    created = client.create_model(f"{name}-three", inputs=3, box=[(0, 1), (2, 5), (-1, 1)])
    assert [corner.tolist() for corner in created.info.box] == [[0, 2, -1], [1, 5, 1]]
    with pytest.raises(fidelio.InvalidArgument, match="may mean"):
        client.create_model(f"{name}-two", inputs=2, box=[(0, 1), (2, 5)])
    with pytest.raises(fidelio.InvalidArgument, match="may mean"):
        model.update(box=[(0, 1), (2, 5)])
    assert model.update(box=fidelio.Box.from_bounds([(0, 1), (2, 5)])).box[1].tolist() == [1, 5]
