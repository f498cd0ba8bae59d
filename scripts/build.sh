#!/usr/bin/env bash
# Configures build/ where it is not yet, and builds: everything, or the targets
# that are named. Clang, with a precompiled header, takes a third of g++'s time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ! -f build/build.ninja ]]; then
  compilers=()
  if [[ -z ${CC:-} && -z ${CXX:-} ]] && command -v clang++-22 >/dev/null; then
    compilers=(-DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22)
  fi
  cmake -S . -B build -G Ninja "${compilers[@]}"
fi

# A compiler with MLIR's headers takes up to 2 GB.
memory_gb=$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo)
jobs=$(($(nproc) + 1))
if ((jobs > memory_gb / 2)); then
  jobs=$((memory_gb / 2 > 0 ? memory_gb / 2 : 1))
fi
if [[ $# -gt 0 ]]; then
  cmake --build build -j "$jobs" --target "$@"
else
  cmake --build build -j "$jobs"
fi
