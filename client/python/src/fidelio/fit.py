"""Fits: durable jobs of the server, which go on without this process."""

from __future__ import annotations

import dataclasses
import math
import time
import warnings
from typing import Any, Callable, List, Optional, Tuple, cast

import grpc
import numpy as np

from fidelio import _html, _progress, _wire, errors
from fidelio._caller import Caller, new_request_id
from fidelio._types import FitState
from fidelio._wire import Array
from fidelio.results import _seconds
from fidelio.v1 import fit_pb2

OnEvent = Callable[["Fit"], None]


@dataclasses.dataclass(frozen=True)
class Sampling:
    """How well Hamiltonian Monte Carlo sampled the hyperparameters.

    Attributes
    ----------
    chains : int
        Chains that were run.
    draws : int
        Draws of the hyperparameters that a prediction averages.
    acceptance : float
        Mean acceptance probability, 0 to 1.
    r_hat : float or None
        The largest R̂: about 1 where the chains agree, above 1.1 where they have not mixed. None if it is not known.
    effective_size : float
        The smallest effective sample size of a hyperparameter; 0 if it is not known.
    moved_chains : int
        Chains that moved to another mode, and were counted there.
    failed_curvature : int
        Directions in which the curvature of the posterior could not be measured.
    """

    chains: int
    draws: int
    acceptance: float
    r_hat: Optional[float]
    effective_size: float
    moved_chains: int
    failed_curvature: int

    @classmethod
    def _of(cls, wire: fit_pb2.SamplingReport) -> Sampling:
        return cls(
            wire.chains, wire.draws, wire.acceptance, wire.r_hat if wire.HasField("r_hat") else None,
            wire.effective_size, wire.moved_chains, wire.failed_curvature,
        )  # fmt: skip


class Fit:
    """A fit as it was when the server was last asked.

    A fit is a job of the server: it goes on when this process ends or the server restarts.
    """

    def __init__(self, caller: Caller, wire: fit_pb2.Fit) -> None:
        self._caller = caller
        self._wire = wire
        self._stream: Any = None
        self._abandoned = False

    def __repr__(self) -> str:
        return f"<Fit {self.number} of {self.model}: {self.state}, {100 * self.fraction:.0f} %>"

    def _repr_html_(self) -> str:
        rows: List[Tuple[str, Any]] = [
            ("state", self.state),
            ("work done", f"{100 * self.fraction:.0f} %"),
            ("iterations", self.iteration),
            ("seconds", self.seconds),
            ("inference", self.inference or "not chosen yet"),
            ("objective", "none yet" if self.elbo is None else self.elbo),
            ("revision", "none yet" if self.revision is None else self.revision),
        ]
        sampling = self.sampling
        if sampling is not None:
            rows.append(("R̂", "not known" if sampling.r_hat is None else sampling.r_hat))
            rows.append(("effective sample size", sampling.effective_size or "not known"))
        notes = [self.inference_reason] if self.inference_reason else []
        notes.extend(f"Warning: {warning}" for warning in self.warnings)
        if self.not_served:
            notes.append("The revision is not served: a rollback chose another one after this fit was started.")
        return _html.table([], rows, f"Fit {self.number} of {self.model}", notes)

    @property
    def name(self) -> str:
        """models/{model}/fits/{fit}"""
        return str(self._wire.name)

    @property
    def state(self) -> FitState:
        """ "pending", "running", "succeeded", "failed" or "cancelled"."""
        return cast(FitState, _wire.STATES.word(self._wire.state))

    @property
    def phase(self) -> str:
        """What is being done: "optimise", "sample", …"""
        return str(self._wire.progress.phase)

    @property
    def fraction(self) -> float:
        """Estimate of the work done, 0 to 1."""
        return float(self._wire.progress.fraction)

    @property
    def iteration(self) -> int:
        """Iterations so far."""
        return int(self._wire.progress.iteration)

    @property
    def seconds(self) -> float:
        """Time of work so far."""
        return _seconds(self._wire.progress.elapsed)

    @property
    def inference(self) -> str:
        """The inference that was chosen; empty until it is known."""
        return _wire.INFERENCES.word(self._wire.inference)

    @property
    def inference_reason(self) -> str:
        """Why that inference was chosen."""
        return str(self._wire.inference_reason)

    @property
    def data_version(self) -> int:
        """Version of the observations that it learns from."""
        return int(self._wire.data_version)

    @property
    def resume_count(self) -> int:
        """How often it went on after its server had stopped or crashed."""
        return int(self._wire.resume_count)

    @property
    def not_served(self) -> bool:
        """Succeeded, but a rollback chose another revision after this fit was started."""
        return bool(self._wire.not_served)

    @property
    def sampling(self) -> Optional[Sampling]:
        """How well the hyperparameters were sampled; None unless succeeded, and for methods that do not sample."""
        return Sampling._of(self._wire.sampling) if self._wire.HasField("sampling") else None

    @property
    def warnings(self) -> Tuple[str, ...]:
        """What a user should know about the result: chains that disagree (R̂ above 1.1), …"""
        return tuple(self._wire.warnings)

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
        """How the objective went. Asks the server.

        Returns
        -------
        ndarray, n×3
            Iteration, objective and seconds of work.
        """
        points = self.refresh()._wire.history
        rows = [(point.iteration, point.elbo, _seconds(point.elapsed)) for point in points]
        return np.array(rows, dtype=float).reshape(-1, 3)

    @property
    def revision(self) -> Optional[int]:
        """The revision it made."""
        return int(_wire.short_name(self._wire.revision)) if self._wire.revision else None

    @property
    def ended(self) -> bool:
        """Whether it has succeeded, failed or been cancelled."""
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
        """Asks the server again.

        Returns
        -------
        Fit
            This one.
        """
        self._wire = self._caller.call("GetFit", fit_pb2.GetFitRequest(name=self.name))
        return self

    def cancel(self) -> Fit:
        """Asks it to stop, which it does within one iteration; wait() returns when it has.

        Returns
        -------
        Fit
            This one.
        """
        request = fit_pb2.CancelFitRequest(name=self.name, request_id=new_request_id())
        self._wire = self._caller.call("CancelFit", request)
        return self

    def wait(self, progress: bool = False, callback: Optional[OnEvent] = None, timeout: Optional[float] = None) -> Fit:
        """Waits until the fit has ended, also across server restarts. Its `warnings` are issued as FidelioWarning.

        Parameters
        ----------
        progress : bool
            Show a progress bar.
        callback : callable, optional
            Called with this fit at every event.
        timeout : float, optional
            Seconds. Default: no limit.

        Returns
        -------
        Fit
            This one.

        Raises
        ------
        DeadlineExceeded
            After `timeout` seconds. The fit goes on, as it does after Ctrl-C.
        FidelioError
            The error of a fit that failed or was cancelled.
        """
        report = _progress.reporter() if progress else None
        try:
            self._watch(lambda: [event(self) for event in (report, callback) if event], timeout)
        finally:
            if report:
                report.close()
        if self.error is not None:
            raise self.error
        for warning in self.warnings:
            warnings.warn(warning, errors.FidelioWarning, stacklevel=2)
        return self

    def _watch(self, on_event: Callable[[], Any], timeout: Optional[float]) -> None:
        """One stream after the other, as client/cpp/watch.cc."""
        options = self._caller.options
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        backoff = self._caller.backoff(dataclasses.replace(options.retry, give_up_after=options.watch_give_up_after))
        request = fit_pb2.WatchFitRequest(name=self.name)
        while True:
            renewal = time.monotonic() + options.watch_renewal
            error: errors.FidelioError = errors.Unavailable(f"{self.name}: the server ended the stream")
            stream = self._stream = self._caller.once("WatchFit", request, min(deadline, renewal))
            if self._abandoned:  # before there was a stream to cancel
                stream.cancel()
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
            if self._abandoned:
                raise errors.Cancelled(f"{self.name}: nobody waits for it any longer")
            if isinstance(error, errors.DeadlineExceeded) and time.monotonic() < deadline:
                continue
            # A server that shuts down cancels its streams: its successor knows how the fit goes on.
            if not isinstance(error, (errors.Unavailable, errors.Cancelled)) or not backoff.wait(error, deadline):
                raise backoff.give_up(error)

    def _abandon(self) -> None:
        """Ends a wait() of another thread soon; the fit goes on."""
        self._abandoned = True
        if self._stream is not None:
            self._stream.cancel()
