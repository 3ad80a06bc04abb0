#!/usr/bin/env python3
"""Makes deploy/docs/api.md, the reference of the RPC contract, from the comments of proto/fidelio/v1.

usage: make_api.py           writes the file
       make_api.py --check   exits 1 when it is not what would be written

Reads the subset of proto3 that the contract uses: comments stand above what they explain, one definition per line.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROTO = ROOT / "proto" / "fidelio" / "v1"
OUTPUT = ROOT / "deploy" / "docs" / "api.md"

INTRODUCTION = """# API reference

Made from [proto/fidelio/v1](../../proto/fidelio/v1) by `deploy/docs/make_api.py`; edit the comments there.

"""

BLOCK = re.compile(r"(message|enum|service|oneof) (\w+) \{(\})?$")
RPC = re.compile(r"rpc (\w+)\((stream )?([.\w]+)\) returns \((stream )?([.\w]+)\);$")
FIELD = re.compile(r"(?:(repeated|optional) )?([.\w<>, ]+?) (\w+) = (\d+)(?: \[.*\])?;$")
VALUE = re.compile(r"(\w+) = (-?\d+);$")


class Block:
    """A message, an enum, a service or a oneof, with what stands in it."""

    def __init__(self, kind, name, comment):
        self.kind, self.name, self.comment = kind, name, comment
        self.members = []  # Blocks, and dictionaries for fields, values and calls


def parse(path):
    """The comment at the head of a file, and its blocks."""
    head, blocks, stack, comment = None, [], [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        text = line.strip()
        if text.startswith("//"):
            comment.append(text[2:].removeprefix(" "))
            continue
        if not text or re.match(r"(syntax|package|import|option)\b", text):
            if head is None and comment:
                head = comment
            if text or not stack:
                comment = []
            continue
        if re.match(r"reserved\b", text):
            comment = []
            continue
        if text == "}":
            stack.pop()
        elif match := BLOCK.match(text):
            block = Block(match[1], match[2], comment)
            (stack[-1].members if stack else blocks).append(block)
            if not match[3]:
                stack.append(block)
        elif match := RPC.match(text):
            stack[-1].members.append({"rpc": match[1], "request": match[3], "takes_stream": bool(match[2]),
                                      "answer": match[5], "gives_stream": bool(match[4]), "comment": comment})
        elif stack and stack[-1].kind == "enum" and (match := VALUE.match(text)):
            stack[-1].members.append({"value": match[1], "number": match[2], "comment": comment})
        elif stack and (match := FIELD.match(text)):
            stack[-1].members.append({"field": match[3], "label": match[1], "type": match[2], "number": match[4],
                                      "comment": comment})
        else:
            raise SystemExit(f"{path}:{number}: make_api.py does not understand: {text}")
        comment = []
    return head or [], blocks


def prose(comment):
    """A comment as text: lines join, lines that are indented stay as they are."""
    paragraphs, plain, fixed = [], [], []

    def flush():
        if plain:
            paragraphs.append(" ".join(plain))
        if fixed:
            paragraphs.append("```text\n" + "\n".join(fixed) + "\n```")
        plain.clear(), fixed.clear()

    for line in comment:
        if not line.strip():
            flush()
        elif line.startswith(" "):
            if plain:
                flush()
            fixed.append(line)
        else:
            if fixed:
                flush()
            plain.append(line)
    flush()
    return "\n\n".join(paragraphs)


def anchor(name):
    return name.lower()


def linked(kind, known):
    """The name of a type, as a link when it is the contract's own."""
    short = kind.removeprefix(".fidelio.v1.")
    return f"[{short}](#{anchor(short)})" if short in known else f"`{short}`"


def cell(comment):
    """A comment as one line of a table, where nothing is a link by chance."""
    return " ".join(" ".join(comment).split()).replace("|", "\\|").replace("](", "]\\(")


def fields_of(block, known, prefix=""):
    for member in block.members:
        if isinstance(member, Block):
            if member.kind == "oneof":
                yield from fields_of(member, known, f"one of `{member.name}`: ")
        elif "field" in member:
            label = {"repeated": "repeated ", "optional": "optional ", None: ""}[member["label"]]
            yield f"| `{member['field']}` | {prefix}{label}{linked(member['type'], known)} | {cell(member['comment'])} |"


def describe(block, known):
    """The section of a message or an enum, and those of what is defined in it."""
    lines = [f"### {block.name}", ""]
    if block.comment:
        lines += [prose(block.comment), ""]
    if block.kind == "enum":
        lines += ["| value | number | meaning |", "|---|---|---|"]
        lines += [f"| `{m['value']}` | {m['number']} | {cell(m['comment'])} |" for m in block.members]
    elif rows := list(fields_of(block, known)):
        lines += ["| field | type | meaning |", "|---|---|---|", *rows]
    else:
        lines += ["No fields."]
    lines.append("")
    for member in block.members:
        if isinstance(member, Block) and member.kind in ("message", "enum"):
            lines += describe(member, known)
    return lines


def names_of(blocks):
    for block in blocks:
        if isinstance(block, Block) and block.kind in ("message", "enum"):
            yield block.name
            yield from names_of(block.members)


def make():
    files = {path.stem: parse(path) for path in sorted(PROTO.glob("*.proto"))}
    known = {name for _, blocks in files.values() for name in names_of(blocks)}
    head, blocks = files["emulator"]
    lines = [prose(head), ""]
    for service in (block for block in blocks if block.kind == "service"):
        lines += [f"## The service fidelio.v1.{service.name}", "", prose(service.comment), "",
                  "| call | request | answer | what it does |", "|---|---|---|---|"]
        for call in service.members:
            request = ("stream of " if call["takes_stream"] else "") + linked(call["request"], known)
            answer = ("stream of " if call["gives_stream"] else "") + linked(call["answer"], known)
            lines.append(f"| `{call['rpc']}` | {request} | {answer} | {cell(call['comment'])} |")
        lines.append("")
    for stem, (head, blocks) in files.items():
        messages = [block for block in blocks if block.kind != "service"]
        if not messages:
            continue
        lines += [f"## {stem}.proto", "", prose(head), ""]
        for block in messages:
            lines += describe(block, known)
    return INTRODUCTION + "\n".join(lines).rstrip() + "\n"


def main():
    text = make()
    if sys.argv[1:] == ["--check"]:
        if not OUTPUT.exists() or OUTPUT.read_text(encoding="utf-8") != text:
            print(f"{OUTPUT.relative_to(ROOT)} is not up to date: run deploy/docs/make_api.py and commit it")
            return 1
        return 0
    if sys.argv[1:]:
        raise SystemExit(__doc__)
    OUTPUT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
