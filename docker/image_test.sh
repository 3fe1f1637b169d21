#!/usr/bin/env bash
# Builds the image, runs it with every right taken away, and stops it while it translates. No Docker engine is
# needed: root on Debian or Ubuntu is. Nothing is left behind unless KEEP is set.
#
# usage: docker/image_test.sh [cpu|gpu]      (gpu is built and inspected, not run)
# environment: MODEL  another model directory than the bundled one
#              PORT   on the loopback interface (default 18321)
#              STATE  folder of the container storage, which then stays (default: a new one)
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:-cpu}
image=localhost/vitrail:$target
base=docker.io/library/python:3.11-slim
port=${PORT:-18321}
state=${STATE:-$(mktemp -d /var/tmp/vitrail-image.XXXXXX)}
model=${MODEL:-model/pretrained/en-fr}
context=$state/context
largest_mb=600
mkdir -p "$state"

say() { printf '%s %s\n' "$(date +%T)" "$*"; }
fail() { say "FAILED: $*"; exit 1; }

# Packages whose programs the test needs, installed only where they are missing.
tools() {
  local missing=()
  for package in buildah podman runc conmon netavark golang-github-containers-common mmdebstrap curl; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
  done
  ((${#missing[@]} == 0)) && return
  say "installing ${missing[*]}"
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Own storage, runc (crun refuses hybrid control groups), limits that an unprivileged host grants.
configure() {
  printf '[storage]\ndriver = "overlay"\nrunroot = "%s/run"\ngraphroot = "%s/store"\n' "$state" "$state" >"$state/storage.conf"
  cat >"$state/containers.conf" <<SETTINGS
[containers]
default_ulimits = ["nofile=16384:16384", "nproc=4096:4096"]
netns = "host"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
SETTINGS
  export CONTAINERS_STORAGE_CONF=$state/storage.conf CONTAINERS_CONF=$state/containers.conf DISABLE_HC_SYSTEMD=true
}

clean_up() {
  podman rm -fa >/dev/null 2>&1 || true
  if [[ -z ${KEEP:-} ]]; then
    podman rmi -fa >/dev/null 2>&1 || true
    [[ -n ${STATE:-} ]] || rm -rf "$state"
  fi
  find /sys/fs/cgroup -maxdepth 2 -name libpod_parent -exec find {} -depth -type d -exec rmdir {} \; \; 2>/dev/null || true
}

# A Debian with Python under the name of the official image, so that the Dockerfile builds unchanged. The host's
# certificates go in: the host may reach the package index through a proxy of its own.
base_image() {
  podman image exists "$base" && return
  say "making a base image"
  printf '[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n' >"$state/pip.conf"
  mmdebstrap --quiet --variant=minbase --include=ca-certificates,python3,python3-venv,python3-pip \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook='ln -sf python3 "$1/usr/bin/python"; rm -f "$1"/usr/lib/python3.*/EXTERNALLY-MANAGED' \
    --customize-hook='cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"' \
    --customize-hook="cp '$state/pip.conf' \"\$1/etc/pip.conf\"" \
    bookworm "$state/base.tar"
  podman import --quiet --change 'ENV LANG=C.UTF-8' \
    --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
    "$state/base.tar" "$base" >/dev/null
  rm "$state/base.tar"
}

build() {
  [[ -f $model/config.json ]] || fail "there is no model directory at $model"
  mkdir -p "$context/model/pretrained" "$context/docker"
  cp -r app pyproject.toml Dockerfile .dockerignore "$context/"
  cp docker/requirements.py docker/constraints*.txt "$context/docker/"
  cp -r "$model" "$context/model/pretrained/en-fr"
  say "building $image"
  # The format matters: the other one drops HEALTHCHECK without a word.
  buildah bud --isolation chroot --pull-never --format docker --layers --target "$target" -t "$image" "$context" \
    >"$state/build.log" 2>&1 || { tail -30 "$state/build.log"; fail "the build"; }
}

inspect() {
  local field megabytes
  field() { podman inspect "$image" --format "{{$1}}"; }
  megabytes=$(($(field .Size) / 1000000))
  say "user $(field .Config.User), stop signal $(field .Config.StopSignal), $megabytes MB"
  [[ $(field .Config.User) != "" ]] || fail "it runs as root"
  [[ $(field .HealthCheck) == *health/ready* ]] || fail "it has no health check"
  [[ $target != cpu || $megabytes -lt $largest_mb ]] || fail "it is larger than $largest_mb MB"
  podman run --rm "$image" python -c 'import importlib.util as u, sys; sys.exit(any(map(u.find_spec, ["torch", "export", "pip"])))' ||
    fail "it carries torch, export or pip"
}

start() {
  say "running"
  podman run -d --name app --read-only --tmpfs /tmp:rw,noexec,nosuid,size=64m --cap-drop ALL \
    --security-opt no-new-privileges --memory 1g --cpus 1.5 --pids-limit 256 \
    -e VITRAIL_HOST=127.0.0.1 -e VITRAIL_PORT="$port" "$image" >/dev/null
  for _ in $(seq 120); do
    podman healthcheck run app >/dev/null 2>&1 && break
    [[ $(podman inspect app --format '{{.State.Running}}') == true ]] || { podman logs app; fail "it ended"; }
    sleep 0.5
  done
  podman healthcheck run app >/dev/null || { podman logs app; fail "it does not become healthy"; }
  curl -sf "http://127.0.0.1:$port/health/ready" && echo
  podman exec app sh -c '! touch /here 2>/dev/null' || fail "its root file system can be written to"
}

translate() { # text file: the answer; prints the status code
  curl -s -o "$2" -w '%{http_code}' "http://127.0.0.1:$port/translate" -H 'content-type: application/json' \
    -d "{\"text\": $1, \"source\": \"en\", \"target\": \"fr\"}"
}

exercise() {
  local code
  code=$(translate '"Good morning."' "$state/answer")
  [[ $code == 200 ]] || { cat "$state/answer"; fail "POST /translate answered $code"; }
  head -c 200 "$state/answer" && echo
}

# A long text is under way when SIGTERM comes: it must still be answered, and the process must end well.
stop_under_load() {
  local text request code
  text=$(printf 'The little dog number %d sleeps in the big house. ' $(seq 300))
  translate "\"$text\"" "$state/long" >"$state/code" & request=$!
  sleep 0.7
  kill -0 $request 2>/dev/null || say "(the request was over before the stop: this machine is too fast for the test)"
  podman stop -t 60 app >/dev/null
  wait $request || fail "the request under way got no answer"
  code=$(podman inspect app --format '{{.State.ExitCode}}')
  say "request under way: $(cat "$state/code"), exit code $code"
  [[ $(cat "$state/code") == 200 && $code == 0 ]] || { podman logs app | tail -20; fail "the stop"; }
}

# Cleaning up empties the storage that podman is configured for: first make sure that it is the own one.
tools
configure
trap clean_up EXIT
base_image
build
inspect
if [[ $target == cpu ]]; then
  start
  exercise
  stop_under_load
fi
say "passed"
