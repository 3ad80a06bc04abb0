#!/usr/bin/env python3
"""Checks that core takes its streams of random numbers from a table (core/base/random_streams.h), never a bare number.

usage: check_streams.py [ROOT]

A stream is what StreamOf or DesignStream return, or something named stream. Whatever is given such a name, a variable
or a parameter of a function in core, must be a stream, too.
"""

import pathlib
import re
import sys

from check_names import NOISE

OWN = ("core/base/random.h", "core/base/random.cc", "core/base/random_streams.h")
NAME = r"(?:\w+(?:\.|->|::))*(?:\w*_)?stream_?"
CONSTRUCTION = re.compile(r"\bRandom(?:\s+\w+)?\s*[({]|\b(?:make_unique|make_shared|optional)<Random>\s*[({]")
LIST = re.compile(r"\bvector<Random>\s*&?\s*(\w+)")


def arguments(text, begin):
    """The arguments of a call whose opening bracket is just before `begin`, without needless spaces."""
    parts, depth = [""], 1
    for c in text[begin:]:
        depth += (c in "([{") - (c in ")]}")
        if depth == 0:
            break
        if c == "," and depth == 1:
            parts.append("")
        else:
            parts[-1] += c
    return [" ".join(p.split()) for p in parts]


def is_stream(expression):
    """Whether an expression is one call of the table's functions, or has the name of a stream."""
    if re.fullmatch(NAME, expression):
        return True
    match = re.match(r"(?:StreamOf|DesignStream) ?\(", expression)
    if not match:
        return False
    inside = ",".join(arguments(expression, match.end()))
    return len(re.sub(r"\s", "", inside)) == len(re.sub(r"\s", "", expression[match.end() :])) - 1


def parameters(texts):
    """Functions with a parameter that is a stream: the pairs of their names and its position."""
    found = set()
    for text in texts.values():
        for match in re.finditer(r"\b(\w+)\s*\((?=[^()]*\buint32_t (?:\w*_)?stream_?\b)", text):
            for k, part in enumerate(arguments(text, match.end())):
                if re.match(r"(?:const )?uint32_t (?:\w*_)?stream_?\b", part):
                    found.add((match[1], k))
    return found


def check(root):
    """One line for each stream that does not come from the table."""
    texts = {}
    for path in sorted((root / "core").rglob("*")):
        place = path.relative_to(root).as_posix()
        if path.suffix in (".h", ".cc") and place not in OWN:
            # Lines stay where they are.
            texts[place] = NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), path.read_text(encoding="utf-8"))
    functions = parameters(texts)
    findings = []
    for place, text in texts.items():

        def find(at, expression):
            if not is_stream(expression):
                line = text.count("\n", 0, at) + 1
                findings.append(f"{place}:{line}: {expression} is no stream of core/base/random_streams.h")

        lists = "|".join(sorted(set(LIST.findall(text)))) or r"(?!)"
        pushed = re.compile(rf"\b(?:{lists})\s*(?:\.|->)\s*emplace_back\s*\(")
        for pattern in (CONSTRUCTION, pushed):
            for match in pattern.finditer(text):
                given = arguments(text, match.end())
                if len(given) > 1 and not given[0].startswith("uint64_t "):  # no copy, and no function that returns one
                    find(match.start(), given[1])
        for match in re.finditer(r"\b(?:\w*_)?stream_?\s*=(?!=)\s*([^;]*)", text):
            find(match.start(), " ".join(arguments(match[1], 0)[0].split()))
        for name, k in functions:
            for match in re.finditer(rf"\b{name}\s*\(", text):
                given = arguments(text, match.end())
                if len(given) > k and not re.match(r"(?:const )?uint32_t ", given[k]):
                    find(match.start(), given[k])
    return sorted(findings)


if __name__ == "__main__":
    problems = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(problems) or "every stream comes from the table")
    sys.exit(1 if problems else 0)
