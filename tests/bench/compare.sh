#!/usr/bin/env bash
# Compares the speed of two builds: tests/bench/compare.sh OLD_BUILD NEW_BUILD. Exits with 1 when the new one is slower; --help
# says when it is, and lists the options.
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/compare.py" "$@"
