#!/usr/bin/env bash
# Installs what is missing, builds gpuopt, and trains a small GPT (4 layers of
# width 128, 128 tokens, bytes as vocabulary) on the Python standard library's
# sources, on the processor.
#
# usage: quickstart.sh [FLAG...]   flags go to `gpuopt train`, e.g. --max-steps 200
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n== %s\n' "$*"; }

say "Installing what is missing"
scripts/install-dependencies.sh

say "Building gpuopt"
scripts/build.sh gpuopt

out=quickstart
say "Gathering text"
mkdir -p "$out"
python3 scripts/quickstart_text.py gather "$out/text"

say "Training"
# A folder of another program would be refused.
rm -rf "$out/gpt"
build/bin/gpuopt train examples/gpt.onnx -o "$out/gpt" --target host \
  --tokens "$out/text/train.bin" --eval-tokens "$out/text/validation.bin" --token-type uint8 \
  --batch-size 8 --max-steps 2000 --learning-rate 2e-3 --lr-scheduler-type cosine --warmup-steps 100 \
  --weight-decay 0.1 --no-decay 'bias|ln_' --adam-beta2 0.95 --logging-steps 50 "$@"

say "Result"
python3 scripts/quickstart_text.py report "$out/text" "$out/gpt"
