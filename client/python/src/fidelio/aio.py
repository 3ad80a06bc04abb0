"""AsyncClient: Fidelio for asyncio.

Every call runs in a thread of the client's own, so that the event loop never waits for the server. Calls of one client
run at the same time, up to `threads` of them; further calls queue. Waiting for a fit takes a thread of its own.

Cancelling an awaited call (a timeout of asyncio, a cancelled task) stops waiting for it. A request that was sent is not
taken back: the server completes it, as it does when a process ends. A cancelled wait for a fit leaves the fit running;
AsyncFit.cancel stops it.

    async with fidelio.AsyncClient("host:50051") as client:
        model = await client.create_model("wing", inputs=["angle", "speed"], fidelities=["coarse", "fine"])
        await model.add(X, y, fidelity="coarse")
        fit = await model.fit(wait=False)
        await fit.wait()
        mean, std = await model.predict(X, return_std=True)
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import threading
from typing import TYPE_CHECKING, Any, Awaitable, Callable, List, Literal, Optional, Tuple, TypeVar, Union, overload

from fidelio._types import FidelityLike, FitState
from fidelio._wire import Array
from fidelio.client import Client
from fidelio.fit import Fit, OnEvent
from fidelio.model import Model
from fidelio.results import ModelInfo

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")
T = TypeVar("T")


def _awaitable(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], Awaitable[T]]:
    """A method of the synchronous class, to be awaited."""

    @functools.wraps(method)
    async def call(self: Any, *arguments: Any, **options: Any) -> Any:
        return await self._run(functools.partial(method, self.sync, *arguments, **options))

    return call


def _finding(method: Callable[Concatenate[Any, P], Model]) -> Callable[Concatenate[Any, P], Awaitable[AsyncModel]]:
    """The same of methods that return a model."""

    @functools.wraps(method)
    async def call(self: Any, *arguments: Any, **options: Any) -> AsyncModel:
        return AsyncModel(await self._run(functools.partial(method, self.sync, *arguments, **options)), self._threads)

    return call


def _fitting(method: Callable[Concatenate[Any, P], Fit]) -> Callable[Concatenate[Any, P], Awaitable[AsyncFit]]:
    """The same of Model.fit, which waits without a thread of the pool."""

    @functools.wraps(method)
    async def call(
        self: Any,
        progress: bool = False,
        *,
        wait: bool = True,
        callback: Optional[OnEvent] = None,
        timeout: Optional[float] = None,
        **options: Any,
    ) -> AsyncFit:
        start: Any = method
        fit = AsyncFit(await self._run(functools.partial(start, self.sync, wait=False, **options)), self._threads)
        if wait:
            await fit.wait(progress, callback, timeout)
            if not fit.sync.not_served:
                self.sync._known(revision=fit.sync.revision)
        return fit

    return call  # type: ignore[return-value]


class _Threads:
    """The threads of an AsyncClient."""

    def __init__(self, threads: int) -> None:
        self._pool = concurrent.futures.ThreadPoolExecutor(threads, thread_name_prefix="fidelio")

    async def run(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    def close(self) -> None:
        self._pool.shutdown(wait=False)


class _Handle:
    def __init__(self, sync: Any, threads: _Threads) -> None:
        self.sync = sync
        self._threads = threads

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.sync!r}>"

    async def _run(self, call: Callable[[], T]) -> T:
        return await self._threads.run(call)


class AsyncFit(_Handle):
    """A fit, as fidelio.Fit, whose attributes it has. `sync` is that fit."""

    sync: Fit
    refresh = _awaitable(Fit.refresh)
    cancel = _awaitable(Fit.cancel)
    history = _awaitable(Fit.history)

    @property
    def state(self) -> FitState:
        """As Fit.state."""
        return self.sync.state

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.sync, name)

    def _repr_html_(self) -> str:
        return self.sync._repr_html_()

    async def wait(
        self, progress: bool = False, callback: Optional[OnEvent] = None, timeout: Optional[float] = None
    ) -> AsyncFit:
        """Waits until the fit has ended, as Fit.wait. The callback is called in another thread.

        Cancelling it leaves the fit running.

        Returns
        -------
        AsyncFit
            This one.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        watched = Fit(self.sync._caller, self.sync._wire)

        def finish(error: Optional[BaseException]) -> None:
            if not done.done():
                done.set_result(None) if error is None else done.set_exception(error)

        def watch() -> None:
            error: Optional[BaseException] = None
            try:
                watched.wait(progress, callback, timeout)
            except BaseException as caught:
                error = caught
            try:
                loop.call_soon_threadsafe(finish, error)
            except RuntimeError:  # the loop was closed meanwhile
                pass

        threading.Thread(target=watch, name="fidelio-wait", daemon=True).start()
        try:
            await done
        finally:
            watched._abandon()
            self.sync._wire = watched._wire
        return self


class AsyncModel(_Handle):
    """A model, as fidelio.Model, whose methods are to be awaited. `sync` is that model."""

    sync: Model
    refresh = _awaitable(Model.refresh)
    update = _awaitable(Model.update)
    delete = _awaitable(Model.delete)
    revisions = _awaitable(Model.revisions)
    rollback = _awaitable(Model.rollback)
    delete_revision = _awaitable(Model.delete_revision)
    export = _awaitable(Model.export)
    report = _awaitable(Model.report)
    add = _awaitable(Model.add)
    withdraw = _awaitable(Model.withdraw)
    correct = _awaitable(Model.correct)
    observations = _awaitable(Model.observations)
    posterior = _awaitable(Model.posterior)
    sample_paths = _awaitable(Model.sample_paths)
    initial_design = _awaitable(Model.initial_design)
    sample_dpp = _awaitable(Model.sample_dpp)
    suggest = _awaitable(Model.suggest)
    diagnose = _awaitable(Model.diagnose)

    @property
    def name(self) -> str:
        """As Model.name."""
        return self.sync.name

    @property
    def info(self) -> ModelInfo:
        """As Model.info."""
        return self.sync.info

    @property
    def fidelities(self) -> List[str]:
        """As Model.fidelities."""
        return self.sync.fidelities

    def _repr_html_(self) -> str:
        return self.sync._repr_html_()

    fit = _fitting(Model.fit)

    async def fits(self) -> List[AsyncFit]:
        """All fits of the model, the newest first."""
        return [AsyncFit(fit, self._threads) for fit in await self._run(self.sync.fits)]

    @overload
    async def predict(
        self, X: Any, fidelity: FidelityLike = ..., *, return_std: Literal[False] = ..., **options: Any
    ) -> Array: ...

    @overload
    async def predict(
        self, X: Any, fidelity: FidelityLike = ..., *, return_std: Literal[True], **options: Any
    ) -> Tuple[Array, ...]: ...

    async def predict(
        self, X: Any, fidelity: FidelityLike = -1, *, return_std: bool = False, **options: Any
    ) -> Union[Array, Tuple[Array, ...]]:
        """Predicts at n inputs, as Model.predict.

        Parameters
        ----------
        X, fidelity, return_std, **options
            As in Model.predict.

        Returns
        -------
        ndarray or tuple of ndarray
        """
        call: Any = functools.partial(self.sync.predict, X, fidelity, return_std=return_std, **options)
        result: Union[Array, Tuple[Array, ...]] = await self._run(call)
        return result


class AsyncClient(_Handle):
    """A connection to a server, as fidelio.Client, whose methods are to be awaited.

    Parameters
    ----------
    address : str or Client, optional
        As in Client; or a Client (also that of fidelio.local()), which is then closed with this one.
    threads : int
        Calls that may run at the same time.
    **options
        Those of Client.

    Examples
    --------
    >>> import asyncio, fidelio
    >>> async def main():
    ...     async with fidelio.AsyncClient(fidelio.local()) as client:
    ...         model = await client.create_model("square", inputs=1)
    ...         await model.add([0.0, 0.3, 0.5, 0.8, 1.0], [0.0, 0.09, 0.25, 0.64, 1.0])
    ...         await model.fit(seed=1)
    ...         return await model.predict([0.4])
    >>> asyncio.run(main()).round(2).tolist()
    [0.16]
    """

    sync: Client
    server_info = _awaitable(Client.server_info)
    create_model = _finding(Client.create_model)
    model = _finding(Client.model)
    import_model = _finding(Client.import_model)

    def __init__(self, address: Union[None, str, Client] = None, *, threads: int = 16, **options: Any) -> None:
        sync = address if isinstance(address, Client) else Client(address, **options)
        super().__init__(sync, _Threads(threads))

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def address(self) -> str:
        """host:port of the server."""
        return self.sync.address

    async def close(self) -> None:
        """Ends the connection. Fits go on."""
        await asyncio.get_running_loop().run_in_executor(None, self.sync.close)
        self._threads.close()

    async def models(self) -> List[AsyncModel]:
        """All models that the caller may see, by name."""
        return [AsyncModel(model, self._threads) for model in await self._run(self.sync.models)]
