#!/bin/sh
# file_length.sh ROOT: no source file longer than 600 lines.
cd "$1" || exit 1
long=$(find src include perf tests -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.py' |
  xargs wc -l | awk '$2 != "total" && $1 > 600 {print $2 ": " $1 " lines"}')
[ -z "$long" ] || { echo "too long to read in one sitting:"; echo "$long"; exit 1; }
