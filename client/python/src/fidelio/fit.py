"""Fits: durable jobs of the server, which go on without this process."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any, Callable, Optional

import grpc
import numpy as np

from fidelio import _progress, _wire, errors
from fidelio._caller import Caller, new_request_id
from fidelio._wire import Array
from fidelio.results import _seconds
from fidelio.v1 import fit_pb2

OnEvent = Callable[["Fit"], None]


class Fit:
    """A fit as it was when the server was last asked.

    state is "pending", "running", "succeeded", "failed" or "cancelled".
    """

    def __init__(self, caller: Caller, wire: fit_pb2.Fit) -> None:
        self._caller = caller
        self._wire = wire

    def __repr__(self) -> str:
        return f"<Fit {self.number} of {self.model}: {self.state}, {100 * self.fraction:.0f} %>"

    name = property(lambda self: self._wire.name, doc="models/{model}/fits/{fit}")
    state = property(lambda self: _wire.STATES.word(self._wire.state))
    phase = property(lambda self: self._wire.progress.phase, doc='What is done: "optimise", "sample", …')
    fraction = property(lambda self: self._wire.progress.fraction, doc="Estimate of the work done, 0 to 1.")
    iteration = property(lambda self: self._wire.progress.iteration)
    seconds = property(lambda self: _seconds(self._wire.progress.elapsed), doc="Time of work so far.")
    inference = property(lambda self: _wire.INFERENCES.word(self._wire.inference))
    inference_reason = property(lambda self: self._wire.inference_reason)
    data_version = property(lambda self: self._wire.data_version)
    resume_count = property(lambda self: self._wire.resume_count, doc="How often it outlived its server.")

    @property
    def model(self) -> str:
        """Short name of the model."""
        return self.name.split("/")[1] if self.name else ""

    @property
    def number(self) -> int:
        """Counts from 1 within the model; 0 for one that was only validated."""
        return int(_wire.short_name(self.name)) if self.name else 0

    @property
    def elbo(self) -> Optional[float]:
        """The objective; None before the first evaluation."""
        return self._wire.progress.elbo if self._wire.progress.HasField("elbo") else None

    def history(self) -> Array:
        """How the objective went, n×3: iteration, objective and seconds of work. Asks the server."""
        points = self.refresh()._wire.history
        rows = [(point.iteration, point.elbo, _seconds(point.elapsed)) for point in points]
        return np.array(rows, dtype=float).reshape(-1, 3)

    @property
    def revision(self) -> Optional[int]:
        """The revision it made."""
        return int(_wire.short_name(self._wire.revision)) if self._wire.revision else None

    @property
    def ended(self) -> bool:
        return self.state in ("succeeded", "failed", "cancelled")

    @property
    def error(self) -> Optional[errors.FidelioError]:
        """Why it failed or was cancelled, or None."""
        if self.state == "failed":
            return errors.from_status(self._wire.error)
        if self.state == "cancelled":
            return errors.Cancelled(f"{self.name}: was cancelled")
        return None

    def refresh(self) -> Fit:
        """Asks the server again."""
        self._wire = self._caller.call("GetFit", fit_pb2.GetFitRequest(name=self.name))
        return self

    def cancel(self) -> Fit:
        """Asks it to stop, which it does within one iteration; wait() tells when."""
        request = fit_pb2.CancelFitRequest(name=self.name, request_id=new_request_id())
        self._wire = self._caller.call("CancelFit", request)
        return self

    def wait(self, progress: bool = False, callback: Optional[OnEvent] = None, timeout: Optional[float] = None) -> Fit:
        """Waits until it has ended; raises its error unless it succeeded. Outlives restarts of the server.

        An interrupted wait (Ctrl-C, DeadlineExceeded) leaves the fit alone.
        """
        report = _progress.reporter() if progress else None
        try:
            self._watch(lambda: [event(self) for event in (report, callback) if event], timeout)
        finally:
            if report:
                report.close()
        if self.error is not None:
            raise self.error
        return self

    def _watch(self, on_event: Callable[[], Any], timeout: Optional[float]) -> None:
        """One stream after the other, as client/cpp/watch.cc."""
        options = self._caller.options
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        backoff = self._caller.backoff(dataclasses.replace(options.retry, give_up_after=options.watch_give_up_after))
        request = fit_pb2.WatchFitRequest(name=self.name)
        while True:
            renewal = time.monotonic() + options.watch_renewal
            error: errors.FidelioError = errors.Unavailable(f"{self.name}: the server stopped telling")
            stream = self._caller.once("WatchFit", request, min(deadline, renewal))
            try:
                for event in stream:
                    backoff.reset()
                    self._wire = event.fit
                    on_event()
            except grpc.RpcError as raw:
                error = self._caller.error(raw)
            finally:
                stream.cancel()
            if self.ended:
                return
            if isinstance(error, errors.DeadlineExceeded) and time.monotonic() < deadline:
                continue
            # A server that shuts down cancels its streams: its successor knows how the fit goes on.
            if not isinstance(error, (errors.Unavailable, errors.Cancelled)) or not backoff.wait(error, deadline):
                raise backoff.give_up(error)
