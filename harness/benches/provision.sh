#!/bin/sh
# Provisioning plus teardown of 3 etcd servers, 5 clients and the resource, against bare `docker run` and `docker rm`
# of as many containers, in one run. Ours includes the network, the agents, and a cluster that has taken a write.
#
#   harness/benches/provision.sh [FENCEPOST] [ROUNDS]
set -eu
fencepost=${1:-target/x86_64-unknown-linux-gnu/release/fencepost}
rounds=${2:-3}
store=$(mktemp -d)
trap 'rm -rf "$store"' EXIT
now() { date +%s%N; }

# The first run builds the node image; it does not count.
"$fencepost" run etcd/lease-lock --on docker --time 1s --store "$store" --json >/dev/null 2>&1 || true
for round in $(seq "$rounds"); do
    begun=$(now)
    for n in 1 2 3 4 5 6 7 8 9; do
        docker run -d --label fencepost.bench=1 --name "fencepost-bench-$$-$n" fencepost/etcd:3.5.16 sleep 600 >/dev/null
    done
    docker rm -f $(docker ps -aq --filter label=fencepost.bench=1) >/dev/null
    bare=$((($(now) - begun) / 1000000))
    "$fencepost" run etcd/lease-lock --on docker --time 1s --store "$store" --json 2>/dev/null | awk -v bare="$bare" -v round="$round" '
        /"provision":/ { gsub(/[^0-9.]/, "", $2); p = $2 }
        /"teardown":/ { gsub(/[^0-9.]/, "", $2); t = $2 }
        END { printf "round %d: provision %.0f ms + teardown %.0f ms against bare %.0f ms: ratio %.2f\n", round, p, t, bare, (p + t) / bare }'
done
