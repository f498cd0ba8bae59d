#!/usr/bin/env bash
# Builds emitted programs on this machine, compares their training with
# PyTorch's, runs them under compute-sanitizer, times them beside torch.compile
# with AMP, and writes one report.
#
# usage: gpu-check.sh [--target cuda|host] [--junit-xml FILE] [--report FILE]
#                     [--skip-timing] [FOLDER...]
#        gpu-check.sh --prepare FOLDER [MODEL[:PRECISION]...]
#
# --prepare makes the programs, one below FOLDER for each model of
# test/Integration/models.py, where gpuopt is built; the second machine needs
# this checkout and the folders, CUDA, CMake and Python with PyTorch. Without
# folders the programs are prepared in build/gpu-programs first.
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
