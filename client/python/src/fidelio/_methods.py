"""What a server can fit models with."""

from __future__ import annotations

import dataclasses
from typing import Any, List


@dataclasses.dataclass(frozen=True)
class MethodOption:
    """An option of Model.fit that only some inferences have.

    Attributes
    ----------
    name, help, default : str
    least, most : float
        The range of its values.
    whole : bool
        Whether values are whole numbers.
    """

    name: str
    help: str
    least: float
    most: float
    whole: bool
    default: str

    @classmethod
    def _of(cls, wire: Any) -> MethodOption:
        return cls(wire.name, wire.help, wire.least, wire.most, wire.whole, wire.default_text)


@dataclasses.dataclass(frozen=True)
class Method:
    """An inference of a kind of model.

    Attributes
    ----------
    kind, inference : str
        As the server names them.
    maturity : str
        "stable" or "experimental".
    chosen_by_auto : str
        When the inference "auto" takes it; empty: never.
    options : list of MethodOption
    """

    kind: str
    inference: str
    maturity: str
    chosen_by_auto: str
    options: List[MethodOption]

    @classmethod
    def _of(cls, wire: Any) -> Method:
        return cls(
            kind=wire.kind_name.lower().replace("_", "-"),
            inference=wire.inference_name.lower().replace("_", "-"),
            maturity={1: "stable", 2: "experimental"}.get(wire.maturity, ""),
            chosen_by_auto=wire.chosen_by_auto,
            options=[MethodOption._of(option) for option in wire.options],
        )
