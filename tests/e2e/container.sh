#!/usr/bin/env bash
# Builds the image of the Dockerfile for real, and uses it as an operator would: the server runs as the image says, with a
# read-only root, without privileges and in namespaces of its own; it is called from outside, killed, and started again
# on the same volume, where it predicts the same without a fit.
#
# usage (root): tests/e2e/container.sh [--isa-levels "v2;v3;v4"] [--work DIR] [--base TARBALL] [--ccache DIR]
#
# Needs Debian 12's buildah and debootstrap, no engine. The base image, debian:12-slim, is made by debootstrap from the
# mirror that this machine's apt uses; --base takes the tar of a root directory instead. Takes some ten minutes on two
# cores, so it is not one of ctest's tests. --work keeps what is large (the base, image storage) for the next time;
# --ccache lends the build the objects of a compiler cache.
set -euo pipefail

limit_mb=150 # of the image, uncompressed, above its base
levels='v2;v3;v4' work='' base='' ccache=''
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/tests/e2e/debian_base.sh"

say() { printf '\n== %s\n' "$*"; }
fail() {
  echo "container.sh: $*" >&2
  exit 1
}
while (($#)); do
  case $1 in
    --isa-levels) levels=${2:?} ;;
    --work) work=${2:?} ;;
    --base) base=${2:?} ;;
    --ccache) ccache=${2:?} ;;
    *) fail "\"$1\" is not an option; see the head of this file" ;;
  esac
  shift 2
done
((EUID == 0)) || fail "must be root: it makes root directories and namespaces"
for program in buildah debootstrap unshare nsenter python3 ip; do
  command -v "$program" >/dev/null || fail "$program is not there: apt-get install buildah debootstrap util-linux iproute2"
done

own_work=false
if [[ -z $work ]]; then
  work=$(mktemp -d "${TMPDIR:-/tmp}/fidelio-container.XXXXXX")
  own_work=true
fi
mkdir -p "$work"
work=$(cd "$work" && pwd)
buildah=(buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs)
containers=() holder='' server=''
finish() {
  local code=$?
  trap - EXIT
  if [[ -n $server ]] && kill -0 "$server" 2>/dev/null; then kill -KILL "$(server_pid)" 2>/dev/null || true; fi
  if [[ -n $holder ]]; then kill -KILL "$holder" 2>/dev/null || true; fi
  for container in "${containers[@]}"; do "${buildah[@]}" rm "$container" >/dev/null 2>&1 || true; done
  if ((code != 0)) && [[ -s $work/server.log ]]; then tail -n 20 "$work/server.log" >&2; fi
  if $own_work; then rm -rf "$work"; fi
  exit "$code"
}
trap finish EXIT

# ---- the base ----

make_base() {
  make_debian_base "$work/base" "$work/debootstrap.log" || fail "there is no base; --base takes one"
  tar -C "$work/base" -cf "$work/base.tar.partial" .
  mv "$work/base.tar.partial" "$work/base.tar"
  rm -rf "$work/base"
}
if [[ -n $base ]]; then
  [[ -f $base ]] || fail "--base: $base is not a file"
else
  base=$work/base.tar
  if [[ ! -f $base ]]; then
    say "The base, by debootstrap"
    make_base
  fi
fi
container=$("${buildah[@]}" from scratch)
containers+=("$container")
"${buildah[@]}" add --quiet "$container" "$base" / >/dev/null
"${buildah[@]}" config --cmd bash "$container"
"${buildah[@]}" commit --quiet "$container" docker.io/library/debian:12-slim >/dev/null
base_kib=$(du -s --apparent-size -k "$("${buildah[@]}" mount "$container")" | cut -f1)
"${buildah[@]}" rm "$container" >/dev/null

# ---- the image ----

say "The image, by buildah from the Dockerfile"
revision=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || true)
cache=()
if [[ -n $ccache ]]; then
  # The locale is part of what ccache compares.
  cache=(--volume "$(cd "$ccache" && pwd):/ccache" --build-arg CCACHE_DIR=/ccache ${LANG:+--env LANG="$LANG"})
fi
SECONDS=0
"${buildah[@]}" build "${cache[@]}" --isolation chroot --layers --pull-never --format docker --build-arg ISA_LEVELS="$levels" \
  --build-arg REVISION="$revision" --build-arg BASE=docker.io/library/debian:12-slim --tag localhost/fidelio:test "$root" \
  >"$work/build.log" 2>&1 || {
  tail -n 40 "$work/build.log" >&2
  fail "the build failed; $work/build.log has it all"
}
echo "built in $SECONDS s"
container=$("${buildah[@]}" from --pull-never localhost/fidelio:test)
containers+=("$container")
image=$("${buildah[@]}" mount "$container")
image_mb=$((($(du -s --apparent-size -k "$image" | cut -f1) - base_kib) / 1024))
echo "size above the base: $image_mb MB (bar: $limit_mb MB)"
((image_mb <= limit_mb)) || fail "the image is too large"
"${buildah[@]}" inspect --type image localhost/fidelio:test >"$work/image.json"
# A value of the image's configuration, lists as lines.
configured() {
  python3 - "$work/image.json" "$1" <<'PYTHON'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    value = json.load(file)["Docker"]["config"].get(sys.argv[2]) or ""
print(*(value if isinstance(value, (list, dict)) else [value]), sep="\n")
PYTHON
}
mapfile -t entrypoint < <(configured Entrypoint)
mapfile -t environment < <(configured Env)
user=$(configured User)
volume=$(configured Volumes)
[[ $user == 10001:10001 ]] || fail "the image's user is \"$user\", not 10001:10001"
[[ $volume == /var/lib/fidelio ]] || fail "the image's volume is \"$volume\""
for level in ${levels//;/ }; do
  [[ $level == "${levels%%;*}" || -e $image/usr/local/lib/glibc-hwcaps/x86-64-$level/libfidelio_core.so.0 ]] ||
    fail "the image has no core for $level"
done
if find "$image" -xdev \( -name '*.a' -o -name 'cc1plus' \) | grep -q .; then fail "the image has what builds need"; fi

# ---- the server in it ----

# Runs a command in the image: its root read-only, its volume in place, as its user, without capabilities. The namespaces
# are those of the process $holder, so that loopback is the container's own.
mkdir -p "$work/volume"
rm -rf "$work/volume"/*
chown 10001:10001 "$work/volume"
unshare --net --fork --kill-child sleep infinity &
holder=$!
in_net() { nsenter --net="/proc/$holder/ns/net" -- "$@"; }
# Once it has one of its own: before that, the command would be about this machine's.
until [[ $(readlink "/proc/$holder/ns/net") != "$(readlink /proc/self/ns/net)" ]]; do sleep 0.05; done
in_net ip link set lo up
contain() {
  in_net unshare --mount --propagation private bash -euc '
    image=$1 volume=$2 user=$3; shift 3
    mount --bind "$image" "$image"
    mount -t proc proc "$image/proc"
    mount --bind "$volume" "$image/var/lib/fidelio"
    mount -o remount,bind,ro "$image"
    exec setpriv --no-new-privs --bounding-set -all,+setuid,+setgid,+sys_chroot,+setpcap \
      chroot --userspec="$user" "$image" env -i "$@"' \
    contain "$image" "$work/volume" "$user" "${environment[@]}" "$@"
}
fidelio() { contain fidelio --retry 20 "$@"; }
# The process of the server that start began: a descendant of its shell.
server_pid() {
  local pid=$server
  while [[ -n $pid && $(cat "/proc/$pid/comm" 2>/dev/null) != fidelio-server ]]; do pid=$(pgrep -P "$pid" | head -n 1); done
  echo "$pid"
}
start() {
  contain FIDELIO_INSECURE=true "${entrypoint[@]}" >>"$work/server.log" 2>&1 &
  server=$!
  local deadline=$((SECONDS + 60))
  until contain fidelio-server --probe >"$work/probe.log" 2>&1; do
    kill -0 "$server" 2>/dev/null || fail "the server ended before it was ready"
    ((SECONDS < deadline)) || fail "the server was not ready after 60 s: $(<"$work/probe.log")"
    sleep 0.1
  done
}

say "The server, as the image says"
if contain "${entrypoint[@]}" >"$work/refused.log" 2>&1; then fail "it serves the world without TLS and tokens"; fi
grep -q 'TLS and tokens are needed' "$work/refused.log" || fail "unexpected: $(<"$work/refused.log")"
echo "without TLS, tokens or FIDELIO_INSECURE it refuses to start"
start
pid=$(server_pid)
[[ $(stat -c %u:%g "/proc/$pid") == 10001:10001 ]] || fail "the server runs as $(stat -c %u:%g "/proc/$pid")"
grep -qE '^CapEff:\s+0+$' "/proc/$pid/status" || fail "the server has capabilities"
if contain touch /usr/local/x 2>/dev/null; then fail "the root can be written"; fi
contain sh -c ': >/var/lib/fidelio/written && rm /var/lib/fidelio/written' || fail "the volume can't be written"
echo "runs as 10001:10001, without capabilities, on a read-only root; its health check says $(<"$work/probe.log")"

say "A model, from outside"
"$root/deploy/examples/currin.py" design >"$work/volume/runs.csv"
"$root/deploy/examples/currin.py" grid >"$work/volume/grid.csv"
fidelio model create currin --inputs 2 --fidelities low,high --lower 0,0 --upper 1,1
fidelio observe currin /var/lib/fidelio/runs.csv
fidelio fit currin --watch
fidelio predict currin /var/lib/fidelio/grid.csv >"$work/before.csv"
fidelio server-info | grep 'instruction set'

say "Killed, and started again on the same volume"
kill -KILL "$pid"
wait "$server" 2>/dev/null || true
start
fidelio predict currin /var/lib/fidelio/grid.csv >"$work/after.csv"
cmp "$work/before.csv" "$work/after.csv" || fail "the predictions differ"
fits=$(fidelio fits currin --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["fits"]))')
((fits == 1)) || fail "there are $fits fits, not one"
echo "the same $(($(wc -l <"$work/after.csv") - 1)) predictions without a fit"
pid=$(server_pid)
kill -TERM "$pid"
wait "$server" || fail "the server did not end cleanly on SIGTERM: $?"
say "container.sh: passed; image $image_mb MB above its base (bar $limit_mb MB)"
