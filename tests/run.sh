#!/usr/bin/env bash
# Builds the release preset and runs every test, from a fresh clone on a clean Debian 12; the server's tests first with
# the address and undefined-behaviour sanitizers, too. Arguments go to ctest, and leave that out:
#   tests/run.sh -R Cholesky
set -euo pipefail
cd "$(dirname "$0")/.."

deploy/install-deps.sh
jobs=$(nproc)
# A build directory that is there keeps its way of compiling: another one would compile everything again.
configure() {
  local preset=$1
  shift
  if [ ! -e "build/$preset/CMakeCache.txt" ]; then set -- -DFIDELIO_UNITY=ON "$@"; fi
  cmake --preset "$preset" "$@"
}
# Core for the levels of instructions that this machine runs; the others could not be tested here.
levels=()
if [ "$(uname -m)" = x86_64 ]; then
  supported=$(/lib64/ld-linux-x86-64.so.2 --help | sed -n 's/^ *x86-64-\(v[34]\) (supported, searched)$/;\1/p' | sort | tr -d '\n')
  levels=("-DFIDELIO_ISA_LEVELS=v2$supported")
fi
configure release "${levels[@]}"
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
