#!/usr/bin/env bash
# Fidelio in one command, on Debian 12 or a derivative (root, or sudo for missing packages): installs, builds, starts a
# server, learns a problem of two fidelities through it, predicts, kills the server and shows that nothing was lost.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: deploy/quickstart.sh [--keep] [--dir DIR] [--built BUILD_DIR]

  --keep             leave the server running at the end, and its files where they are
  --dir DIR          put data, tables and logs into DIR, and leave them there (default: a temporary directory)
  --built BUILD_DIR  use the programs of this build tree instead of installing and building
USAGE
}

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
fail() {
  echo "quickstart: $*" >&2
  exit 1
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
keep=false built='' dir='' pid=''
while (($#)); do
  case $1 in
    --keep) keep=true ;;
    --dir | --built)
      (($# > 1)) || fail "$1: needs a directory"
      if [[ $1 == --dir ]]; then dir=$2; else built=$2; fi
      shift
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      usage >&2
      fail "\"$1\" is not an option"
      ;;
  esac
  shift
done
[[ -t 1 ]] || say() { printf '\n%s\n' "$*"; }

# Settings of the caller's own servers and clients are not meant for these.
for variable in "${!FIDELIO_@}"; do unset "$variable"; done

own_dir=false
if [[ -z $dir ]]; then
  dir=$(mktemp -d "${TMPDIR:-/tmp}/fidelio-quickstart.XXXXXX")
  own_dir=true
fi
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
[[ ! -e $dir/data ]] || fail "--dir: $dir/data exists already; take another directory"

finish() {
  local code=$?
  trap - EXIT
  if ((code != 0)) && [[ -s $dir/server.log ]]; then
    echo "quickstart: failed; the server's last words ($dir/server.log):" >&2
    tail -n 20 "$dir/server.log" >&2
  fi
  if ((code != 0)) || ! $keep; then
    if [[ -n $pid ]] && kill -TERM "$pid" 2>/dev/null; then wait "$pid" 2>/dev/null || true; fi
    if $own_dir; then rm -rf "$dir"; fi
  fi
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [[ -z $built ]]; then
  built=$root/build/release
  say "Installing what is missing, and building (the first time takes some minutes)"
  "$root/deploy/install-deps.sh"
  (cd "$root" && cmake --preset release) >"$dir/configure.log" 2>&1 || {
    cat "$dir/configure.log" >&2
    fail "cmake could not configure the build"
  }
  cmake --build "$built" --parallel "$(nproc)" --target fidelio-server fidelio
fi
built=$(cd "$built" 2>/dev/null && pwd) || fail "--built: there is no such directory"
for program in fidelio-server fidelio; do
  [[ -x $built/bin/$program ]] || fail "$built/bin/$program is not there; build the target $program"
done
command -v python3 >/dev/null || fail "python3 is not there; deploy/install-deps.sh installs it"

# Starts the server on a free port, and waits until it answers: it writes the port to a file then.
start_server() {
  rm -f "$dir/port"
  env -u FIDELIO_SERVER nohup "$built/bin/fidelio-server" --listen 127.0.0.1:0 --port-file "$dir/port" \
    --data-dir "$dir/data" --metrics-address off >>"$dir/server.log" 2>&1 </dev/null &
  pid=$!
  local deadline=$((SECONDS + 60))
  until [[ -s $dir/port ]]; do
    kill -0 "$pid" 2>/dev/null || fail "the server ended before it was ready"
    ((SECONDS < deadline)) || fail "the server was not ready after 60 seconds"
    sleep 0.02
  done
  FIDELIO_SERVER=127.0.0.1:$(<"$dir/port")
  export FIDELIO_SERVER
}

# Shows a command as one would type it, and runs it.
run() {
  printf '$ %s\n' "$*"
  "$@"
}
fidelio() { "$built/bin/fidelio" "$@"; }
# A value of a JSON document on standard input: json_value rmse
json_value() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

cd "$dir"
say "A simulator with two fidelities"
cat <<'TEXT'
Currin's function of two inputs, in a dear version (high) and a cheap, blurred one (low). We can afford 8 runs of the
first and 30 of the second. A grid of 21 × 21 points, which no model sees, shows how good the predictions are.
TEXT
python3 - <<'PYTHON'
from math import exp


def high(a, b):
    decay = exp(-0.5 / b) if b > 0 else 0.0
    return (1 - decay) * (2300 * a**3 + 1900 * a**2 + 2092 * a + 60) / (100 * a**3 + 500 * a**2 + 4 * a + 20)


def low(a, b):
    down = max(0.0, b - 0.05)
    return (high(a + 0.05, b + 0.05) + high(a + 0.05, down) + high(a - 0.05, b + 0.05) + high(a - 0.05, down)) / 4


def halton(index, base):
    value, scale = 0.0, 1.0
    while index:
        index, digit = divmod(index, base)
        scale /= base
        value += digit * scale
    return value


def points(first, count):
    return [(halton(i, 2), halton(i, 3)) for i in range(first, first + count)]


def write(name, header, rows):
    with open(name, "w", encoding="ascii") as file:
        print(header, file=file)
        for row in rows:
            print(*row, sep=",", file=file)


dear = [(a, b, high(a, b)) for a, b in points(101, 8)]
cheap = [(a, b, low(a, b)) for a, b in points(1, 30)]
grid = [(i / 20, j / 20) for i in range(21) for j in range(21)]
write("runs.csv", "fidelity,x1,x2,y", [("low", *row) for row in cheap] + [("high", *row) for row in dear])
write("dear-runs.csv", "x1,x2,y", dear)
write("grid.csv", "x1,x2,y", [(a, b, high(a, b)) for a, b in grid])
PYTHON

say "Starting the server"
start_server
echo "fidelio-server answers at $FIDELIO_SERVER"

say "Learning from both fidelities"
run fidelio model create currin --inputs 2 --fidelities low,high --costs 1,10 --lower 0,0 --upper 1,1
run fidelio observe currin runs.csv
run fidelio fit currin --watch

say "Learning from the dear runs alone, to compare"
run fidelio model create currin-dear --inputs 2 --fidelities high --lower 0,0 --upper 1,1
run fidelio observe currin-dear dear-runs.csv
run fidelio fit currin-dear --watch

say "Predicting the grid"
run fidelio predict currin grid.csv --quantiles 0.025,0.975 -o before.csv
head -n 4 before.csv
echo "… $(($(wc -l <before.csv) - 1)) points"
fidelio score currin grid.csv --json >both.json
fidelio score currin-dear grid.csv --json >dear.json
python3 - <<'PYTHON'
import json

both, dear = (json.load(open(name, encoding="utf-8")) for name in ("both.json", "dear.json"))
print(f"\n{'':24}{'RMSE':>8}{'within the 95 % interval':>28}")
for label, score in (("8 dear runs alone", dear), ("8 dear and 30 cheap runs", both)):
    print(f"{label:24}{score['rmse']:8.3f}{100 * score['coverage95']:26.1f} %")
if not both["rmse"] < dear["rmse"]:
    raise SystemExit("quickstart: the cheap runs did not help")
PYTHON

say "Killing the server (SIGKILL), and starting it again"
fits_before=$(fidelio fits currin --json)
{
  kill -KILL "$pid"
  wait "$pid" || true
} 2>/dev/null # the shell would report the death of its child
start_server
run fidelio predict currin grid.csv --quantiles 0.025,0.975 -o after.csv
cmp before.csv after.csv || fail "the predictions differ"
[[ $(fidelio fits currin --json) == "$fits_before" ]] || fail "the fits differ"
echo "The same $(($(wc -l <after.csv) - 1)) predictions, byte for byte, without a fit."

say "What to try next"
if $keep; then
  cat <<TEXT
The server runs on (kill $pid ends it); its files are in $dir. In this shell:
  export FIDELIO_SERVER=$FIDELIO_SERVER PATH=$built/bin:\$PATH
  fidelio model show currin
  fidelio revisions currin
  printf 'x1,x2\n0.3,0.7\n' | fidelio predict currin - --quantiles 0.025,0.5,0.975
TEXT
else
  cat <<TEXT
  deploy/quickstart.sh --keep             the same, and the server stays for you to play with
  $built/bin/fidelio --help
  $built/bin/fidelio-server --help
TEXT
fi
echo "For a model of your own: fidelio model create, fidelio observe, fidelio fit --watch, fidelio predict."
