#!/usr/bin/env bash
# Makes deploy/docs/report.png, the picture at the top of the README: the top of the report of the model in the tutorial.
#
# usage: PATH=build/programs/bin:$PATH deploy/docs/make_screenshot.sh   (needs chromium, and python3 for the example)
set -euo pipefail

docs=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
simulator=$docs/../examples/strip.py
directory=$(mktemp -d)
server=''
finish() {
  if [[ -n $server ]]; then kill "$server" && wait "$server" || true; fi
  rm -rf "$directory"
}
trap finish EXIT

for variable in "${!FIDELIO_@}"; do unset "$variable"; done
cd "$directory"
fidelio-server --listen 127.0.0.1:0 --port-file port --data-dir data --metrics-address off --log-level warning &
server=$!
until [[ -s port ]]; do
  kill -0 "$server" || exit 1
  sleep 0.05
done
FIDELIO_SERVER=127.0.0.1:$(<port)
export FIDELIO_SERVER

fidelio model create strip --fidelities linear,nonlinear --costs 1,20 --transform log \
  --input 'length[mm]=200:400' --input 'thickness[mm]=1.5:3' --input 'load[N]=2:20' --output 'deflection[mm]' \
  --description 'Deflection of a clamped steel strip under a load at its end'
fidelio design strip --fidelity linear=40,nonlinear=12 --seed 1 -o design.csv
"$simulator" run design.csv >runs.csv
fidelio observe strip runs.csv
fidelio fit strip --watch
fidelio report strip --at 380,1.7,15 -o report.html

# A new profile, and no traffic but this page.
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update \
  --disable-sync --hide-scrollbars --user-data-dir="$directory/profile" --window-size="${WINDOW:-1160,1180}" \
  --screenshot="$directory/report.png" "file://$directory/report.html" >chromium.log 2>&1 || {
  cat chromium.log >&2
  exit 1
}
size=$(stat -c %s report.png)
((size <= 300000)) || {
  echo "make_screenshot: report.png has $size bytes, must be at most 300000; make the window smaller (WINDOW=W,H)" >&2
  exit 1
}
cp report.png "${OUTPUT:-$docs/report.png}"
