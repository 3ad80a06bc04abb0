#!/usr/bin/env bash
# Tests the Python package as its users have it: builds the wheel, installs it into a virtual environment, and runs pytest
# against the server of a build: run.sh debian|newest BUILD_DIR [PYTEST_ARGUMENT…]
#
#   debian   the libraries of Debian 12 (deploy/install-deps.sh); needs no network. Without them, skipped.
#   newest   the newest of all that the package works with, by pip. When they can't be had in time, skipped.
#
# Exit code 0, 1 when tests fail, 77 when they could not run. What happened is a line in BUILD_DIR/python/KIND.status;
# tests/run.sh prints them.
set -uo pipefail

kind=$1
build=$(cd "$2" && pwd)
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$build/python/$kind
venv=$work/venv
install_seconds=${FIDELIO_PYTHON_INSTALL_SECONDS:-300}
mkdir -p "$work"

finish() {
  echo "$2" >"$build/python/$kind.status"
  echo "python: $kind libraries: $2"
  exit "$1"
}
# A step of the preparation that must succeed.
prepare() {
  "$@" >"$work/prepare.log" 2>&1 && return
  tail -n 30 "$work/prepare.log" >&2
  finish 1 "FAILED: $*"
}

case $kind in
  debian)
    python=/usr/bin/python3
    if ! "$python" -c 'import ensurepip, grpc, google.protobuf, numpy, pytest, setuptools, wheel' 2>"$work/prepare.log"; then
      cat "$work/prepare.log" >&2
      echo "python: SKIPPED with Debian's libraries, which are not all there; deploy/install-deps.sh installs them" >&2
      finish 77 "not there"
    fi
    [[ -x $venv/bin/pip ]] || prepare "$python" -m venv --clear --system-site-packages "$venv"
    ;;
  newest)
    python=${FIDELIO_PYTHON:-python3}
    if ! cmp -s "$here/requirements.txt" "$work/installed.txt"; then
      prepare "$python" -m venv --clear "$venv"
      if ! timeout "$install_seconds" "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
        -r "$here/requirements.txt" >"$work/install.log" 2>&1; then
        tail -n 20 "$work/install.log" >&2
        echo "python: SKIPPED with the newest libraries: pip could not install them within $install_seconds s (see above)" >&2
        finish 77 "could not be installed"
      fi
      cp "$here/requirements.txt" "$work/installed.txt"
    fi
    ;;
  *)
    echo "usage: $0 debian|newest BUILD_DIR [PYTEST_ARGUMENT…]" >&2
    exit 2
    ;;
esac

# Its own copy of the sources (which the build made), because building a wheel writes into them.
rm -rf "$work/source" "$work/wheel"
cp -r "$build/python/source" "$work/source" || finish 1 "FAILED: build the target fidelio_python first"
pip=("$venv/bin/pip" --disable-pip-version-check --quiet)
prepare "${pip[@]}" wheel --no-deps --no-index --no-build-isolation --wheel-dir "$work/wheel" "$work/source/client/python"
prepare "${pip[@]}" install --no-deps --no-index --force-reinstall "$work"/wheel/*.whl

# Settings of the caller's own servers and clients are not meant for these tests.
for variable in "${!FIDELIO_@}"; do unset "$variable"; done
export FIDELIO_SERVER_BINARY=$build/bin/fidelio-server FIDELIO_BINARY=$build/bin/fidelio
export FIDELIO_TEST_WHEEL_DIR=$work/wheel FIDELIO_TEST_SOURCE=$work/source
package=$("$venv/bin/python" -c 'import fidelio, os; print(os.path.dirname(fidelio.__file__))') || finish 1 "FAILED: import"
cd "$work" || exit 1
"$venv/bin/python" -m pytest -q -rs -p no:cacheprovider --rootdir "$here" --doctest-modules --doctest-ignore-import-errors \
  --ignore-glob '*_pb2.py' "$here" "$package" "$@" | tee pytest.log || finish 1 "FAILED"
skipped=$(sed -n "s/^SKIPPED.*could not import '\([a-z0-9]*\)'.*/\1/p" pytest.log | sort -u | paste -sd ' ')
finish 0 "ran${skipped:+ (without $skipped)}"
