"""Tests of the Python package run against the real server: the program that FIDELIO_SERVER_BINARY names."""

import itertools

import numpy as np
import pytest

import fidelio

_numbers = itertools.count(1)


def low(x):
    return np.sin(8 * x[:, 0]) + 0.3 * x[:, 1]


def high(x):
    return 2 * low(x) + x[:, 0] - x[:, 1]


def points(count, seed):
    return np.random.default_rng(seed).uniform(size=(count, 2))


@pytest.fixture(scope="session")
def client():
    with fidelio.local() as client:
        yield client


@pytest.fixture
def name():
    """Of a model that no other test has."""
    return f"model-{next(_numbers)}"


@pytest.fixture
def model(client, name):
    """Without data."""
    return client.create_model(name, inputs=2, fidelities=["low", "high"], costs=[1, 10], box=([0, 0], [1, 1]))


def learn(model):
    """Gives a model of two fidelities its data, and fits it."""
    x_low, x_high = points(40, seed=1), points(8, seed=2)
    model.add(x_low, low(x_low), fidelity="low")
    model.add(x_high, high(x_high), fidelity="high")
    model.fit(seed=1)
    return model


@pytest.fixture(scope="session")
def fitted(client):
    """Shared: tests must not change it."""
    return learn(client.create_model("fitted", inputs=2, fidelities=["low", "high"], costs=[1, 10]))


@pytest.fixture
def own_server():
    """A client whose server the test may kill."""
    with fidelio.local() as client:
        yield client
