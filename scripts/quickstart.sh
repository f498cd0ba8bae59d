#!/usr/bin/env bash
# From nothing to a trained model: installs what is missing, builds gpuopt,
# compiles examples/gpt.onnx (4 layers of width 128 over bytes) for this
# machine's processor and trains it on the Python standard library's sources.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-quickstart}
steps=${STEPS:-600}

scripts/install-dependencies.sh
echo "building gpuopt ..."
scripts/build.sh gpuopt | tail -n 1

mkdir -p "$out"
python3 - "$out" <<'EOF'
import math, pathlib, sys, sysconfig

out = pathlib.Path(sys.argv[1])
files = sorted(pathlib.Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
text = b"".join(file.read_bytes() for file in files)
split = len(text) * 19 // 20
(out / "train.bin").write_bytes(text[:split])
(out / "validation.bin").write_bytes(text[split : split + 100_000])
counts = [text.count(bytes([byte])) for byte in range(256)]
entropy = -sum(n / len(text) * math.log(n / len(text)) for n in counts if n)
(out / "entropy").write_text(f"{entropy:.4f}\n")
print(f"text: {len(text)} bytes of {len(files)} files; entropy of single bytes {entropy:.4f} nats")
EOF

build/bin/gpuopt train examples/gpt.onnx -o "$out/model" --target host --batch-size 16 \
  --tokens "$out/train.bin" --eval-tokens "$out/validation.bin" --token-type uint8 \
  --learning-rate 2e-3 --lr-scheduler-type cosine --warmup-steps 30 --weight-decay 0.1 \
  --max-steps "$steps" --logging-steps 20

python3 - "$out" <<'EOF'
import json, pathlib, sys

out = pathlib.Path(sys.argv[1])
lines = [json.loads(line) for line in open(out / "model/metrics.jsonl")]
loss = [line["eval_loss"] for line in lines if "eval_loss" in line][-1]
entropy = float((out / "entropy").read_text())
print(f"""
A guess by the frequencies of single bytes costs {entropy:.3f} nats a byte; the model's costs
{loss:.3f} on text that it has not seen: it has learned {entropy - loss:.3f} nats of structure.

  the emitted program  {out}/model/program/step.cu
  the memory plan      {out}/model/plan.json
  the weights          {out}/model/model.safetensors
  every step           {out}/model/metrics.jsonl""")
sys.exit(loss >= entropy)
EOF
