"""How many instructions a lane of a GPU issues for one element of each
elementwise op of a kernel: of the functions of Runtime/gpuopt/kernels, as nvcc
compiles them for one architecture, less those of a kernel that copies.

usage: benchmarks/lane_instructions.py --nvdisasm PATH [--arch sm_90]

Slow paths that a function calls for few of its arguments stand behind the
kernel's end and are not counted; what stands before it is, all branches. The
table of lib/Interfaces/LaneInstructions.cpp is made from what this prints.
nvdisasm is in the wheel nvidia-cuda-nvdisasm.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LANES = 8
# Ops of the bodies of kernels, as kernels are written: x and z are lanes of
# floats, and at is the number of the first one.
EXPRESSIONS = {
    "copy": "x", "arith.addf": "x + z", "arith.mulf": "x * z", "arith.divf": "x / z",
    "arith.divf, normal divisor": "fast_divide(x, z)",
    "math.exp of half precision": "fast_exp(x)", "math.tanh beside 1": "fast_tanh(x)",
    "arith.negf": "Lanes<float>(0.0f) - x",
    "arith.maximumf": "max(x, z)", "arith.select and arith.cmpf": "select(x > z, x, z)", "arith.remf": "fmod(x, z)",
    "math.rsqrt": "rsqrt(x)", "math.sqrt": "sqrt(x)", "math.powf": "pow(x, z)",
    "nn.random_uniform": "random_uniform_vector(7, 3, 11, at)",
    **{f"math.{name}": f"{name}(x)" for name in (
        "exp expm1 log log1p tanh erf sin cos tan sinh cosh asin acos atan asinh acosh atanh").split()},
}
# z comes from x, so that both kernels load as much.
KERNEL = """
__global__ void k{number}(const float *in, float *out) {{
  const int64_t at = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) * kLanes;
  float values[kLanes];
  for (int k = 0; k < kLanes / 4; k++)
    reinterpret_cast<float4 *>(values)[k] = reinterpret_cast<const float4 *>(in + at)[k];
  Lanes<float> x;
  for (int k = 0; k < kLanes; k++)
    x.part[k] = values[k];
  const Lanes<float> z(in[0]);
  const Lanes<float> y = {expression};
  for (int k = 0; k < kLanes; k++)
    values[k] = y.part[k];
  for (int k = 0; k < kLanes / 4; k++)
    reinterpret_cast<float4 *>(out + at)[k] = reinterpret_cast<float4 *>(values)[k];
}}
"""


def count(listing: str) -> dict[int, int]:
    """Instructions of each kernel up to its last EXIT."""
    counts = {}
    for section in re.split(r"^\s*\.section\s+\.text\.", listing, flags=re.M)[1:]:
        number = int(re.search(r"_Z\d+k(\d+)", section).group(1))
        lines = re.findall(r"^\s*/\*[0-9a-f]+\*/\s+(.*?);", section, re.M)
        ends = [place for place, line in enumerate(lines) if re.search(r"\bEXIT\b", line) and "@" not in line]
        counts[number] = len([line for line in lines[: ends[0] + 1] if "NOP" not in line])
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvdisasm", required=True)
    parser.add_argument("--arch", default="sm_90")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "kernels.cu"), Path(folder, "kernels.cubin")
        kernels = [KERNEL.format(number=number, expression=expression)
                   for number, expression in enumerate(EXPRESSIONS.values())]
        source.write_text('#include "gpuopt/kernels/block.h"\n#include "gpuopt/kernels/elementary.h"\n'
                          '#include "gpuopt/kernels/random.h"\nusing namespace gpuopt;\n' + "".join(kernels))
        subprocess.run(["nvcc", "-std=c++17", f"-arch={options.arch}", "-fmad=false", f"-DGPUOPT_LANES={LANES}",
                        "-diag-suppress=550", "-cubin",
                        f"-I{ROOT / 'lib' / 'Runtime'}", "-o", binary, source], check=True)
        listing = subprocess.run([options.nvdisasm, "-c", binary], check=True, capture_output=True, text=True).stdout
    counts = count(listing)
    copy = counts[0]
    for number, name in enumerate(EXPRESSIONS):
        print(f"{name:<28}{(counts[number] - copy) / LANES:6.1f}")


if __name__ == "__main__":
    main()
