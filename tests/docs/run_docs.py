#!/usr/bin/env python3
"""Runs the commands of a document, so that what it tells people to type works.

usage: run_docs.py --programs DIR [--root DIR] DOCUMENT.md...

Blocks between ``` fences are judged by their language:
  sh      run by bash, all of a document in order, in one shell and one new directory; a failure fails the test
  python  run in the same directory, when a Python here can import the client; said when none can
  cpp     must stand in cpp_blocks.cc, which the build compiles
  others  must be in NOT_COMMANDS
A block after the line <!-- not run: REASON --> is only checked for syntax, and for programs of this repository that do
not exist. A comment <!-- test: and lines of commands --> is run, too, and not seen by readers: it makes what they have.
A command of pip within a line of text, as `pip install ./client/python`, is a block of its own.

Commands find deploy/, and those of pip the package's sources, where they run, as in a clone. pip is that of a virtual
environment with Debian's packages, and uses no network; said when Debian's are not there.

Servers and clients of a document meet at free ports, by their environment. Blocks that are indented instead of fenced are
refused, and so are links to files or headings that are not there.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.parse

DEBIAN_PYTHON = "/usr/bin/python3"
DEBIAN_WHEELS = pathlib.Path("/usr/share/python-wheels")
NOT_COMMANDS = {"text", "yaml", "toml", "json", "csv", "proto", "nginx"}
FENCE = re.compile(r"^```(\w*)\s*$")
NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$")
SETUP = "<!-- test:"
INLINE_PIP = re.compile(r"`(pip (?:install|wheel|download) [^`]+)`")
USES_PIP = re.compile(r"\bpip (?:install|wheel|download)\b")


class Block:
    def __init__(self, language, line, text, not_run=None):
        self.language, self.line, self.text, self.not_run = language, line, text, not_run


def parse(path):
    """The blocks of a document, and what is wrong with its form."""
    blocks, problems, lines = [], [], path.read_text(encoding="utf-8").splitlines()
    marker = None
    i = 0
    while i < len(lines):
        line = lines[i]
        if line.startswith(SETUP):
            end = next((j for j in range(i, len(lines)) if lines[j].rstrip().endswith("-->")), None)
            if end is None:
                problems.append(f"{path}:{i + 1}: the comment does not end")
                break
            text = "\n".join(lines[i : end + 1]).removeprefix(SETUP).rstrip().removesuffix("-->")
            blocks.append(Block("sh", i + 1, text.strip() + "\n"))
            i = end + 1
            continue
        if match := FENCE.match(line):
            end = next((j for j in range(i + 1, len(lines)) if lines[j].rstrip() == "```"), None)
            if end is None:
                problems.append(f"{path}:{i + 1}: the block does not end")
                break
            language = match[1]
            if language not in {"sh", "python", "cpp"} | NOT_COMMANDS:
                problems.append(f'{path}:{i + 1}: "{language}" is not a language that run_docs.py knows')
            blocks.append(Block(language, i + 1, "\n".join(lines[i + 1 : end]) + "\n", marker))
            marker = None
            i = end + 1
            continue
        blocks += [Block("sh", i + 1, command + "\n", marker) for command in INLINE_PIP.findall(line)]
        if match := NOT_RUN.match(line):
            marker = match[1]
        elif line.strip():
            marker = None
        if line.startswith("    ") and (i == 0 or not lines[i - 1].strip()):
            problems.append(f"{path}:{i + 1}: an indented block: write it between fences, with its language")
        i += 1
    return blocks, problems


def headings(path):
    """The anchors of a document's headings, as GitHub makes them."""
    found = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"#+ (.+)$", line):
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", match[1]).lower()
            found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


def check_links(path):
    """Links to files and headings of this repository that are not there."""
    problems = []
    in_fence = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("```"):
            in_fence = not in_fence
        if in_fence:
            continue
        for target in re.findall(r"\]\(([^)\s]+)\)", line) + re.findall(r'(?:src|srcset|href)="([^"]+)"', line):
            if urllib.parse.urlparse(target).scheme:
                continue
            file, _, heading = target.partition("#")
            there = (path.parent / file).resolve() if file else path
            if not there.exists():
                problems.append(f"{path}:{number}: {target}: no such file")
            elif heading and there.suffix == ".md" and heading not in headings(there):
                problems.append(f"{path}:{number}: {target}: no such heading")
    return problems


def check_syntax(path, block, root):
    """What is wrong with a block that can't be run."""
    if block.language == "python":
        try:
            compile(block.text, f"{path}:{block.line}", "exec")
        except SyntaxError as error:
            return [f"{path}:{block.line}: {error}"]
        return []
    checked = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True)
    problems = [f"{path}:{block.line}: {checked.stderr.strip()}"] if checked.returncode else []
    for line in block.text.splitlines():
        for word in shlex.split(line, comments=True) if line.count("'") % 2 == 0 and line.count('"') % 2 == 0 else []:
            if re.match(r"(deploy|tests)/[\w./-]+$", word) and not (root / word).exists():
                problems.append(f"{path}:{block.line}: {word}: no such file")
    return problems


def check_cpp(path, block):
    """Whether the compiler has read a block of C++."""
    compiled = pathlib.Path(__file__).with_name("cpp_blocks.cc").read_text(encoding="utf-8")
    if " ".join(block.text.split()) in " ".join(compiled.split()):
        return []
    return [f"{path}:{block.line}: the block is not in tests/docs/cpp_blocks.cc"]


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def environment(programs, home):
    """What commands of a document see: the programs, and ports of their own."""
    listen, metrics = free_ports(2)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FIDELIO_")}
    return kept | {
        "PATH": os.pathsep.join([str(programs), kept.get("PATH", "/usr/bin:/bin")]),
        "HOME": str(home),
        "FIDELIO_LISTEN": f"127.0.0.1:{listen}",
        "FIDELIO_SERVER": f"127.0.0.1:{listen}",
        "FIDELIO_METRICS_ADDRESS": f"127.0.0.1:{metrics}",
        "PYTHONPATH": str(home / ".package" / "client" / "python" / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def copy_package(root, directory):
    """The sources of the Python package, as far as its build needs them, without what earlier builds left."""
    left = shutil.ignore_patterns("build", "dist", "*.egg-info", "*_pb2.py*", "_version.py", "__pycache__")
    shutil.copytree(root / "client" / "python", directory / "client" / "python", ignore=left)
    shutil.copytree(root / "proto", directory / "proto")
    for name in ("CMakeLists.txt", "LICENSE"):
        shutil.copy(root / name, directory)


def provide_pip(root, home, env):
    """Gives documents a pip of their own, and the package's sources. Whether there is what that needs."""
    if not all(list(DEBIAN_WHEELS.glob(f"{name}-*.whl")) for name in ("setuptools", "wheel")):
        return False
    needed = "import ensurepip, grpc, google.protobuf, numpy"
    for command in ([DEBIAN_PYTHON, "-c", needed], [DEBIAN_PYTHON, "-m", "venv", "--system-site-packages", home / ".venv"]):
        if subprocess.run(command, env=env, capture_output=True).returncode:
            return False
    copy_package(root, home)
    env["PATH"] = os.pathsep.join([env["PATH"].split(os.pathsep)[0], str(home / ".venv" / "bin"), env["PATH"]])
    env.update(PIP_FIND_LINKS=str(DEBIAN_WHEELS), PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    return True


def python_with_client(root, home, env):
    """An interpreter that can import the client, of which `home` gets a copy; or None."""
    package = home / ".package"
    package.mkdir()
    copy_package(root, package)
    generate = package / "client" / "python" / "build_backend" / "generate.py"
    for python in (sys.executable, DEBIAN_PYTHON):
        commands = [python, str(generate)], [python, "-c", "import fidelio; fidelio.Client"]
        if all(subprocess.run(command, env=env, cwd=home, capture_output=True).returncode == 0 for command in commands):
            return python
    return None


def script_of(path, blocks, python, has_pip):
    """One bash script of all that is run, which says where it is."""
    parts = ["set -euo pipefail", "trap 'echo \"FAILED: $where\" >&2' ERR"]
    for block in blocks:
        if block.not_run or block.language not in ("sh", "python"):
            continue
        if block.language == "python" and python is None:
            print(f"{path}:{block.line}: not run: no Python here can import fidelio (grpcio, numpy, protobuf)")
            continue
        if USES_PIP.search(block.text) and not has_pip:
            print(f"{path}:{block.line}: not run: Debian's packages for Python are not all there")
            continue
        parts.append(f"where={shlex.quote(f'{path}:{block.line}')}; echo \"== $where\"")
        if block.language == "python":
            parts.append(f"{python} - <<'END_OF_PYTHON'\n{block.text}END_OF_PYTHON")
        else:
            parts.append(block.text)
    return "\n".join(parts) + "\n"


def run(path, blocks, programs, root, timeout):
    """Runs the blocks in a new directory. Whether all went well."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="fidelio-docs."))
    (directory / "deploy").symlink_to(root / "deploy")
    env = environment(programs, directory)
    needs_client = any(block.language == "python" and not block.not_run for block in blocks)
    python = python_with_client(root, directory, env) if needs_client else None
    needs_pip = any(block.language == "sh" and not block.not_run and USES_PIP.search(block.text) for block in blocks)
    has_pip = needs_pip and provide_pip(root, directory, env)
    script = directory / ".script"
    script.write_text(script_of(path, blocks, python, has_pip), encoding="utf-8")
    log = directory / ".log"
    with open(log, "wb") as out:
        # A session of its own: whatever the document starts in the background ends with it.
        process = subprocess.Popen(["bash", str(script)], cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = f"no end after {timeout} s"
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
    if code != 0:
        print(log.read_text(encoding="utf-8", errors="replace"))
        print(f"{path}: failed ({code})")
    shutil.rmtree(directory, ignore_errors=True)
    return code == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="directory of fidelio and fidelio-server")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--timeout", type=float, default=280, help="seconds for one document")
    parser.add_argument("documents", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    good = True
    for path in arguments.documents:
        blocks, problems = parse(path)
        problems += check_links(path)
        for block in blocks:
            if block.language == "cpp":
                problems += check_cpp(path, block)
            elif block.not_run:
                problems += check_syntax(path, block, arguments.root)
        print(*problems, sep="\n", end="\n" if problems else "")
        runnable = [block for block in blocks if not block.not_run and block.language in ("sh", "python")]
        well = not problems and (
            not runnable or run(path, blocks, arguments.programs.resolve(), arguments.root.resolve(), arguments.timeout)
        )
        print(f"{path.name}: {len(runnable)} blocks run, {sum(bool(b.not_run) for b in blocks)} checked"
              f"{'' if well else ': FAILED'}")
        good = good and well
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
