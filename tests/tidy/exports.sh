#!/bin/sh
# exports.sh LIBRARY: nothing leaves the library but nccl*, pnccl* and tutti*, and it needs nothing unusual at run time.
set -eu
library=$1
strangers=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -vE '^(p?nccl|tutti)' || true)
[ -z "$strangers" ] || { echo "exported, but no part of the interface: $strangers"; exit 1; }
strong=$(nm -D --defined-only "$library" | awk '$2 == "T" && $3 ~ /^nccl/ && $3 != "ncclResetDebugInitInternal" {print $3}')
[ -z "$strong" ] || { echo "strong, so that no interposer can stand in front: $strong"; exit 1; }
# Sanitizers bring their own libraries.
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
  grep -vE '^(libc\.so|libm\.so|libstdc\+\+\.so|libgcc_s\.so|libsodium\.so|libhwloc\.so|ld-linux|libasan|libubsan|libtsan)' || true)
[ -z "$needed" ] || { echo "needed at run time, but not allowed: $needed"; exit 1; }
echo "exports and needs of $library are as they should be"
