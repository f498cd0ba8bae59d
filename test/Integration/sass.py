"""What nvcc makes of the kernels of an emitted program, and what follows from it: registers, instructions, and the rate
at which a kernel can read and write. No GPU is needed."""

import dataclasses
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from emulated import nvidia_wheels
from training import execute


def find_disassembler() -> str | None:
    """nvdisasm of the toolkit, or of NVIDIA's wheel."""
    wheels = [path for folder in (nvidia_wheels() or "").split(";") for path in sorted(Path(folder).glob("*/bin/nvdisasm"))]
    return shutil.which("nvdisasm") or (str(wheels[0]) if wheels else None)


@dataclass
class Device:
    """As lib/Analysis/Costs/DeviceModel.cpp describes them."""

    multiprocessors: int
    bytes_per_second: float
    latency: float  # of a load while the memory is busy
    clock: float
    lanes: int = 128  # instructions of lanes that a multiprocessor begins in one clock
    threads: int = 2048
    registers: int = 65536
    blocks: int = 32


# What nvcc is told: as in a program's build, GPUs of compute capability 9.0 have code that others cannot run.
PRODUCTS = ("HMMA", "HGMMA")  # of a warp, and of a warpgroup
FLAGS = {"sm_80": ["-arch=sm_80"], "sm_90": ["-arch=sm_90a", "-DGPUOPT_BUILT_FOR_SM90A"]}
DEVICES = {"sm_80": Device(108, 1.3e12, 600e-9, 1.41e9, lanes=64), "sm_90": Device(132, 4.1e12, 700e-9, 1.755e9)}

SIZES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i64": 8, "i32": 4, "ui8": 1, "i8": 1, "i1": 1}
# How the parameters of kernels call these types.
PARAMETERS = {"float": "f32", "double": "f64", "int64_t": "i64", "int32_t": "i32", "uint8_t": "i1"}


@dataclass
class Instruction:
    code: str  # "LDG.E.128.CONSTANT"
    operands: str
    address: int
    is_conditional: bool = False  # some lanes, or all, may skip it

    def width(self) -> int:
        """The bytes that a load or a store moves for a lane."""
        found = re.search(r"\.(128|64|U8|S8|U16|S16)\b", self.code)
        return {"128": 16, "64": 8, "U8": 1, "S8": 1, "U16": 2, "S16": 2}[found[1]] if found else 4

    def registers(self) -> list[int]:
        return [int(number) for number in re.findall(r"\bR(\d+)\b", self.operands)]

    def target(self) -> int | None:
        found = re.search(r"`\(\.(L_x_\d+)\)", self.operands)
        return found[1] if found else None


@dataclass
class Kernel:
    name: str
    source: str = ""
    uses: str = ""  # the comment above it
    instructions: list[Instruction] = dataclasses.field(default_factory=list)
    labels: dict[str, int] = dataclasses.field(default_factory=dict)  # to the index of an instruction
    registers: int = 0
    shared_bytes: int = 0

    @property
    def codes(self) -> list[str]:
        return [instruction.code for instruction in self.instructions]

    def grid(self) -> tuple[int, int]:
        """The largest grid that it is launched with: blocks, and threads of a block."""
        blocks, threads = re.match(r"(?:.*?\. )?(?:\d+ to )?(\d+) blocks? of (?:\d+ to )?(\d+) threads", self.uses).groups()
        return int(blocks), int(threads)

    def parameter_types(self) -> list[str]:
        header = self.source[: self.source.index("{")]
        types = [PARAMETERS.get(name, name) for name in re.findall(r"(\w+) \*", header)]
        return [name for name in types if name != "StepState"]

    def bytes_in_flight(self) -> float:
        """The bytes that a thread has loads under way for when it first waits: of all such places of the kernel, each
        counted by its bytes."""
        waiting: dict[int, int] = {}  # from a register to the load that writes it
        batches, batch = [], 0
        for number, instruction in enumerate(self.instructions):
            registers = instruction.registers()
            is_load = instruction.code.startswith("LDG")
            if any(register in waiting for register in registers[is_load:]):
                batches.append(batch)
                waiting.clear()
                batch = 0
            if is_load:
                batch += instruction.width()
                waiting.update({registers[0] + i: number for i in range(max(1, instruction.width() // 4))})
        return sum(size * size for size in batches) / sum(batches) if batches else 0

    def loops(self) -> list[list[Instruction]]:
        """The bodies of the innermost loops that read or write memory."""
        spans = []
        for end, instruction in enumerate(self.instructions):
            begin = self.labels.get(instruction.target() or "")
            if instruction.code.startswith("BRA") and begin is not None and begin < end:
                spans.append((begin, end + 1))
        inner = [span for span in spans if not any(other != span and span[0] <= other[0] and other[1] <= span[1] for other in spans)]
        bodies = [self.instructions[begin:end] for begin, end in inner]
        return [body for body in bodies if any(re.match("LDG|STG", instruction.code) for instruction in body)]

    def tile_loop(self) -> list[Instruction]:
        """What a warp executes in one round of the innermost loop with products of matrices, where it leaves out as much
        as it may: of all ways through the loop, the shortest of those with the most products, copies and exponentials."""
        loops = []
        for end, instruction in enumerate(self.instructions):
            begin = self.labels.get(instruction.target() or "")
            if instruction.code.startswith("BRA") and begin is not None and begin < end:
                loops.append(range(begin, end + 1))
        loop = min((loop for loop in loops if any(self.codes[i].startswith(PRODUCTS) for i in loop)), key=len)
        # From each instruction to the end: products, copies, exponentials, instructions (negative), and those.
        ways: dict[int, tuple[int, int, int, int, list[Instruction]]] = {}
        for place in reversed(loop):
            instruction = self.instructions[place]
            following = [place + 1]
            if instruction.code.startswith("BRA") and instruction.code != "BRA.DIV":  # of warps whose lanes have parted
                following = [self.labels.get(instruction.target() or "", -1)] + [place + 1] * instruction.is_conditional
            elif instruction.code == "EXIT" and not instruction.is_conditional:
                following = []
            best = max((ways[i] for i in following if i > place and i in ways), key=lambda way: way[:4], default=None)
            if place == loop[-1]:
                best = (0, 0, 0, 0, [])
            if best:
                code = instruction.code
                ways[place] = (best[0] + code.startswith(PRODUCTS), best[1] + code.startswith("LDGSTS"),
                               best[2] + code.startswith("MUFU.EX2"), best[3] - 1, [instruction] + best[4])
        return ways[loop[0]][4]

    def instructions_per_byte(self) -> float:
        """In its loops, or in all of it if it has none. What follows the last exit are slow paths and padding."""
        ends = [place for place, code in enumerate(self.codes) if code == "EXIT"]
        every = [i for body in self.loops() or [self.instructions[: ends[-1] + 1]] for i in body]
        moved = sum(i.width() for i in every if re.match("LDG|STG", i.code))
        return len(every) / moved if moved else 0

    def resident_warps(self, device: Device) -> float:
        """Of one multiprocessor: as many as registers, threads and shared memory allow and the grid has."""
        blocks, threads = self.grid()
        warps = -(-threads // 32)
        room = min(device.blocks, device.threads // (warps * 32),
                   device.registers // (-(-self.registers // 8) * 8 * 32 * warps),
                   163 * 1024 // max(1, self.shared_bytes))
        return min(warps * room, warps * blocks / device.multiprocessors)

    def bandwidth(self, device: Device) -> float:
        """Bytes in a second, by Little's law and by the instructions that lanes begin."""
        in_flight = device.multiprocessors * self.resident_warps(device) * 32 * self.bytes_in_flight()
        issue = device.multiprocessors * device.lanes * device.clock / max(self.instructions_per_byte(), 1e-9)
        rates = [device.bytes_per_second, issue]
        return min(rates + ([in_flight / device.latency] if in_flight else []))


class Kernels:
    """The kernels of a program for one architecture."""

    def __init__(self, program: Path, folder: Path, architecture: str):
        self.architecture = architecture
        self.device = DEVICES[architecture]
        self.report = ""
        self.kernels: dict[str, Kernel] = {}
        self.of_runtime: dict[str, Kernel] = {}  # of templates, the last instance
        for file in sorted(program.glob("kernels_*.cu")) or sorted(program.glob("kernels.cu")) or [program / "step.cu"]:
            self.read(file.read_text())
            cubin = folder / f"{file.stem}.{architecture}.cubin"
            includes = [f"-I{wheel}/{name}/include" for wheel in nvidia_wheels().split(";") for name in ("cu13", "cudnn")]
            report = execute(
                ["nvcc", "-std=c++17", "-fmad=false", *FLAGS[architecture], "-cubin", "-Xptxas=-v,-warn-spills",
                 f"-I{program}", *includes, "-o", cubin, file])
            self.report += report
            self.read_report(report)
            self.disassemble(execute([find_disassembler(), "-c", cubin]))
        self.read_sizes((program / "calls.h").read_text())

    def read(self, source: str):
        for match in re.finditer(r"((?:^//[^\n]*\n)*)^((?:EXPORTED_)?KERNEL .*?void (\w+)\(.*?^}$)", source, re.M | re.S):
            uses = " ".join(line.removeprefix("//").strip() for line in match[1].splitlines())
            self.kernels[match[3]] = Kernel(match[3], match[2], uses)

    def named(self, symbol: str) -> Kernel | None:
        # "_ZN6gpuopt5model9fused_sumEPKf..."
        if name := re.search(r"5model(?:L)?(\d+)(\w+)", symbol):
            return self.kernels.get(name[2][: int(name[1])])
        # "_ZN6gpuopt6detail17attention_forwardINS_3f16ELi64E..."
        if name := re.search(r"6gpuopt6detail(\d+)(\w+)", symbol):
            name = name[2][: int(name[1])]
            return self.of_runtime.setdefault(name, Kernel(name))
        return None

    def read_report(self, report: str):
        for symbol, text in re.findall(r"Compiling entry function '(\S+)' for '\w+'(.*?)(?=Compiling entry|\Z)", report, re.S):
            if kernel := self.named(symbol):
                kernel.registers = int(re.search(r"Used (\d+) registers", text)[1])
                shared = re.search(r"(\d+) bytes smem", text)
                kernel.shared_bytes = int(shared[1]) if shared else 0

    def disassemble(self, listing: str):
        kernel = None
        for line in listing.splitlines():
            if section := re.match(r"\s*\.section\s+\.text\.(\S+?),", line):
                kernel = self.named(section[1])
            if kernel is None:
                continue
            if label := re.match(r"\.(L_x_\d+):", line):
                kernel.labels[label[1]] = len(kernel.instructions)
            if found := re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(@!?U?P\d+\s+)?([A-Z][\w.]*)(.*);", line):
                # "@P0 BRA `(.L_x_1)" or "BRA P0, `(.L_x_1)"
                is_conditional = bool(found[2] or re.match(r"\s*!?U?P\d", found[4]))
                kernel.instructions.append(Instruction(found[3], found[4], int(found[1], 16), is_conditional))

    def read_sizes(self, calls: str):
        """The bytes of each call, from "fused add_gelu #1f7d450a f16[64,128,512] f32[512] -> f16[64,128,512]"."""
        self.sizes: list[tuple[str, str, list[str], int]] = []
        for origin, label, tensors in re.findall(r'{"(.*?)", "fused (\w+) #\w+ (.*?)", \d+}', calls):
            found = re.findall(r"(\w+)\[([\d,]*)\]", tensors)
            size = 0
            for name, shape in found:
                elements = 1
                for extent in filter(None, shape.split(",")):
                    elements *= int(extent)
                size += elements * SIZES[name]
            self.sizes.append((origin, label, [name for name, _ in found], size))

    def size_of(self, kernel: Kernel) -> int:
        """The bytes of the tensors of the kernel's first launch; 0 of one that the list of calls does not tell apart."""
        uses = kernel.uses.split(" For ", 1)[-1].split(";")[0].rstrip(".")
        label = re.sub(r"_\d+$", "", kernel.name.removeprefix("fused_"))
        sizes = [size for origin, name, types, size in self.sizes
                 if origin == uses and name == label and types == kernel.parameter_types()[: len(types)]]
        return sizes[0] if len(set(sizes)) == 1 else 0

    def having(self, text: str) -> dict[str, Kernel]:
        """The kernels whose source has the text."""
        found = {name: kernel for name, kernel in self.kernels.items() if text in kernel.source}
        assert found, f"no kernel has '{text}'"
        return found

    def slow(self) -> list[str]:
        """The kernels that move more than 1 MiB at less than half of the device's bandwidth, and why."""
        found = []
        for kernel in self.kernels.values():
            share = kernel.bandwidth(self.device) / self.device.bytes_per_second
            if self.size_of(kernel) > 1 << 20 and share < 0.5:
                found.append(
                    f"{kernel.name}: {share:.0%} of the bandwidth for {self.size_of(kernel) >> 10} KiB, {kernel.grid()} blocks and "
                    f"threads, {kernel.registers} registers, {kernel.resident_warps(self.device):.1f} warps, "
                    f"{kernel.bytes_in_flight():.0f} bytes in flight, {kernel.instructions_per_byte():.1f} instructions a byte")
        return found
