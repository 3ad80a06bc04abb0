#!/usr/bin/env bash
# Fidelio in one command, on Debian 12 or a derivative (needs root or sudo if packages are missing): installs, builds, starts a
# server, and runs three rounds of a design loop: observe, fit, predict, suggest where to observe next. Then it kills the
# server and shows that nothing was lost.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: deploy/quickstart.sh [--keep] [--port PORT] [--dir DIR] [--built BUILD_DIR]

  --keep             leave the server running at the end
  --port PORT        port of the server (default: a free port)
  --dir DIR          directory for data, tables, logs and report.html (default: build/quickstart); files of an
                     earlier quick start in it are removed
  --built BUILD_DIR  use the programs of this build tree instead of installing and building
USAGE
}

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[[ -t 1 ]] || say() { printf '\n%s\n' "$*"; }
fail() {
  echo "quickstart: $*" >&2
  exit 1
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
keep=false built='' dir=$root/build/quickstart port=0 pid=''
while (($#)); do
  case $1 in
    --keep) keep=true ;;
    --dir | --built | --port)
      (($# > 1)) || fail "$1: needs a value; see --help"
      printf -v "${1#--}" '%s' "$2"
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
[[ $port =~ ^[0-9]{1,5}$ ]] || fail "--port: \"$port\" is not a number"

# Settings of the caller's own servers and clients are not meant for these.
for variable in "${!FIDELIO_@}"; do unset "$variable"; done

# A directory that is new, empty, or left by an earlier run.
mkdir -p "$dir" || fail "--dir: cannot create $dir"
dir=$(cd "$dir" && pwd)
marker=$dir/.fidelio-quickstart
if [[ ! -e $marker && -n $(ls -A "$dir") ]]; then fail "--dir: $dir contains other files; use another directory"; fi
if [[ -s $marker ]] && kill -0 "$(<"$marker")" 2>/dev/null; then
  fail "the server of an earlier quick start is using $dir: stop it (kill $(<"$marker")), or use another directory (--dir)"
fi
rm -rf "$dir"/{data,*.csv,*.json,*.log,report.html,port}
: >"$marker" || fail "--dir: cannot write to $dir"

finish() {
  local code=$?
  trap - EXIT
  if ((code != 0 && code != 130 && code != 143)) && [[ -s $dir/server.log ]]; then
    echo "quickstart: failed; the end of the server's log ($dir/server.log):" >&2
    tail -n 20 "$dir/server.log" >&2
  fi
  if ((code != 0)) || ! $keep; then
    if [[ -n $pid ]] && kill -TERM "$pid" 2>/dev/null; then wait "$pid" 2>/dev/null || true; fi
    : >"$marker"
  fi
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Builds the programs for the instruction set of this machine only: one level instead of three takes a third of the time.
build() {
  local free levels=()
  free=$(df --output=avail -k "$root" | tail -n 1)
  ((free > 2 * 1024 * 1024)) || fail "$root: $((free / 1024)) MiB free, but packages and programs need 2 GiB"
  "$root/deploy/install-deps.sh" --programs
  if [[ $(uname -m) == x86_64 ]]; then
    levels=(-DFIDELIO_ISA_LEVELS=v2)
    if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then levels=(-DFIDELIO_ISA_LEVELS=v3); fi
  fi
  (cd "$root" && cmake --preset programs "${levels[@]}") >"$dir/configure.log" 2>&1 || {
    cat "$dir/configure.log" >&2
    fail "cmake could not configure the build"
  }
  (cd "$root" && cmake --build --preset programs --parallel "$(nproc)") || fail "the build failed (see above)"
}

if [[ -z $built ]]; then
  built=$root/build/programs
  say "Installing missing packages and building (takes some minutes the first time)"
  build
fi
built=$(cd "$built" 2>/dev/null && pwd) || fail "--built: no such directory"
for program in fidelio-server fidelio; do
  [[ -x $built/bin/$program ]] || fail "$built/bin/$program does not exist; build the target $program"
done
command -v python3 >/dev/null || fail "python3 is not installed; run deploy/install-deps.sh"

# Starts the server and waits until it is ready: then it writes its port to a file.
start_server() {
  rm -f "$dir/port"
  nohup "$built/bin/fidelio-server" --listen "127.0.0.1:$port" --port-file "$dir/port" --data-dir "$dir/data" \
    --metrics-address off >>"$dir/server.log" 2>&1 </dev/null &
  pid=$!
  echo "$pid" >"$marker"
  local deadline=$((SECONDS + 60))
  until [[ -s $dir/port ]]; do
    kill -0 "$pid" 2>/dev/null || fail "the server stopped before it was ready$( ((port == 0)) || echo " (is port $port in use?)")"
    ((SECONDS < deadline)) || fail "the server was not ready after 60 seconds"
    sleep 0.02
  done
  FIDELIO_SERVER=127.0.0.1:$(<"$dir/port")
  export FIDELIO_SERVER
}

# Prints a command as a user would type it, and runs it.
run() {
  printf '$ %s\n' "$*"
  "$@"
}
fidelio() { "$built/bin/fidelio" "$@"; }
simulator() { python3 "$root/deploy/examples/currin.py" "$@"; }
# Adds a table to both models and fits them; the GP, which is only a baseline, without output.
observe_and_fit() {
  run fidelio observe currin "$1"
  run fidelio fit currin --watch
  fidelio observe currin-gp "$1" >/dev/null
  fidelio fit currin-gp --watch >/dev/null 2>&1 || fail "the GP could not be fitted"
}
# Scores of both models after a round.
score() {
  fidelio score currin grid.csv --json >"both-$1.json"
  fidelio score currin-gp grid.csv --json >"gp-$1.json"
}

cd "$dir"
say "A simulator with two fidelities"
cat <<'TEXT'
Currin's function of two inputs: an expensive version (high), and a cheap, blurred one (low). We start with 10 runs of the
first and 20 of the second. A grid of 21 × 21 points, which no model sees, will show how good the predictions are.
TEXT
simulator grid >grid.csv

say "Starting the server"
start_server
echo "fidelio-server is listening on $FIDELIO_SERVER"

say "Learning from both fidelities and, for comparison, from the expensive runs alone (a GP)"
run fidelio model create currin --inputs 2 --fidelities low,high --costs 1,10 --lower 0,0 --upper 1,1
run fidelio model create currin-gp --kind gp --inputs 2 --fidelities low,high --lower 0,0 --upper 1,1
run fidelio design currin --fidelity low=20,high=10 --method latin-hypercube --seed 1 -o design.csv
simulator run design.csv >runs.csv
observe_and_fit runs.csv
score 0

say "Three rounds: where should the next expensive runs be?"
for round in 1 2 3; do
  run fidelio sample-dpp currin --k 3 --method map --quality none --exclude-observed --seed "$round" -o "next-$round.csv"
  simulator run "next-$round.csv" >"done-$round.csv"
  observe_and_fit "done-$round.csv"
  score "$round"
done

say "How good the predictions are"
python3 - <<'PYTHON'
import json


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


print(f"{'':26}{'both fidelities':^26}{'expensive runs alone (GP)':^26}")
print(f"{'expensive runs':26}" + 2 * f"{'RMSE':>10}{'in 95 % band':>16}")
for round in range(4):
    scores = [load(f"{name}-{round}.json") for name in ("both", "gp")]
    print(f"{10 + 3 * round:<26}" + "".join(f"{s['rmse']:10.3f}{100 * s['coverage95']:14.0f} %" for s in scores))
    # Later, the expensive runs alone are nearly enough.
    if round < 2 and not scores[0]["rmse"] < scores[1]["rmse"]:
        raise SystemExit("quickstart: the cheap runs did not improve the predictions")
PYTHON

say "Killing the server (SIGKILL) and starting it again"
run fidelio predict currin grid.csv --quantiles 0.025,0.975 -o before.csv
fits_before=$(fidelio fits currin --json)
{
  kill -KILL "$pid"
  wait "$pid" || true
} 2>/dev/null # or the shell reports that its child was killed
start_server
run fidelio predict currin grid.csv --quantiles 0.025,0.975 -o after.csv
cmp before.csv after.csv || fail "the predictions differ"
[[ $(fidelio fits currin --json) == "$fits_before" ]] || fail "the fits differ"
echo "The same $(($(wc -l <after.csv) - 1)) predictions, byte for byte, without a fit."

say "A report of the model"
run fidelio report currin -o report.html

say "What to try next"
echo "  $dir/report.html                       what the model has learned: open it in a browser"
if $keep; then
  cat <<TEXT
  The server is still running (kill $pid stops it). In a shell:
    export FIDELIO_SERVER=$FIDELIO_SERVER PATH=$built/bin:\$PATH
    fidelio diagnose currin
    fidelio suggest currin --count 4 --budget 20
    printf 'x1,x2\n0.3,0.7\n' | fidelio predict currin - --quantiles 0.025,0.5,0.975
TEXT
else
  cat <<TEXT
  deploy/quickstart.sh --keep            the same, but leaves the server running
  $built/bin/fidelio --help
TEXT
fi
echo "  deploy/docs/tutorial.md                a complete design loop with your own data"
