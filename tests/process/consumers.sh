#!/usr/bin/env bash
# consumers.sh CXX SOURCE_DIR LIB_DIR WORK_DIR: a program that knows only NCCL, linked and loaded in every way that programs do.
# Each run must find exactly one copy of Tutti, and get its answers from it.
set -euo pipefail
cxx=$1 source=$2 lib=$3 work=$4
compat=$lib/nccl-compat
rm -rf "$work" && mkdir -p "$work/decoy" && cd "$work"

cat >program.cpp <<'PROGRAM'
#include <dlfcn.h>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include "nccl.h"
#ifdef BY_DLOPEN
#define CALL(name) reinterpret_cast<decltype(&name)>(dlsym(handle, #name))
#else
#define CALL(name) name
#endif
int main(int, char** argv) {
#ifdef BY_DLOPEN
  void* handle = dlopen(argv[1], RTLD_NOW);
  if (handle == nullptr) return std::puts(dlerror()), 1;
#else
  static_cast<void>(argv);
#endif
  ncclComm_t comms[2];
  if (CALL(ncclCommInitAll)(comms, 2, nullptr) != ncclSuccess) return std::puts("init failed"), 1;
  float in[2] = {1, 41}, out[2];
  CALL(ncclGroupStart)();
  for (int i = 0; i < 2; ++i) CALL(ncclAllReduce)(&in[i], &out[i], 1, ncclFloat, ncclSum, comms[i], nullptr);
  if (CALL(ncclGroupEnd)() != ncclSuccess || out[0] != 42 || out[1] != 42) return std::puts("wrong result"), 1;
  for (ncclComm_t comm : comms) CALL(ncclCommDestroy)(comm);
  std::set<std::string> copies;  // inodes, since one file may have several names
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    char inode[64], path[4096] = "";
    if (std::sscanf(line.c_str(), "%*s %*s %*s %*s %63s %4095s", inode, path) == 2 && std::strstr(path, "libtutti"))
      copies.insert(inode);
  }
  return copies.size() == 1 ? 0 : (std::printf("%zu copies of libtutti\n", copies.size()), 1);
}
PROGRAM
# Something else that answers to NCCL's name, behind an RPATH.
echo 'extern "C" int ncclCommInitAll(void*, int, const int*) { return 3; }
extern "C" int ncclGroupStart() { return 3; } extern "C" int ncclGroupEnd() { return 3; }
extern "C" int ncclAllReduce() { return 3; } extern "C" int ncclCommDestroy(void*) { return 3; }' >decoy.cpp
"$cxx" -shared -fPIC decoy.cpp -o decoy/libnccl.so.2 -Wl,-soname,libnccl.so.2
ln -s libnccl.so.2 decoy/libnccl.so

flags=(-std=c++17 -DTUTTI_NO_CUDA_HEADERS -I"$source/include" program.cpp)
"$cxx" "${flags[@]}" -o by_tutti -L"$lib" -ltutti
"$cxx" "${flags[@]}" -o by_nccl -L"$compat" -lnccl
"$cxx" "${flags[@]}" -o by_both -L"$compat" -Wl,--no-as-needed -lnccl -ltutti
"$cxx" "${flags[@]}" -o by_decoy -L"$work/decoy" -lnccl -Wl,--disable-new-dtags,-rpath,"$work/decoy"
"$cxx" "${flags[@]}" -DBY_DLOPEN -o by_dlopen -ldl

try() {
  echo "== $*"
  "$@"
}
try env LD_LIBRARY_PATH="$lib" ./by_tutti
try env LD_LIBRARY_PATH="$compat" ./by_nccl
try env LD_LIBRARY_PATH="$compat" ./by_both
try env LD_LIBRARY_PATH="$compat:$lib" ./by_both
try env LD_LIBRARY_PATH="$lib:$compat" ./by_both
try env LD_PRELOAD="$compat/libnccl.so.2" ./by_decoy
try ./by_dlopen "$compat/libnccl.so.2"
try ./by_dlopen "$lib/libtutti.so.0"
try env LD_LIBRARY_PATH="$compat" ./by_dlopen libnccl.so.2
try env LD_PRELOAD="$compat/libnccl.so.2" ./by_dlopen libnccl.so.2
# The test must be able to fail: without Tutti in front the decoy answers.
! ./by_decoy >/dev/null
echo "every way leads to the one copy"
