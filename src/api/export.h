// How NCCL's functions are exported: the pnccl name is a strong symbol, the nccl name a weak alias of it, so that an
// interposer can define the nccl name and call the pnccl one. A third name, tutti_nccl..., is for libnccl.so.2, which
// defines the other two itself and jumps here (cmake/nccl_forward.cmake).
#pragma once

#include "nccl.h"

#define TUTTI_EXPORT extern "C" __attribute__((visibility("default")))
#define TUTTI_WEAK_ALIAS(type, name, arguments)                             \
  TUTTI_EXPORT type name arguments __attribute__((weak, alias("p" #name))); \
  TUTTI_EXPORT type tutti_##name arguments __attribute__((alias("p" #name)))
