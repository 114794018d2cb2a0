#!/bin/bash
# usage: perf_killed.sh ALL_REDUCE_PERF
# A rank that is killed in a running test is named with its pid and signal, the exit code is 128 + 9, and nobody stays.
set -u
output=$(mktemp)
trap 'rm -f "$output"' EXIT
"$1" --procs 3 -b 8 -e 8 -n 1000 -N 0 >"$output" 2>&1 &
parent=$!
victim=
for _ in $(seq 200); do # until the table has begun
  victim=$(sed -n 's/^#  Rank  1 Group  0 Pid *\([0-9]*\) .*/\1/p' "$output")
  [ -n "$victim" ] && grep -q '^ .* float ' "$output" && break
  sleep 0.1
done
all=$(sed -n 's/^#  Rank .* Pid *\([0-9]*\) .*/\1/p' "$output")
if [ -z "$victim" ]; then
  echo "the run did not start:"
  tail -20 "$output"
  kill "$parent"
  exit 1
fi
kill -KILL "$victim"
wait "$parent"
code=$?
failed=0
[ "$code" -eq 137 ] || { echo "exit code $code instead of 137"; failed=1; }
grep -q "rank 1 (pid $victim) was killed by signal 9" "$output" || { echo "the death is not reported"; failed=1; }
for pid in $all; do
  if kill -0 "$pid" 2>/dev/null; then
    echo "process $pid is still there"
    failed=1
  fi
done
[ "$failed" -eq 0 ] || tail -20 "$output"
exit "$failed"
