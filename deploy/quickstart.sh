#!/usr/bin/env bash
# Fidelio in one command, on Debian 12 or a derivative (root, or sudo for missing packages): installs, builds, starts a
# server, and runs a design loop through it: observe, fit, predict, ask where to observe next, three times over. Then it
# kills the server and shows that nothing was lost.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: deploy/quickstart.sh [--keep] [--port PORT] [--dir DIR] [--built BUILD_DIR]

  --keep             leave the server running at the end
  --port PORT        where the server listens (default: a free port)
  --dir DIR          put data, tables, logs and report.html into DIR (default: build/quickstart); what an earlier
                     quick start left there is removed
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
mkdir -p "$dir" || fail "--dir: can't make $dir"
dir=$(cd "$dir" && pwd)
marker=$dir/.fidelio-quickstart
if [[ ! -e $marker && -n $(ls -A "$dir") ]]; then fail "--dir: $dir has files that no quick start made; take another"; fi
if [[ -s $marker ]] && kill -0 "$(<"$marker")" 2>/dev/null; then
  fail "the server of an earlier quick start uses $dir: end it (kill $(<"$marker")), or take another directory (--dir)"
fi
rm -rf "$dir"/{data,*.csv,*.json,*.log,report.html,port}
: >"$marker" || fail "--dir: can't write to $dir"

finish() {
  local code=$?
  trap - EXIT
  if ((code != 0 && code != 130 && code != 143)) && [[ -s $dir/server.log ]]; then
    echo "quickstart: failed; the server's last words ($dir/server.log):" >&2
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

# The programs, for the level of instructions that this machine has: one instead of three takes a third of the time.
build() {
  local free levels=()
  free=$(df --output=avail -k "$root" | tail -n 1)
  ((free > 2 * 1024 * 1024)) || fail "$root: $((free / 1024)) MiB are free, but packages and programs need 2 GiB"
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
  say "Installing what is missing, and building (some minutes, the first time)"
  build
fi
built=$(cd "$built" 2>/dev/null && pwd) || fail "--built: there is no such directory"
for program in fidelio-server fidelio; do
  [[ -x $built/bin/$program ]] || fail "$built/bin/$program is not there; build the target $program"
done
command -v python3 >/dev/null || fail "python3 is not there; deploy/install-deps.sh installs it"

# Starts the server, and waits until it answers: it writes its port to a file then.
start_server() {
  rm -f "$dir/port"
  nohup "$built/bin/fidelio-server" --listen "127.0.0.1:$port" --port-file "$dir/port" --data-dir "$dir/data" \
    --metrics-address off >>"$dir/server.log" 2>&1 </dev/null &
  pid=$!
  echo "$pid" >"$marker"
  local deadline=$((SECONDS + 60))
  until [[ -s $dir/port ]]; do
    kill -0 "$pid" 2>/dev/null || fail "the server ended before it was ready$( ((port == 0)) || echo " (is port $port taken?)")"
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
simulator() { python3 "$root/deploy/examples/currin.py" "$@"; }
# Gives a table to both models; the GP, which is only there to compare with, learns in silence.
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
Currin's function of two inputs: a dear version (high), and a cheap, blurred one (low). We begin with 5 runs of the first
and 20 of the second. A grid of 21 × 21 points, which no model sees, will tell how good the predictions are.
TEXT
simulator design --low 20 --high 5 >runs.csv
simulator grid >grid.csv

say "Starting the server"
start_server
echo "fidelio-server answers at $FIDELIO_SERVER"

say "Learning from both fidelities, and, to compare, from the dear runs alone (a GP)"
run fidelio model create currin --inputs 2 --fidelities low,high --costs 1,10 --lower 0,0 --upper 1,1
run fidelio model create currin-gp --kind gp --inputs 2 --fidelities low,high --lower 0,0 --upper 1,1
observe_and_fit runs.csv
score 0

say "Three rounds: where should the next dear runs be?"
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


print(f"{'':26}{'both fidelities':^26}{'dear runs alone (GP)':^26}")
print(f"{'dear runs':26}" + 2 * f"{'RMSE':>10}{'in 95 % band':>16}")
for round in range(4):
    scores = [load(f"{name}-{round}.json") for name in ("both", "gp")]
    print(f"{5 + 3 * round:<26}" + "".join(f"{s['rmse']:10.3f}{100 * s['coverage95']:14.0f} %" for s in scores))
    if not scores[0]["rmse"] < scores[1]["rmse"]:
        raise SystemExit("quickstart: the cheap runs did not help")
PYTHON

say "Killing the server (SIGKILL), and starting it again"
run fidelio predict currin grid.csv --quantiles 0.025,0.975 -o before.csv
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

say "A page about the model"
run fidelio report currin -o report.html

say "What to try next"
echo "  $dir/report.html                       what the model has learned, in pictures: open it in a browser"
if $keep; then
  cat <<TEXT
  The server runs on (kill $pid ends it). In a shell:
    export FIDELIO_SERVER=$FIDELIO_SERVER PATH=$built/bin:\$PATH
    fidelio diagnose currin
    fidelio suggest currin --count 4 --budget 20
    printf 'x1,x2\n0.3,0.7\n' | fidelio predict currin - --quantiles 0.025,0.5,0.975
TEXT
else
  cat <<TEXT
  deploy/quickstart.sh --keep            the same, and the server stays for you to play with
  $built/bin/fidelio --help
TEXT
fi
echo "  deploy/docs/tutorial.md                from a CSV file of your own to the next design"
