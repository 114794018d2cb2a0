#!/usr/bin/env bash
# namespaces.sh PROGRAM KIND: all_reduce_perf in a network namespace of its own that has nothing but a loopback device with
# IPv4 (KIND lo) or with IPv6 only (KIND ipv6); over shared memory, then over sockets. Needs root and iproute2, else exits 77.
set -euo pipefail
program=$1 kind=$2
skip() { echo "NOT RUN: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "network namespaces need root"
command -v ip >/dev/null || skip "network namespaces need iproute2"
space=tutti-$kind-$$
ip netns add "$space" 2>/dev/null || skip "this machine allows no network namespaces"
trap 'ip netns del "$space"' EXIT
ip -n "$space" link set lo up
if [ "$kind" = ipv6 ]; then
  ip -n "$space" addr flush dev lo
  ip -n "$space" addr add ::1/128 dev lo
fi
for shm_disable in 0 1; do
  NCCL_SHM_DISABLE=$shm_disable ip netns exec "$space" "$program" --procs 3 -b 1 -e 1M -f 32 -n 2 -w 0
done
