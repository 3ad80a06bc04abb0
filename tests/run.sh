#!/usr/bin/env bash
# Builds the release preset and runs every test, from a fresh clone on a clean Debian 12. Arguments go to ctest:
#   tests/run.sh -R Cholesky
set -euo pipefail
cd "$(dirname "$0")/.."

deploy/install-deps.sh
jobs=$(nproc)
cmake --preset release
cmake --build --preset release --parallel "$jobs"
exec ctest --preset release --parallel "$jobs" "$@"
