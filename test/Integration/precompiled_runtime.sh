#!/usr/bin/env bash
# Runs a C++ compiler on a source of an emitted program, in the program's folder, with the
# runtime's headers precompiled: reading them is more than half of the work for a small
# step.cu. ccache runs this (CCACHE_PREFIX) for what it does not know yet.
#
# usage: precompiled_runtime.sh COMPILER ARGUMENT...
#
# GPUOPT_TEST_PRECOMPILED is the folder that keeps the headers.
set -euo pipefail

# What headers and sources have in common: the compiler and its flags.
common=() source='' dependencies='' emulation='' previous=''
for argument in "$@"; do
  case $previous:$argument in
    -o:* | -x:* | -M[QT]:*) ;;
    -MF:*) dependencies=$argument ;;
    -include:emulation/cuda.h) emulation=$argument ;;
    *:-o | *:-x | *:-M* | *:-c | *:-I. | *:-include) ;;
    *.cu) source=$argument ;;
    # A sanitizer's reports name lines, and other headers may come first.
    -include:* | *:-fsanitize=* | *:-g*) exec "$@" ;;
    *) common+=("$argument") ;;
  esac
  previous=$argument
done
# What measures a device has no step.h.
[[ -n $source && $source != */* && -n $dependencies && -e step.h ]] || exec "$@"

files=(step.h gpuopt)
[[ -z $emulation ]] || files+=(emulation)
key=$({
  printf '%s\n' "${common[@]}"
  find "${files[@]}" -name '*.h' -print0 | sort -z | xargs -0 cat
} | sha256sum)
folder=$GPUOPT_TEST_PRECOMPILED/${key%% *}
header=$folder/runtime.h
# The second that needs them makes them, since an edited header may be compiled only once.
mkdir "$folder.seen" 2>/dev/null && exec "$@"

case $common in
  *clang*)
    # Files of different programs are the same to clang only by one name.
    program=/gpuopt-program
    common+=(-Xclang -fno-pch-timestamp -ivfsoverlay "$folder/overlay-$$" "-I$program")
    precompile=(-fpch-instantiate-templates ${emulation:+-include "$program/$emulation"})
    use=(-include-pch "$header.gch")
    ;;
  *)
    # The emulation's own header comes before, as for clang.
    [[ -z $emulation ]] || exec "$@"
    program=''
    common+=(-I.)
    # The dependencies are kept with the headers.
    precompile=(-MD -MF "$header.d")
    use=(-include "$header" -fpch-deps)
    ;;
esac
# Others do not wait meanwhile.
if mkdir "$folder" 2>/dev/null; then
  makes=1
elif [[ -e $header.gch ]]; then
  makes=''
else
  exec "$@"
fi
if [[ -n $program ]]; then
  printf '{"version": 0, "use-external-names": false, "roots": [{"type": "directory-remap", "name": "%s", "external-contents": "%s"}]}' \
    "$program" "$PWD" >"$folder/overlay-$$"
fi
if [[ -n $makes ]]; then
  printf '#include "step.h"\n#include "gpuopt/runtime.h"\n#include <cmath>\n' >"$header"
  "${common[@]}" "${precompile[@]}" -x c++-header "$header" -o "$header.unfinished" || exec "$@"
  mv "$header.unfinished" "$header.gch"
fi

outputs=() previous=''
for argument in "$@"; do
  case $previous:$argument in
    -o:* | -M[FQT]:* | *:-o | *:-M*) outputs+=("$argument") ;;
  esac
  previous=$argument
done
"${common[@]}" "${use[@]}" "${outputs[@]}" -x c++ -c "$source"
sed -i "s| /gpuopt-program/| |g" "$dependencies"
