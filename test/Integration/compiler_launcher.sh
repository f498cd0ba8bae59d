#!/usr/bin/env bash
# Launches the C++ compiler of programs that tests build: with less optimization, and by
# ccache, which finds what another test has compiled. compiler_cache.py makes CMake use it.
#
# usage: compiler_launcher.sh COMPILER ARGUMENT...
#
# GPUOPT_TEST_PRECOMPILED is a folder for precompiled headers, which are used if it is given.
# GPUOPT_TEST_KEEP_OPTIMIZATION=1 compiles as a user does, GPUOPT_TEST_KEEP_STEPS=1 steps alone, and
# GPUOPT_TEST_CCACHE=0 without ccache.
set -euo pipefail
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

launch() {
  if [[ ${GPUOPT_TEST_CCACHE:-1} != 0 ]] && type -P ccache >/dev/null; then
    exec ccache "$@"
  fi
  exec "$@"
}

source='' output='' dependencies='' previous=''
for argument in "$@"; do
  case $previous in
    -c) source=$argument ;;
    -o) output=$argument ;;
    -MF) dependencies=$argument ;;
  esac
  previous=$argument
done

# The folder of the emitted program, which has this file.
program=${source%/*}
while [[ $program == /* && ! -e $program/sources.cmake ]]; do
  program=${program%/*}
done
# What CMake tries the compiler with is in no such folder.
[[ $program == /* && -n $output && -n $dependencies ]] || launch "$@"

# Their own kernels are few and short, so they need no optimization. g++ takes 24 s for a trainer's main.cpp at -O3, and 10 s at -O0.
# Steps that are as fast with -O1 have -O3 where `gpuopt train` builds them, which a test cannot tell it.
lowered='' is_step=''
if [[ ${GPUOPT_TEST_KEEP_OPTIMIZATION:-} != 1 ]]; then
  case ${source##*/} in
    main.cpp | library.cpp | parquet_reader.cpp) lowered=1 ;;
    *.cu) [[ ! -e $program/step.h || ${GPUOPT_TEST_KEEP_STEPS:-} == 1 ]] || is_step=1 ;;
  esac
fi

# Compiled in the program's folder, a file has the same arguments wherever program and build lie.
arguments=() previous=''
for argument in "$@"; do
  case $previous in
    -o | -MF) [[ $argument == /* ]] || argument=$PWD/$argument ;;
  esac
  if [[ -n $lowered && $argument == -O[1-3] ]]; then
    argument=-O0
  elif [[ -n $is_step && $argument == -O3 ]]; then
    argument=-O1
  fi
  # g++ takes twice as long for it with sanitizers, which are to find faults in kernels and in what calls them.
  if [[ -n $lowered && ${source##*/} == main.cpp && $argument == -fsanitize=* ]]; then
    continue
  fi
  arguments+=("$argument")
  previous=$argument
done
[[ $dependencies == /* ]] || dependencies=$PWD/$dependencies
cd "$program"
export CCACHE_BASEDIR=$program
if [[ -n ${GPUOPT_TEST_PRECOMPILED:-} && ${GPUOPT_TEST_KEEP_OPTIMIZATION:-} != 1 ]]; then
  export CCACHE_PREFIX=$tests/precompiled_runtime.sh
fi
# Workers begin at the same time, and each would compile main.cpp before the first one has. The others wait for its object.
if [[ -n $lowered && -n ${GPUOPT_TEST_PRECOMPILED:-} ]] && type -P flock >/dev/null; then
  same=$(printf '%s\n' "${arguments[@]//"$program"/}" | sha256sum)
  exec {lock}>"$GPUOPT_TEST_PRECOMPILED/${same%% *}.lock"
  flock "$lock"
fi
status=0
(launch "${arguments[@]}") || status=$?
((status == 0)) || exit "$status"

# It has found headers relative to the program's folder, but the build's lists are relative to its own.
escaped=${program// /\\\\ }
escaped=${escaped//&/\\&}
sed -E -i -e 's|\\ |\x01|g' -e "s| ([^/ \\])| $escaped/\\1|g" -e 's|\x01|\\ |g' "$dependencies"
