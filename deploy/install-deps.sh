#!/usr/bin/env bash
# Installs what Fidelio needs on Debian 12 or a derivative: to build and test it, or, with --programs, to build only the
# programs (--ccache: also ccache, for fast rebuilds). Idempotent: does nothing, and needs neither root nor the network, when
# everything is installed.
set -euo pipefail

packages=(
  # Build.
  g++ cmake ninja-build python3
  # Core.
  libeigen3-dev libabsl-dev liblbfgspp-dev libnanoflann-dev libboost-dev
  # Contract.
  protobuf-compiler protobuf-compiler-grpc libprotobuf-dev libgrpc++-dev
  # Server.
  libsqlite3-dev libssl-dev libjemalloc-dev libspdlog-dev prometheus-cpp-dev libcivetweb-dev
  # Command lines.
  libcli11-dev nlohmann-json3-dev
)
packages_of_tests=(
  # Speed of repeated builds.
  ccache
  # Tests and benches.
  libgtest-dev libbenchmark-dev zlib1g-dev python3-yaml
  # Python client.
  python3-venv python3-setuptools python3-wheel python3-wheel-whl python3-grpcio python3-protobuf python3-numpy
  python3-pandas python3-tqdm python3-pytest
  # Style.
  clang-format-14 clang-tidy-14
)

fail() {
  echo "install-deps: $*" >&2
  exit 1
}

case "$*" in
  '') packages+=("${packages_of_tests[@]}") ;;
  --programs) ;;
  '--programs --ccache') packages+=(ccache) ;;
  -h | --help)
    echo "usage: $0 [--programs [--ccache]]"
    exit 0
    ;;
  *) fail "usage: $0 [--programs [--ccache]]" ;;
esac

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  fail "this system has no apt; install the equivalents of these Debian packages yourself: ${packages[*]}"

missing=()
for package in "${packages[@]}"; do
  [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || fail "run as root, or install sudo, to install: ${missing[*]}"
  as_root=(sudo)
fi

echo "install-deps: installing ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  if grep -qiE 'could not resolve|could not connect|failed to fetch|connection (timed out|refused)' "$log"; then
    fail "cannot reach the package servers: is there a network, and does \`apt-get update\` work?"
  elif grep -qiE 'no space left|enough free space' "$log"; then
    fail "the disk is full; the packages need about 1 GB"
  elif grep -qiE 'could not get lock|unable to lock' "$log"; then
    fail "another program is installing packages; try again when it has finished"
  fi
  fail "apt-get could not install ${missing[*]} (see above)"
fi
