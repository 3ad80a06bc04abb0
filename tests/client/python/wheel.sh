#!/usr/bin/env bash
# Makes the wheel that needs nothing else (deploy/wheel.sh) from the programs of a build, installs it, and uses it without
# the build's programs in sight: wheel.sh BUILD_DIR. tests/e2e/wheel.sh does the same in a clean root.
#
# Exit code 0, 1 when that fails, 77 when Debian's or PyPI's packages can't be had. What happened is a line in
# BUILD_DIR/python/wheel.status; tests/run.sh prints it.
set -uo pipefail

build=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$build/python/wheel
finish() {
  echo "$2" >"$build/python/wheel.status"
  echo "python: wheel: $2"
  exit "$1"
}

rm -rf "$work"
mkdir -p "$work/tree/lib"
/usr/bin/python3 -c 'import ensurepip, grpc, google.protobuf, numpy' 2>/dev/null ||
  finish 77 "not run: Debian's packages are not all there; deploy/install-deps.sh installs them"

# A build for one ISA level gets another, so that there is a choice. (The same code: it is the place that counts.)
cp -r "$build/bin" "$work/tree/bin" && cp -r "$build"/lib/* "$work/tree/lib" || finish 1 "FAILED: no programs"
level=$work/tree/lib/glibc-hwcaps/x86-64-v3
if [[ $(uname -m) == x86_64 && ! -e $level ]]; then
  install -D "$build/lib/libfidelio_core.so.0" "$level/libfidelio_core.so.0"
fi
wheel=$("$here/../../../deploy/wheel.sh" --built "$work/tree" --out "$work")
case $? in
  0) ;;
  69) finish 77 "not run: PyPI's packages can't be had" ;;
  *) finish 1 "FAILED: deploy/wheel.sh" ;;
esac
[[ $wheel == *-py3-none-manylinux_*_"$(uname -m)".whl ]] || finish 1 "FAILED: $wheel is not a platform wheel"

/usr/bin/python3 -m venv --system-site-packages "$work/venv" &&
  "$work/venv/bin/pip" --disable-pip-version-check --quiet install --no-index --no-deps "$wheel" || finish 1 "FAILED: pip install"
rm -rf "$work/tree"
env -i PATH=/usr/bin:/bin HOME="$work" TMPDIR="${TMPDIR:-/tmp}" "$work/venv/bin/python" -B "$here/use_wheel.py" ||
  finish 1 "FAILED: use_wheel.py"
finish 0 "made, installed and used"
