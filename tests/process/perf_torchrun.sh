#!/bin/bash
# usage: perf_torchrun.sh ALL_REDUCE_PERF
# Three processes that know each other only by torchrun's variables.
set -u
export WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((21000 + $$ % 20000))
pids=()
for rank in 0 1 2; do
  RANK=$rank LOCAL_RANK=$rank "$1" -b 8 -e 64K -f 8 -n 2 &
  pids+=($!)
done
failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
exit "$failed"
