#!/bin/sh
# compile-cuda.sh RUNTIME SOURCE OUTPUT_FOLDER: compiles SOURCE for sm_80 and
# sm_90a with warnings as errors, with headers from the folders in NVIDIA_WHEELS;
# and LaunchBoundsTest.cu beside SOURCE for devices that hold fewer blocks.
# Exit status 77: nvcc or its libraries are absent.
nvcc=$(command -v nvcc || ls /usr/local/cuda*/bin/nvcc 2>/dev/null | head -n 1)
[ -n "$nvcc" ] || { echo "skipped: no nvcc"; exit 77; }
includes=
for root in $NVIDIA_WHEELS; do
  for folder in "$root"/*/include; do
    [ -d "$folder" ] && includes="$includes -isystem $folder"
  done
done
printf '#include <cublasLt.h>\n#include <cudnn.h>\n' >"$3/libraries.cu"
# shellcheck disable=SC2086 # a list of options
"$nvcc" $includes -E "$3/libraries.cu" >/dev/null 2>&1 ||
  { echo "skipped: no cublasLt.h or cudnn.h; set NVIDIA_WHEELS to site-packages/nvidia"; exit 77; }
# ptxas refuses bounds of a launch that a multiprocessor cannot hold.
for architecture in 75 86 89; do
  "$nvcc" -std=c++17 -Werror all-warnings -arch=sm_$architecture -I "$1" \
    -c "${2%/*}/LaunchBoundsTest.cu" -o "$3/bounds.o" || exit 1
done
# shellcheck disable=SC2086
exec "$nvcc" -std=c++17 -O3 -fmad=false -Werror all-warnings \
  -Xcompiler=-Wall,-Wextra,-Werror -gencode arch=compute_80,code=sm_80 \
  -gencode arch=compute_90a,code=sm_90a -DGPUOPT_BUILT_FOR_SM90A $includes \
  -I "$1" -c "$2" -o "$3/cuda.o"
