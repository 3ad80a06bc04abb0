"""Tables for notebooks and terminals."""

from __future__ import annotations

import html
from typing import Any, Iterable, List, Sequence

_STYLE = "text-align:right;padding:2px 10px"


def number(value: Any) -> str:
    """A number with four digits; other things as they are."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "", notes: Iterable[str] = ()) -> str:
    """An HTML table; every text in it is escaped."""

    def cells(tag: str, values: Sequence[Any]) -> str:
        return "".join(f'<{tag} style="{_STYLE}">{html.escape(number(value))}</{tag}>' for value in values)

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    head = f"<thead><tr>{cells('th', header)}</tr></thead>" if header else ""
    parts = [f"<p><b>{html.escape(title)}</b></p>"] if title else []
    parts.append(f"<table>{head}<tbody>{body}</tbody></table>")
    parts += [f"<p>{html.escape(note)}</p>" for note in notes]
    return f"<div>{''.join(parts)}</div>"


def text(header: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "", notes: Iterable[str] = ()) -> str:
    """The same for a terminal."""
    lines: List[List[str]] = [list(header)] + [[number(value) for value in row] for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    shown = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines]
    return "\n".join(([title] if title else []) + shown + list(notes))
