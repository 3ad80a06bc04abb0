"""When and how often a call is tried again: as the C++ client does (client/cpp/retry.h)."""

from __future__ import annotations

import dataclasses
import math
import random
import time
from typing import Callable

from fidelio.errors import FidelioError, InvalidArgument


@dataclasses.dataclass(frozen=True)
class RetryPolicy:
    """How calls are retried while the server is unreachable.

    Parameters
    ----------
    first_delay : float
        Seconds before the first retry.
    multiplier : float
        Each further delay is this many times as long.
    longest_delay : float
        Seconds, at most. Each delay is shortened by up to half at random.
    give_up_after : float
        Seconds without a response after which the last error is raised; 0 for no retries. The timeout of a call holds
        in any case.
    """

    first_delay: float = 0.05
    multiplier: float = 2.0
    longest_delay: float = 2.0
    give_up_after: float = math.inf

    def __post_init__(self) -> None:
        if not 0 < self.first_delay <= self.longest_delay:
            raise InvalidArgument(
                f"retry.first_delay: {self.first_delay}, must be above 0, at most longest_delay, {self.longest_delay}"
            )
        if not self.multiplier >= 1:
            raise InvalidArgument(f"retry.multiplier: {self.multiplier}, must be at least 1")


class Backoff:
    """The delays between the attempts at one thing. Not thread-safe."""

    def __init__(self, policy: RetryPolicy, pause: Callable[[float], None]) -> None:
        self._policy = policy
        self._pause = pause
        self.reset()

    def reset(self) -> None:
        """A response arrived: delays start from the first again."""
        self._delay = self._policy.first_delay
        self._since = time.monotonic()
        self._retries = 0

    def wait(self, error: FidelioError, deadline: float) -> bool:
        """Waits before the next attempt. Returns False when that would pass the deadline or give_up_after."""
        delay = max(self._delay * random.uniform(0.5, 1.0), error.retry_delay or 0.0)
        following = time.monotonic() + delay
        if following >= deadline or following - self._since > self._policy.give_up_after:
            return False
        # A server that names a delay is there; one that is unreachable may come back at any time.
        (time.sleep if error.retry_delay else self._pause)(delay)
        self._delay = min(self._delay * self._policy.multiplier, self._policy.longest_delay)
        self._retries += 1
        return True

    def give_up(self, error: FidelioError) -> FidelioError:
        """The error, with how often and how long it was tried."""
        if self._retries:
            seconds = time.monotonic() - self._since
            error.args = (f"{error}\n  tried {self._retries + 1} times in {seconds:.1f} s",)
        return error
