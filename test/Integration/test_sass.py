"""What nvcc makes of emitted kernels, for sm_80 and sm_90: registers suffice, rows move in vectors of 16 bytes, and loads
come before the first use of any of them. No GPU is needed."""

import re
import shutil
from pathlib import Path

import pytest

from gpuopt.driver import find_driver
from emulated import ROOT, nvidia_wheels
from exports import export_case
from training import execute


def find_disassembler() -> str | None:
    """nvdisasm of the toolkit, or of NVIDIA's wheel."""
    wheels = [path for folder in (nvidia_wheels() or "").split(";") for path in sorted(Path(folder).glob("*/bin/nvdisasm"))]
    return shutil.which("nvdisasm") or (str(wheels[0]) if wheels else None)


pytestmark = [
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc"),
    pytest.mark.skipif(nvidia_wheels() is None, reason="no wheels of cuBLASLt and cuDNN"),
    pytest.mark.skipif(find_disassembler() is None, reason="no nvdisasm"),
]


class Kernels:
    """The kernels of a program for one architecture."""

    def __init__(self, program: Path, folder: Path, architecture: str):
        self.report = ""
        self.instructions: dict[str, list[str]] = {}
        self.sources: dict[str, str] = {}
        for file in sorted(program.glob("kernels_*.cu")) or [program / "step.cu"]:
            self.read(file.read_text())
            cubin = folder / f"{file.stem}.{architecture}.cubin"
            includes = [f"-I{wheel}/{name}/include" for wheel in nvidia_wheels().split(";") for name in ("cu13", "cudnn")]
            self.report += execute(
                ["nvcc", "-std=c++20", "-fmad=false", f"-arch={architecture}", "-cubin", "-Xptxas=-v,-warn-spills",
                 f"-I{program}", *includes, "-o", cubin, file])
            self.disassemble(execute([find_disassembler(), "-c", cubin]))

    def read(self, source: str):
        for match in re.finditer(r"^(?:EXPORTED_)?KERNEL .*?void (\w+)\(.*?^}$", source, re.M | re.S):
            self.sources[match[1]] = match[0]

    def disassemble(self, listing: str):
        code = None
        for line in listing.splitlines():
            if section := re.match(r"\s*\.section\s+\.text\.(\S+?),", line):
                # "_ZN6gpuopt5model9fused_sumEPKf..."
                name = re.search(r"5model(?:L)?(\d+)(\w+)", section[1])
                code = self.instructions.setdefault(name[2][: int(name[1])], []) if name else None
            instruction = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+\s+)?([A-Z][\w.]*)", line)
            if instruction and code is not None:
                code.append(instruction[1])

    def having(self, text: str) -> dict[str, list[str]]:
        """Instructions of the kernels whose source has the text."""
        found = {name: self.instructions[name] for name, source in self.sources.items() if text in source}
        assert found, f"no kernel has '{text}'"
        return found


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A small GPT in half precision: layer norms, GELU, cross entropy, sums of columns."""
    folder = tmp_path_factory.mktemp("sass")
    execute([find_driver(), "compile", ROOT / "examples" / "gpt.onnx", "-o", folder / "program", "--target=cuda",
             "--device=h200", "--precision=fp16", "--batch-size=64"])
    return folder / "program"


@pytest.fixture(scope="module", params=["sm_80", "sm_90"])
def kernels(request, program):
    return Kernels(program, program.parent, request.param)


def test_registers_suffice(kernels):
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", kernels.report)
    assert len(spills) >= len(kernels.sources) > 20
    assert set(spills) == {("0", "0")}, kernels.report
    assert not any(code.startswith(("LDL", "STL")) for codes in kernels.instructions.values() for code in codes)


def test_rows_move_in_vectors(kernels):
    """All rows of this model are aligned, so no element of two bytes travels alone."""
    for name in kernels.sources:
        codes = kernels.instructions[name]
        assert not [code for code in codes if re.match(r"(LDG|STG)\.E\.(U|S)?(8|16)\b", code)], name
    for name, codes in kernels.having("store_vector").items():
        assert any(re.match(r"STG\.E\.128", code) for code in codes), name


def loads_before_use(codes: list[str]) -> int:
    """Loads of 16 bytes before the first conversion of a half, which is an addition, or the first addition."""
    first = next(i for i, code in enumerate(codes) if code.startswith(("FADD", "HADD")))
    return sum(code.startswith("LDG.E.128") for code in codes[:first])


def test_sums_of_columns_load_ahead(kernels):
    """Eight rows are under way before the first of them is added."""
    for name, codes in kernels.having("k < 8; k++").items():
        assert loads_before_use(codes) >= 8, (name, codes)


def test_warps_do_not_wait(kernels):
    for name, codes in kernels.having("group_sum<32>").items():
        assert not any(code.startswith("BAR") for code in codes), name


def test_no_double_precision(kernels):
    for name in kernels.sources:
        codes = kernels.instructions[name]
        assert not [code for code in codes if re.match(r"D(ADD|MUL|FMA|SETP|MNMX)|F2F\.F64|MUFU\..*64", code)], name


@pytest.fixture(scope="module")
def convolutional(tmp_path_factory):
    """A ResNet of 16 to 128 channels in half precision: rows of 2 to 16 vectors."""
    folder = tmp_path_factory.mktemp("sass-convolutional")
    export_case("resnet18-small", folder / "model.onnx")
    execute([find_driver(), "compile", folder / "model.onnx", "-o", folder / "program", "--target=cuda",
             "--device=h200", "--precision=fp16", "--batch-size=64"])
    return folder / "program"


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_short_rows(convolutional, architecture):
    """Groups of threads take the rows of elementwise kernels. They move vectors, and what all rows share stays in
    registers, which suffice."""
    kernels = Kernels(convolutional, convolutional.parent, architecture)
    for width, columns in [(2, 16), (4, 32), (8, 64), (16, 128)]:
        for name, codes in kernels.having(f"turns<{width}>({columns})").items():
            assert any(code.startswith("LDG.E.128") for code in codes), name
            assert any(code.startswith("STG.E.128") for code in codes), name
            assert not [code for code in codes if re.match(r"(LDG|STG)\.E\.(U|S)?(8|16)\b|LDL|STL", code)], name


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name, text", [("gpt2-words", "row[turn] ="), ("gpt2-vocabulary", "ExpSum<float>")])
def test_long_rows(name, text, architecture, tmp_path):
    """Cross entropies over 1543 and 8209 words: what a row or a running sum needs is in registers, and the row that is
    held is read once. Its elements are not aligned: a turn has loads for 8 lanes, and for up to 7 at the end of a row."""
    export_case(name, tmp_path / "model.onnx")
    execute([find_driver(), "compile", tmp_path / "model.onnx", "-o", tmp_path / "program", "--target=cuda",
             "--device=h200", "--precision=fp16", "--batch-size=64", "--loss-chunks=2"])
    kernels = Kernels(tmp_path / "program", tmp_path, architecture).having(text)
    kernels = {kernel: codes for kernel, codes in kernels.items() if kernel.startswith("fused_cross_entropy")}
    assert kernels
    for kernel, codes in kernels.items():
        assert not any(code.startswith(("LDL", "STL")) for code in codes), kernel
        loads = sum(bool(re.match(r"LDG\.E\.U16", code)) for code in codes)
        if name == "gpt2-words":
            assert loads <= 2 * 15, kernel  # two turns
