#!/usr/bin/env bash
# Builds emitted programs on this machine with a GPU and writes one report: what
# is wrong first, then for each program its losses and gradients beside those of
# PyTorch, whether two runs have the same bits, whether its library has the
# trainer's losses on PyTorch's tensors of the GPU, what it allocates beside the plan
# and what the driver takes beside that, a step beside torch.compile (default and
# max-autotune) with AMP and fused AdamW, the time of each kernel beside its
# estimate, attention beside PyTorch's kernels, the cost of a profile, and
# compute-sanitizer. The GPU is described and measured, as a file for `gpuopt --device`.
#
# usage: gpu-check.sh [--target cuda|host] [--report FILE.md] [--junit-xml FILE]
#                     [--minutes 25] [--skip-timing] [--torch-modes default,max-autotune]
#                     [--only losses,timing] [FOLDER...]
#        gpu-check.sh --prepare FOLDER [--build] [MODEL[:PRECISION[@BUDGET[+offload]]]...]
#
# The report is build/gpu-check/report.md unless another file is named; FILE.json
# lies beside it, and FILE.device.json. What tells most is done first, nothing is
# downloaded, a part that fails does not end the rest, and the report is written
# anew after each part; what no time was left for is skipped and named.
#
# --prepare makes the programs, one below FOLDER for each model, where gpuopt is
# built; the second machine needs this checkout and the folders (some megabytes),
# CUDA, CMake and Python with PyTorch. Without folders the programs are prepared
# in build/gpu-programs first. --build compiles them as well, so that a GPU which
# is lent by the minute does not wait for nvcc.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

prepare() {
  "$root/build/venv/bin/python" "$root/scripts/gpu_check/prepare.py" "$@"
}

if [[ ${1:-} == --prepare ]]; then
  prepare "${@:2}"
  exit
fi

hasFolder=0
for argument in "$@"; do
  [[ -d $argument ]] && hasFolder=1
done
if ((!hasFolder)); then
  prepare "$root/build/gpu-programs"
  set -- "$@" "$root"/build/gpu-programs/*
fi
python="$root/build/venv/bin/python"
if [[ ! -x $python ]] || ! "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
  python3 -c 'import torch' 2>/dev/null && python=python3
fi
exec "$python" "$root/scripts/gpu_check/check.py" "$@"
