#!/usr/bin/env bash
# Builds the release preset and runs every test, from a fresh clone on a clean Debian 12; the server's tests first with
# the address and undefined-behaviour sanitizers, too. Arguments go to ctest, and leave that out:
#   tests/run.sh -R Cholesky
set -euo pipefail
cd "$(dirname "$0")/.."

deploy/install-deps.sh
jobs=$(nproc)
# From nothing, sources are compiled several at once, and core for one level of instructions: the best that tests use and
# this machine runs. (All of them are compiled for the image: tests/e2e/container.sh.) A build directory that is there
# keeps its ways: others would compile everything again.
configure() {
  local options=()
  if [ ! -e "build/$1/CMakeCache.txt" ]; then
    options=(-DFIDELIO_UNITY=ON)
    if [ "$(uname -m)" = x86_64 ]; then
      if /lib64/ld-linux-x86-64.so.2 --help | grep 'x86-64-v3 (supported' >/dev/null; then
        options+=(-DFIDELIO_ISA_LEVELS=v3)
      else
        options+=(-DFIDELIO_ISA_LEVELS=v2)
      fi
    fi
  fi
  cmake --preset "$1" "${options[@]}"
}
configure release
cmake --build --preset release --parallel "$jobs"

sanitized=passed
if [ $# -eq 0 ]; then
  {
    configure asan-server &&
      cmake --build --preset asan-server --parallel "$jobs" --target server_tests &&
      ctest --preset asan-server --parallel "$jobs" --label-regex '^server$'
  } || sanitized=failed
  echo "the server's tests with sanitizers: $sanitized"
fi

status=0
rm -f build/release/{contract,python}/*.status
ctest --preset release --parallel "$jobs" "$@" || status=$?

# What the clients in other languages could run with: "contract: python ran, node ran, go not found".
for part in contract python; do
  line=''
  for file in build/release/$part/*.status; do
    if [ -e "$file" ]; then line+="${line:+, }$(basename "$file" .status) $(cat "$file")"; fi
  done
  if [ -n "$line" ]; then echo "$part: $line"; fi
done
if [ "$sanitized" = failed ]; then
  echo "the server's tests with sanitizers failed: see above" >&2
  exit 1
fi
exit $status
