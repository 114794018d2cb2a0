// How NCCL's functions are exported: the pnccl name is a strong symbol, the nccl name a weak alias of it, so that an
// interposer can define the nccl name and call the pnccl one.
#pragma once

#include "nccl.h"

#define TUTTI_EXPORT extern "C" __attribute__((visibility("default")))
#define TUTTI_WEAK_ALIAS(type, name, arguments) TUTTI_EXPORT type name arguments __attribute__((weak, alias("p" #name)))
