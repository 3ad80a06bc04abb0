#!/usr/bin/env bash
# format.sh check: fails when a C++ file is not formatted as .clang-format says.  format.sh fix: formats them all.
set -euo pipefail
cd "$(dirname "$0")/../.."
case "${1:-}" in
  check) options=(--dry-run --Werror) ;;
  fix) options=(-i) ;;
  *) echo "usage: $0 check|fix" >&2; exit 2 ;;
esac
directories=()
for d in core server client tests; do
  if [ -d "$d" ]; then directories+=("$d"); fi
done
find "${directories[@]}" \( -name '*.h' -o -name '*.cc' \) -print0 |
  xargs -0 --no-run-if-empty "${CLANG_FORMAT:-clang-format-14}" "${options[@]}"
