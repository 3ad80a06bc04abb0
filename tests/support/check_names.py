#!/usr/bin/env python3
"""Checks that names in anonymous namespaces are unique within a directory: FIDELIO_UNITY compiles its sources as one.

usage: check_names.py [ROOT]

What it can't see, such as a name that hides one of a header, the compiler finds.
"""

import collections
import pathlib
import re
import sys

NOISE = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]* |
        R"(?P<d>[^(\s]*)\(.*?\)(?P=d)" | "(?:\\.|[^"\\\n])*" | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+' """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)


def split(text):
    """The parts of a declaration between its commas, but for those inside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "(<[") - (c in ")>]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def parameters(text):
    """The types of a function's parameters: a list without names, defaults and spaces."""
    depth, end = 1, 0
    while end < len(text) and depth:
        depth += (text[end] == "(") - (text[end] == ")")
        end += 1
    types = [p.split("=")[0].strip() for p in split(text[: end - 1])]
    return tuple(re.sub(r"(?<=[\s&*>])\w+$", "", p).replace(" ", "") if re.search(r"[\s&*]", p) else p for p in types)


def declared(text, defines):
    """What a declaration at the level of a namespace declares, as keys that may not appear in two sources."""
    text = " ".join(text.split())
    text = re.sub(r"^(?:template ?<.*?> (?=\w))+", "", text)
    text = re.sub(r"\[\[.*?\]\] ?", "", text)
    if match := re.match(r"(?:class|struct|union|enum(?: class)?) (\w+)", text):
        return [match[1]] if defines else []
    if match := re.match(r"using (\w+) = (.*)", text):
        return [("using", match[1], match[2])]
    if not text or re.match(r"(?:using|namespace|friend|typedef|extern|static_assert|[A-Z_0-9]+ ?\()\b", text):
        return []
    head = text.split("=")[0]
    if match := re.search(r"([\w:~]+) ?\(", head):
        name = match[1]
        return [] if "::" in name or "operator" in head else [(name, *parameters(head[match.end() :]))]
    found = (re.search(r"([\w:]+) ?(?:\[[^\]]*\] ?)*(?:=|$)", part) for part in split(text))
    return [match[1] for match in found if match and "::" not in match[1]]


def names(source):
    """The keys of all that a source declares in anonymous namespaces."""
    found, levels, text, parentheses = set(), [], "", 0
    for c in NOISE.sub(" ", source):
        parentheses += (c == "(") - (c == ")")
        if parentheses > 0 or c not in "{};":
            text += c
            continue
        if "anonymous" in levels and "other" not in levels and c != "}":
            found.update(declared(text, c == "{"))
        if c == "{":
            match = re.search(r"\bnamespace(?: ([\w:]+))?\s*$", text)
            levels.append(("named" if match[1] else "anonymous") if match else "other")
        elif c == "}" and levels:
            levels.pop()
        text = ""
    return found


def check(root):
    """One line for each name that two sources of a directory have."""
    findings, aliases = [], collections.defaultdict(set)
    places = collections.defaultdict(list)
    for path in sorted(p for tree in ("core", "server", "client", "tests") for p in (root / tree).rglob("*.cc")):
        directory, name = path.relative_to(root).parent, path.name
        for key in names(path.read_text(encoding="utf-8")):
            if isinstance(key, tuple) and key[0] == "using":
                aliases[directory, key[1]].add(key[2])
                key = ("using", key[1])
            places[directory, key].append(name)
    for (directory, key), sources in sorted(places.items(), key=str):
        if len(sources) < 2 or (key[0] == "using" and len(aliases[directory, key[1]]) < 2):
            continue
        shown = key if isinstance(key, str) else key[1] if key[0] == "using" else f"{key[0]}({', '.join(key[1:])})"
        findings.append(f"{directory}: {shown} is in the anonymous namespaces of {' and '.join(sources)}")
    return findings


if __name__ == "__main__":
    problems = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(problems) or "names are unique")
    sys.exit(1 if problems else 0)
