#!/usr/bin/env bash
# Installs Fidelio by pip in a clean Debian 12, which has Python and nothing of ours: first the wheel of deploy/wheel.sh, with
# which fidelio.local() and the commands work, then the Python package alone, from a clone of this repository.
#
# usage (root): tests/e2e/wheel.sh [--built BUILD_DIR | --wheel FILE] [--work DIR]
#
# Needs Debian 12's debootstrap. The clean root is made from the mirror that this machine's apt uses; pip in it has this
# machine's settings (/etc/pip.conf, PIP_*, proxies). Without --built or --wheel, deploy/wheel.sh builds the programs for every
# ISA level, which takes long; the rest takes some three minutes. So this is not one of ctest's tests. --work keeps what is
# large (the root, as a tar) for the next time.
set -euo pipefail

built='' wheel='' work=''
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/e2e/debian_base.sh"

say() { printf '\n== %s\n' "$*"; }
fail() {
  echo "wheel.sh: $*" >&2
  exit 1
}
while (($#)); do
  case $1 in
    --built | --wheel | --work) printf -v "${1#--}" '%s' "${2:?}" ;;
    *) fail "\"$1\" is not an option; see the head of this file" ;;
  esac
  shift 2
done
((EUID == 0)) || fail "must be root: it makes a root directory and namespaces"
for program in debootstrap git unshare; do
  command -v "$program" >/dev/null || fail "$program is not there: apt-get install debootstrap git util-linux"
done

own_work=false
if [[ -z $work ]]; then
  work=$(mktemp -d "${TMPDIR:-/tmp}/fidelio-wheel-root.XXXXXX")
  own_work=true
fi
mkdir -p "$work"
work=$(cd "$work" && pwd)
clean=$work/clean
finish() {
  local code=$?
  trap - EXIT
  rm -rf "$clean"
  if $own_work; then rm -rf "$work"; fi
  exit "$code"
}
trap finish EXIT

if [[ -z $wheel ]]; then
  say "The wheel"
  wheel=$("$root/deploy/wheel.sh" --out "$work" ${built:+--built "$built"})
fi
[[ -f $wheel ]] || fail "--wheel: $wheel is not a file"

# Runs a command in the clean root, as a user USER:GROUP. Mounts end with it.
inside() {
  local user=$1 variables=() name
  shift
  for name in "${!PIP_@}" http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    if [[ -n ${!name:-} && $name != PIP_FIND_LINKS ]]; then variables+=("$name=${!name}"); fi
  done
  unshare --mount --propagation private bash -euc '
    clean=$1 user=$2; shift 2
    mount -t proc proc "$clean/proc"
    exec chroot --userspec="$user" "$clean" env -i "$@"' \
    inside "$clean" "$user" PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/reader LANG=C.UTF-8 "${variables[@]}" "$@"
}

if [[ ! -f $work/clean.tar ]]; then
  say "A clean Debian 12 with Python, by debootstrap"
  make_debian_base "$clean" "$work/debootstrap.log" || fail "there is no clean root"
  cp -L /etc/resolv.conf "$clean/etc/resolv.conf"
  inside 0:0 DEBIAN_FRONTEND=noninteractive sh -c '
    apt-get -qq update && apt-get -qq install -y --no-install-recommends python3 python3-venv' >"$work/apt.log" 2>&1 || {
    tail -n 20 "$work/apt.log" >&2
    fail "apt-get failed in the clean root"
  }
  mkdir -p "$clean/home/reader"
  tar -C "$clean" -cf "$work/clean.tar.partial" .
  mv "$work/clean.tar.partial" "$work/clean.tar"
fi
rm -rf "$clean"
mkdir -p "$clean"
tar -C "$clean" -xf "$work/clean.tar"
cp -L /etc/resolv.conf "$clean/etc/resolv.conf"
if [[ -e /etc/pip.conf ]]; then cp /etc/pip.conf "$clean/etc/pip.conf"; fi
for certificates in /etc/ssl/certs/ca-certificates.crt ${PIP_CERT:+"$PIP_CERT"}; do
  if [[ -e $certificates ]]; then install -D -m 0644 "$certificates" "$clean$certificates"; fi
done
cp "$wheel" "$root/tests/client/python/use_wheel.py" "$clean/home/reader/"
git clone --quiet "$root" "$clean/home/reader/fidelio"
chown -R 1000:1000 "$clean/home/reader"
for package in libgrpc libprotobuf libabsl libjemalloc python3-numpy; do
  if inside 0:0 dpkg-query --list "$package*" 2>/dev/null | grep '^ii'; then fail "the root is not clean: it has $package"; fi
done
reader() { inside 1000:1000 "$@"; }

say "pip install $(basename "$wheel")"
reader python3 -m venv /home/reader/venv
reader /home/reader/venv/bin/pip install "/home/reader/$(basename "$wheel")"
reader /home/reader/venv/bin/fidelio --version
reader /home/reader/venv/bin/fidelio-server --version
reader /home/reader/venv/bin/python /home/reader/use_wheel.py

say "pip install ./client/python, from a clone"
reader python3 -m venv /home/reader/other
reader sh -c 'cd /home/reader/fidelio && /home/reader/other/bin/pip install ./client/python'
reader /home/reader/other/bin/python -c 'import fidelio; print("fidelio", fidelio.__version__)'
if said=$(reader /home/reader/other/bin/fidelio --version 2>&1); then fail "there is a program: $said"; fi
[[ $said == *FIDELIO_BINARY* ]] || fail "without programs, the command says: $said"
echo "without programs, the command says: $said"

say "wheel.sh: passed"
