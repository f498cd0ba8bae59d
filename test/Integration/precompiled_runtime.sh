#!/usr/bin/env bash
# Runs a C++ compiler on a source of an emitted program, in the program's folder, with the
# runtime's headers precompiled: reading them is half of the work for a small step.cu.
# ccache runs this (CCACHE_PREFIX) for what it does not know yet.
#
# usage: precompiled_runtime.sh COMPILER ARGUMENT...
#
# GPUOPT_TEST_PRECOMPILED is the folder that keeps the headers.
set -euo pipefail

# What headers and sources have in common: the compiler and its flags.
common=() source='' skips=''
for argument in "$@"; do
  if [[ -n $skips ]]; then
    skips=''
    continue
  fi
  case $argument in
    -o | -x | -M[FQT]) skips=1 ;;
    -c | -M*) ;;
    *.cu) source=$argument ;;
    *) common+=("$argument") ;;
  esac
done
# clang takes precompiled headers only from where they were read, and a build for the emulation begins with others.
case " $* " in
  *clang* | *" -include "* | *" -fsanitize"* | *" -g"*) exec "$@" ;;
esac
[[ -n $source ]] || exec "$@"

key=$({ printf '%s\n' "${common[@]}" && find gpuopt -name '*.h' -print0 | sort -z | xargs -0 cat; } | sha256sum)
header=$GPUOPT_TEST_PRECOMPILED/${key%% *}/runtime.h
# The first that needs it makes it, and the others do not wait meanwhile.
if mkdir "${header%/*}" 2>/dev/null; then
  printf '#include "gpuopt/runtime.h"\n#include <cmath>\n' >"$header"
  "${common[@]}" -MD -MF "$header.d" -x c++-header "$header" -o "$header.unfinished" && mv "$header.unfinished" "$header.gch"
fi
[[ -e $header.gch ]] || exec "$@"
# With the headers that were precompiled among those that the object depends on.
exec "$@" -include "$header" -fpch-deps
