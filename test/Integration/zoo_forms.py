"""Prints docs/attention-forms.md: the forms of attention that each model of zoo.py has.

usage: zoo_forms.py [MODEL...]
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Integration")]

import gpuopt
import torch
import zoo
from gpuopt.driver import find_driver
from training import execute

HEADER = """# The forms of attention in models

Which `nn.attention` each model of test/Integration/zoo.py becomes, exported by `gpuopt.export` with its defaults. Numbers
count layers. *By calls* is attention that the runtime computes without the matrix of its probabilities in memory
([rationale/attention.md](rationale/attention.md)); *in memory* is attention whose probabilities are tensors of the step, and
the reason is what the compiler's remark says.

- A *band* says which keys a query sees by two numbers: those of causal attention and of a sliding window.
- A *mask* hides keys, by a choice (*boolean*) or by numbers that are *added* to the scores.
- A *bias* is added before any mask. Its gradient is computed if it is trained, as in T5 and Swin.
- A *soft cap* c turns a score x into c tanh(x / c), before a bias or a mask.
- *Groups* of heads share keys and values.

The table is written by

<!-- not run: it exports all models, which test_attention_forms.py does -->
```sh
PYTHONPATH=python build/venv/bin/python test/Integration/zoo_forms.py > docs/attention-forms.md
```

Models without attention are left out.

| model | by calls | in memory |
|---|---|---|
"""

ATTENTION = re.compile(r"= nn\.attention (.*)")
MASK_TYPES = {"i1": "boolean mask", "f32": "added mask"}


def shape_of(tensor: str) -> list[str]:
    return re.fullmatch(r"tensor<(.*)>", tensor)[1].split("x")


def form_of(attention: str) -> str:
    """What an nn.attention has beside query, key and value: 'band, bias'."""
    operands = re.sub(r" bias (%\w+) : tensor<.*?>", r" bias \1", attention)  # the other types come at the end
    types = re.findall(r"tensor<.*?>", operands)
    query, key = shape_of(types[0]), shape_of(types[1])
    parts = []
    if band := re.search(r" band \[(-?\d+), (-?\d+)\]", operands):
        is_causal = -int(band[1]) >= int(query[-3]) and band[2] == "0"
        parts.append("causal band" if is_causal else "band of a window")
    if " mask " in operands:
        parts.append(MASK_TYPES[shape_of(types[3])[-1]])
    if " bias " in operands:
        parts.append("bias")
    if " softcap " in operands:
        parts.append("soft cap")
    if query[:-3] != key[:-3]:
        parts.append(f"groups of {int(query[-4]) // int(key[-4])} heads")
    if " dropout " in operands:
        parts.append("dropout")
    return ", ".join(parts) or "plain"


def forms_of(text: str) -> Counter[str]:
    """The forms of all nn.attention ops of a module, and how often each occurs."""
    return Counter(map(form_of, ATTENTION.findall(text)))


def reasons_of(module: Path, flag: str, category: str) -> Counter[str]:
    """What a pass says of the attention that stays in memory."""
    text = execute([
        Path(find_driver()).with_name("gpuopt-opt"), module, "-o", "/dev/null", flag, f"--remarks-filter-missed={category}",
        "--remark-format=emitRemark",
    ])
    remarks = re.findall(r"\[Missed\].*?Remark=\"(.*?)\"", text)
    return Counter(remark.removeprefix("attention is expanded, with its matrix of probabilities in memory: ") for remark in remarks)


def row(name: str, folder: Path) -> str | None:
    case, model = zoo.make(name), folder / "model.onnx"
    gpuopt.export(case.module, case.example_inputs(), model, input_names=list(case.inputs), output_names=["logits"])
    execute([find_driver(), "compile", model, "-o", folder / "program", f"--batch-size={case.batch}", f"--loss={case.loss}", f"--dump-phases-to={folder}"])
    module = folder / "1-nn.mlir"
    missed = reasons_of(module, "--nn-recognize-attention", "recognize-attention")
    missed += reasons_of(module, "--nn-expand-attention", "expand-attention")
    kept = forms_of(execute([Path(find_driver()).with_name("gpuopt-opt"), module, "--nn-expand-attention"]))
    if not kept and not missed:
        return None
    by_calls = "; ".join(f"{count} × {form}" for form, count in kept.items()) or "-"
    in_memory = "; ".join(f"{count} × {reason}" for reason, count in missed.items()) or "-"
    return f"| {name} | {by_calls} | {in_memory} |"


def main() -> None:
    torch.set_num_threads(2)
    print(HEADER, end="")
    for name in sys.argv[1:] or zoo.MODELS:
        with tempfile.TemporaryDirectory() as folder:
            if line := row(name, Path(folder)):
                print(line, flush=True)


if __name__ == "__main__":
    main()
