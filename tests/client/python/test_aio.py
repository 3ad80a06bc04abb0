"""AsyncClient: the same calls, awaited."""

import asyncio
import threading

import numpy as np
import pytest
from conftest import high, low, points

import fidelio


def run(client, main):
    """Runs main(AsyncClient) against the server of `client`."""

    async def wrapped():
        async with fidelio.AsyncClient(client.address) as asynchronous:
            return await main(asynchronous)

    return asyncio.run(wrapped())


def test_a_model_is_made_learned_and_asked(client, name):
    async def main(client):
        model = await client.create_model(name, inputs=2, fidelities=["low", "high"], box=([0, 0], [1, 1]))
        x_low, x_high = points(30, seed=1), points(8, seed=2)
        await asyncio.gather(model.add(x_low, low(x_low), "low"), model.add(x_high, high(x_high), fidelity="high"))
        fit = await model.fit(seed=1)
        assert fit.state == "succeeded" and fit.revision == 1 == model.info.revision
        x = points(4, seed=3)
        mean, std = await model.predict(x, return_std=True)
        assert np.array_equal(mean, await model.predict(x)) and std.shape == (4,)
        assert len(await model.suggest(2, candidates=32, target_count=32)) == 2
        assert (await model.sample_dpp(2, candidates=32)).inputs.shape == (2, 2)
        assert len(await model.diagnose()) == 2 and len(await model.observations("low")) == 30
        assert [f.number for f in await model.fits()] == [1] and len(await fit.history()) > 1
        assert name in [m.name for m in await client.models()] and (await client.model(name)).fidelities[1] == "high"
        assert (await client.server_info()).version == fidelio.__version__
        twin = await client.import_model(await model.export(), name=f"{name}-twin")
        assert np.array_equal(await twin.predict(x), mean)
        await twin.delete()
        with pytest.raises(fidelio.NotFound):
            await client.model(f"{name}-twin")
        assert name in repr(model) and "AsyncClient" in repr(client) and name in model._repr_html_()

    run(client, main)


def big(client, name):
    model = client.create_model(name, inputs=2, fidelities=["low", "high"])
    x_low, x_high = points(150, seed=1), points(50, seed=2)
    model.add(x_low, low(x_low), fidelity="low")
    model.add(x_high, high(x_high), fidelity="high")
    return model


def test_the_loop_goes_on_while_a_fit_is_awaited(client, name):
    big(client, name)

    async def main(client):
        model = await client.model(name)
        fit = await model.fit(wait=False, seed=1)
        waiting = asyncio.create_task(fit.wait())
        models = await client.models()  # while the fit runs
        assert not waiting.done() and models
        await fit.cancel()
        with pytest.raises(fidelio.Cancelled):
            await waiting

    run(client, main)


def test_a_cancelled_wait_leaves_the_fit_running_and_no_thread(client, name):
    big(client, name)

    async def main(client):
        model = await client.model(name)
        fit = await model.fit(wait=False, seed=1)
        waiting = asyncio.create_task(fit.wait())
        await asyncio.sleep(0)  # begins
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        for thread in threading.enumerate():
            if thread.name == "fidelio-wait":
                await asyncio.get_running_loop().run_in_executor(None, thread.join)
        await fit.refresh()
        assert fit.state in ("pending", "running")
        await fit.cancel()

    run(client, main)


def test_many_calls_run_at_once(fitted):
    x = points(32, seed=3)
    expected = fitted.predict(x)

    async def main(client):
        model = await client.model(fitted.name)
        rows = await asyncio.gather(*(model.predict(x[i : i + 1]) for i in range(32)))
        assert np.allclose(np.concatenate(rows), expected, rtol=1e-12)

    run(fitted.client, main)


def test_errors_and_failed_fits_are_raised(client, name):
    async def main(client):
        model = await client.create_model(name, inputs=1)
        with pytest.raises(fidelio.FailedPrecondition):
            await model.predict([0.5])
        with pytest.raises(fidelio.FailedPrecondition):
            await model.fit()
        with pytest.raises(fidelio.InvalidArgument, match="y: "):
            await model.add([0.5], [float("nan")])

    run(client, main)
