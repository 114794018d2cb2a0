#!/usr/bin/env bash
# install.sh CMAKE BUILD_DIR CXX WORK_DIR: the installed tree serves find_package(Tutti) and pkg-config.
set -euo pipefail
cmake=$1 build=$2 cxx=$3 work=$4
rm -rf "$work" && mkdir -p "$work/consumer" && cd "$work"
"$cmake" --install "$build" --prefix "$work/first" >/dev/null
mv first moved  # an installation may be moved
cat >consumer/main.cpp <<'CPP'
#include <nccl.h>
#include <tutti/tutti.h>
int main() { int version = 0; return tuttiGetVersion(&version) == ncclSuccess && version > 0 ? 0 : 1; }
CPP
cat >consumer/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(consumer CXX)
find_package(Tutti REQUIRED)
add_executable(consumer main.cpp)
target_link_libraries(consumer Tutti::Tutti)
CMAKE
"$cmake" -S consumer -B by_cmake -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_CXX_COMPILER="$cxx" >/dev/null
"$cmake" --build by_cmake >/dev/null
by_cmake/consumer
PKG_CONFIG_PATH=$(dirname "$(find moved -name tutti.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
"$cxx" consumer/main.cpp $(pkg-config --cflags --libs tutti) -o by_pkg_config
LD_LIBRARY_PATH=$(pkg-config --variable=libdir tutti) ./by_pkg_config
echo "find_package and pkg-config both lead to the installed library"
