# To be sourced: makes a root directory of Debian 12 from the mirror that this machine's apt uses.

# Debian's own repositories of this machine's apt, as lines "URI SUITE COMPONENT".
debian_repositories() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    grep -E ' bookworm(-[a-z]+)? ' | sort -u
}

# make_debian_base DIRECTORY LOG: a minimal system, which uses the repositories and proxies of this machine.
make_debian_base() {
  local directory=$1 log=$2 found mirror
  found=$(debian_repositories)
  if [[ -z $found ]]; then
    echo "apt knows no repository of Debian 12; run apt-get update" >&2
    return 1
  fi
  mirror=$(awk '$2 == "bookworm" {print $1; exit}' <<<"$found")
  rm -rf "$directory"
  if ! debootstrap --variant=minbase bookworm "$directory" "$mirror" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "debootstrap failed" >&2
    return 1
  fi
  awk '{print "deb", $1, $2, $3}' <<<"$found" >"$directory/etc/apt/sources.list"
  apt-config dump | grep -iE '^Acquire::(https?|ftp)::(Proxy|CaInfo|Verify)' >"$directory/etc/apt/apt.conf.d/90machine" || true
  if grep -q '^https' <<<"$found"; then
    mkdir -p "$directory/etc/ssl/certs"
    cp /etc/ssl/certs/ca-certificates.crt "$directory/etc/ssl/certs/"
  fi
  rm -rf "$directory"/var/cache/apt/* "$directory"/var/lib/apt/lists/* "$directory"/usr/share/{doc,man,locale}/*
}
