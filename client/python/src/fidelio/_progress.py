"""How far a fit is: a bar of tqdm where that is installed and someone watches, plain lines elsewhere."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional, TextIO


def _watched(stream: TextIO) -> bool:
    """A terminal or a notebook."""
    return stream.isatty() or "ipykernel" in sys.modules


class Lines:
    """A line when the state or the phase changes, and every tenth of the work."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last: Any = None

    def __call__(self, fit: Any) -> None:
        key = (fit.state, fit.phase, int(10 * fit.fraction))
        if key != self._last:
            self._last = key
            phase = f", {fit.phase}" if fit.phase else ""
            print(
                f"fit {fit.number} of {fit.model}: {fit.state}{phase}, {100 * fit.fraction:.0f} %, {fit.seconds:.1f} s",
                file=self._stream,
                flush=True,
            )

    def close(self) -> None:
        pass


class Bar:
    """A bar of tqdm from 0 to 100."""

    def __init__(self, tqdm: Callable[..., Any], stream: TextIO) -> None:
        self._bar = tqdm(total=100, desc="fit", file=stream, bar_format="{desc}: {percentage:3.0f} %|{bar}| {postfix}")

    def __call__(self, fit: Any) -> None:
        self._bar.set_description_str(f"fit {fit.number} of {fit.model}", refresh=False)
        self._bar.n = round(100 * (1.0 if fit.state == "succeeded" else fit.fraction), 1)
        self._bar.set_postfix_str(f"{fit.phase or fit.state}, {fit.seconds:.1f} s", refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


def reporter(stream: Optional[TextIO] = None) -> Any:
    """Something to call with every event of a fit, and to close()."""
    stream = stream or sys.stderr
    if _watched(stream):
        try:
            from tqdm.auto import tqdm
        except ImportError:
            pass
        else:
            return Bar(tqdm, stream)
    return Lines(stream)
