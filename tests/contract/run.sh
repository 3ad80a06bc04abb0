#!/usr/bin/env bash
# Drives a design loop from another language, with nothing of ours but proto/: run.sh LANGUAGE BUILD_DIR
#
# LANGUAGE is python, node or go. Packages come from where npm, go and pip get theirs, pinned by lock files. Exit code 0
# when the loop ran, 77 (skipped, for ctest) when the toolchain is missing or its packages could not be had, and 1 when the
# loop failed. What happened is a line in BUILD_DIR/contract/LANGUAGE.status; tests/run.sh prints them.
set -uo pipefail

language=$1
build=$(cd "$2" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$build/contract/$language
install_seconds=${FIDELIO_CONTRACT_INSTALL_SECONDS:-180}
mkdir -p "$work"
status_file=$build/contract/$language.status
pid='' scratch=''

# Ends with a line for people, and an exit code.
finish() {
  echo "$2" >"$status_file"
  echo "contract: $language $2"
  if [[ -n $pid ]]; then
    kill -TERM "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
  fi
  if [[ -n $scratch ]]; then rm -rf "$scratch"; fi
  exit "$1"
}
skip() {
  echo "contract: $language: $1" >&2
  finish 77 "$2"
}

# Runs an installation with its time limit.
install() {
  timeout "$install_seconds" "$@" >"$work/install.log" 2>&1 && return
  tail -n 20 "$work/install.log" >&2
  skip "SKIPPED: \"$*\" did not succeed within $install_seconds s (see above)" "could not be installed"
}

cd "$work" || exit 1
protos=("$root"/proto/fidelio/v1/*.proto)
case $language in
  python)
    python=''
    for candidate in ${FIDELIO_PYTHON:-python3 /usr/bin/python3}; do
      if "$candidate" -c 'import grpc, google.protobuf' 2>/dev/null; then
        python=$candidate
        break
      fi
    done
    [[ -n $python ]] || skip "SKIPPED: python3 has no grpcio and protobuf" "not found"
    rm -rf stubs && mkdir stubs
    if "$python" -c 'import grpc_tools' 2>/dev/null; then
      protoc=("$python" -m grpc_tools.protoc)
    elif command -v protoc grpc_python_plugin >/dev/null; then
      protoc=(protoc "--plugin=protoc-gen-grpc_python=$(command -v grpc_python_plugin)")
    else
      skip "SKIPPED: neither grpcio-tools nor protoc with grpc_python_plugin are there" "not found"
    fi
    "${protoc[@]}" -I "$root/proto" --python_out=stubs --grpc_python_out=stubs "${protos[@]}" \
      "$root"/proto/google/rpc/{status,error_details}.proto || finish 1 "FAILED (protoc)"
    command=("$python" "$here/python/loop.py" SERVER "$work/stubs")
    ;;
  node)
    command -v node npm >/dev/null || skip "SKIPPED: node and npm are not in PATH" "not found"
    cp "$here"/node/{package.json,package-lock.json,loop.js} .
    cmp -s package-lock.json installed.lock || {
      install npm ci --ignore-scripts --no-audit --no-fund
      cp package-lock.json installed.lock
    }
    command=(node loop.js SERVER "$root/proto")
    ;;
  go)
    command -v go >/dev/null || skip "SKIPPED: go is not in PATH" "not found"
    command -v protoc >/dev/null || skip "SKIPPED: protoc is not in PATH" "not found"
    cp "$here"/go/{go.mod,go.sum,*.go} .
    rm -rf gen && mkdir -p gen bin
    export GOFLAGS=-mod=readonly
    install go mod download
    go build -o bin/ google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc ||
      finish 1 "FAILED (go build)"
    PATH=$work/bin:$PATH protoc -I "$root/proto" --go_out=gen --go_opt=paths=source_relative --go-grpc_out=gen \
      --go-grpc_opt=paths=source_relative "${protos[@]}" || finish 1 "FAILED (protoc)"
    go build -o loop . || finish 1 "FAILED (go build)"
    command=(./loop SERVER)
    ;;
  *)
    echo "usage: $0 python|node|go BUILD_DIR" >&2
    exit 2
    ;;
esac

# Settings of the caller's own servers are not meant for this one.
for variable in "${!FIDELIO_@}"; do unset "$variable"; done
scratch=$(mktemp -d)
"$build/bin/fidelio-server" --listen 127.0.0.1:0 --port-file "$scratch/port" --data-dir "$scratch/data" \
  --metrics-address off >"$scratch/server.log" 2>&1 </dev/null &
pid=$!
deadline=$((SECONDS + 60))
until [[ -s $scratch/port ]]; do
  if ! kill -0 "$pid" 2>/dev/null || ((SECONDS > deadline)); then
    cat "$scratch/server.log" >&2
    finish 1 "FAILED (the server did not start)"
  fi
  sleep 0.02
done
"${command[@]/#SERVER/127.0.0.1:$(<"$scratch/port")}" || finish 1 "FAILED"
finish 0 "ran"
