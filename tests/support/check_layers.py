#!/usr/bin/env python3
"""Checks every #include of core/, server/ and client/ against the table of who may depend on whom.

usage: check_layers.py [ROOT]

Prints one line per violation (file:line: rule) and exits 1 when there is any. A module may include itself and what its
row names: a module (a directory of the project), a header, or a group of headers outside the project (EXTERNAL).
"""

import pathlib
import re
import sys

# Headers outside the project, by group. The first pattern that matches an include names its group.
EXTERNAL = {
    "io": r"(iostream|fstream|cstdio|stdio\.h|filesystem|syncstream|print)$",
    "std": r"[a-z_0-9]+$",
    "eigen": r"(unsupported/)?Eigen/",
    "lbfgs": r"LBFGS",
    "boost-tables": r"boost/random/detail/sobol_table\.hpp$",
    "nanoflann": r"nanoflann\.hpp$",
    "protobuf": r"(google/protobuf/|.*\.pb\.h$)",
    "grpc": r"grpc(pp)?/",
    "sqlite3": r"sqlite3\.h$",
    "openssl": r"openssl/",
    "absl-values": r"absl/(status|strings|types)/",
    "absl": r"absl/",
    "json": r"nlohmann/",
    "cli11": r"CLI/",
    "spdlog": r"spdlog/",
    "prometheus": r"prometheus/",
    "civetweb": r"civetweb\.h$",
    "posix": r"([a-z_0-9]+/)*[a-z_0-9]+\.h$",
}

MATHEMATICS = ["std", "eigen", "absl-values"]
SERVICE = ["std", "io", "posix", "absl", "absl-values"]
RPC = ["proto", "protobuf", "grpc"]

FOUNDATION = ["core/base", "core/linalg"]
PARTS = FOUNDATION + ["core/param", "core/kernel"]
# What inference of any kind stands on.
MODEL = PARTS + ["core/data", "core/optim", "core/gp", "core/emulator", "core/fit"]
METHOD = MODEL + ["core/registry"]
# What serving needs: no method by name.
SERVED = ["core/base", "core/data", "core/kernel", "core/emulator", "core/registry", "core/design"]

# Module: what it may include besides itself. What is not named is forbidden.
RULES = {
    "core/base": MATHEMATICS + ["boost-tables"],
    "core/linalg": MATHEMATICS + ["core/base"],
    "core/param": MATHEMATICS + FOUNDATION,
    "core/kernel": MATHEMATICS + FOUNDATION + ["core/param"],
    "core/data": MATHEMATICS + ["core/base"],
    "core/optim": MATHEMATICS + FOUNDATION + ["core/param", "lbfgs"],
    "core/emulator": MATHEMATICS + ["core/base", "core/data", "core/kernel/kernel_family.h"],
    "core/fit": MATHEMATICS + FOUNDATION + ["core/data", "core/param", "core/optim", "core/emulator"],
    "core/gp": MATHEMATICS + PARTS + ["core/optim"],
    "core/dgp/moments": MATHEMATICS + METHOD,
    "core/dgp/sparse": MATHEMATICS + METHOD,
    "core/neighbour": MATHEMATICS + METHOD + ["core/dgp/moments", "nanoflann"],
    "core/baseline": MATHEMATICS + METHOD,
    "core/design": MATHEMATICS + FOUNDATION + ["core/data", "core/emulator"],
    "core/registry": MATHEMATICS + ["core/base", "core/data", "core/emulator"],
    "server/status": SERVICE,
    "server/config": SERVICE + ["cli11"],
    "server/telemetry": SERVICE + ["server/config", "spdlog", "prometheus", "civetweb"],
    "server/auth": SERVICE + ["server/status", "server/config", "server/telemetry", "openssl", "grpc"],
    "server/store": SERVICE + ["sqlite3", "openssl", "core/base", "server/status"],
    "server/model": SERVICE + ["eigen", "server/status", "server/store", "server/config", "server/telemetry"]
    + SERVED,
    "server/rpc": SERVICE + RPC
    + ["eigen", "core/base", "server/status", "server/model", "server/auth", "server/config", "server/telemetry"],
    "server": SERVICE + RPC
    + ["cli11", "server/rpc", "server/model", "server/store", "server/auth", "server/config", "server/telemetry"]
    + ["server/status", "core/base"],
    "client/cpp": SERVICE + RPC + ["eigen"],
    "client/cli": SERVICE + RPC + ["eigen", "client/cpp", "cli11", "json"],
}

CHECKED = ("core", "server", "client")
PROJECT = CHECKED + ("proto", "tests", "deploy")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def module_of(path):
    """The module of a path below the root: its first two directories, three in core/dgp, or the first for a file right in it."""
    directories = pathlib.PurePosixPath(path).parts[:-1]
    return "/".join(directories[: 3 if directories[:2] == ("core", "dgp") else 2])


def targets_of(header, quoted):
    """The names by which a row of RULES may allow this header; the first names it in a message."""
    top = header.split("/")[0]
    if top == "proto":
        return ["proto"]
    if top in PROJECT:
        return [module_of(header), header]
    for group, pattern in EXTERNAL.items():
        if re.match(pattern, header) and not (quoted and "/" not in header):
            return [group]
    return []


def check_file(root, path):
    """The violations of one file, as text."""
    name = path.relative_to(root).as_posix()
    module = module_of(name)
    if module not in RULES:
        return [f"{name}:1: {module} has no row in the table of tests/support/check_layers.py"]
    allowed = {module, *RULES[module]}
    violations = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match[2]
        targets = targets_of(header, quoted=match[1] == '"')
        if not targets:
            violations.append(f'{name}:{number}: "{header}" is neither a path from the root of the project nor known')
        elif not allowed.intersection(targets):
            violations.append(
                f'{name}:{number}: {module} may not include {targets[0]} ("{header}"), only: '
                + ", ".join(sorted(RULES[module]))
            )
    return violations


def check_tree(root):
    """The violations of all files below `root`, as text."""
    files = sorted(path for top in CHECKED for suffix in ("h", "cc") for path in (root / top).rglob(f"*.{suffix}"))
    return [violation for path in files for violation in check_file(root, path)], len(files)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    violations, count = check_tree(root)
    for violation in violations:
        print(violation)
    print(f"{count} files, {len(violations)} violations of the layering")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
