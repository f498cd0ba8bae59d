#!/usr/bin/env python3
"""Checks that each folder includes and links only what it may.

usage: audit_includes.py [--root FOLDER] [--table | --graph | --update-docs]

RULES below is the one place that says what a folder of lib/, of include/gpuopt/
or of tools/ may include. Without a flag, the script reads every #include of the
sources, every include of the ODS files and every LINK of the CMake files, and
prints each that is not allowed, with its file and line. It also checks that the
table in docs/architecture.md is the one that RULES makes. It exits with 1 if
anything is wrong.

  --root         checks the tree in FOLDER instead of this checkout
  --table        prints the table as Markdown
  --graph        prints what each folder does include today
  --update-docs  writes the table into docs/architecture.md
"""
import argparse
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

# ===------------------------------------------------------------------=== #
# The table
# ===------------------------------------------------------------------=== #


@dataclass
class Rule:
    """A folder, what is in it, the folders above it in RULES that it may
    include, and the libraries that it may include beside the C++ library."""
    folder: str
    holds: str
    folders: list[str] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)


# A folder may include those above it alone, so the table has no cycles.
RULES = [
    Rule("lib/Runtime/gpuopt/kernels", "what kernels are written in: element types, lanes, blocks, exact functions",
         libraries=["system", "CUDA"]),
    Rule("lib/Runtime/gpuopt/device", "memory, launches, copies and events, on CUDA and on the host",
         ["lib/Runtime/gpuopt/kernels"], ["system", "CUDA", "oneDNN"]),
    Rule("lib/Runtime/gpuopt/settings", "the tables of settings, optimizers and targets, flags, and what the compiler and programs "
         "must agree on",
         ["lib/Runtime/gpuopt/device"]),
    Rule("lib/Runtime/gpuopt/optimizers", "the end of a step: norm, loss scale, updates",
         ["lib/Runtime/gpuopt/kernels", "lib/Runtime/gpuopt/device", "lib/Runtime/gpuopt/settings"]),
    Rule("lib/Runtime/gpuopt/ops", "calls: products, attention, convolutions, pooling, scatter, checks",
         ["lib/Runtime/gpuopt/kernels", "lib/Runtime/gpuopt/device", "lib/Runtime/gpuopt/settings",
          "lib/Runtime/gpuopt/optimizers"],
         ["CUDA", "oneDNN"]),
    Rule("lib/Runtime/gpuopt/program", "the tables by which a program describes itself",
         ["lib/Runtime/gpuopt/kernels", "lib/Runtime/gpuopt/settings", "lib/Runtime/gpuopt/optimizers"]),
    Rule("lib/Runtime/gpuopt/data", "files of samples and weights, and batches prepared ahead of the step",
         ["lib/Runtime/gpuopt/kernels", "lib/Runtime/gpuopt/device", "lib/Runtime/gpuopt/optimizers",
          "lib/Runtime/gpuopt/program"], ["system", "codecs"]),
    Rule("lib/Runtime/gpuopt/trainer", "the trainer around a program",
         ["lib/Runtime/gpuopt/kernels", "lib/Runtime/gpuopt/device", "lib/Runtime/gpuopt/settings",
          "lib/Runtime/gpuopt/optimizers", "lib/Runtime/gpuopt/program", "lib/Runtime/gpuopt/data"], ["system"]),
    Rule("lib/Runtime/gpuopt/predictor", "the predictor around a program of the forward alone",
         ["lib/Runtime/gpuopt/" + room for room in
          ("kernels", "device", "settings", "program", "data", "trainer")], ["system"]),
    Rule("lib/Runtime/emulation", "CUDA programs on the processor, for tests: threads of kernels, the CUDA runtime, "
         "cuBLASLt, cuDNN and CUPTI", libraries=["system", "CUDA", "Boost"]),
    Rule("lib/Runtime/calibration", "the program that measures a device",
         ["lib/Runtime/gpuopt/" + room for room in ("kernels", "device", "settings", "ops")], ["system"]),
    Rule("lib/Runtime", "headers that emitted programs are built on, copied beside each program",
         ["lib/Runtime/gpuopt/" + room for room in
          ("kernels", "device", "settings", "optimizers", "ops", "program", "data", "trainer")], ["Arrow"]),
    Rule("lib/Runtime/gpuopt/api", "the C API, which gpuopt.h declares, around a program",
         ["lib/Runtime/gpuopt/" + room for room in
          ("kernels", "device", "settings", "optimizers", "program", "data", "trainer")] + ["lib/Runtime"], ["system"]),
    Rule("lib/Planning", "the solvers and their checkers: recomputation, the arena, precisions; of the runtime, the text of bytes",
         ["lib/Runtime/gpuopt/device"]),
    Rule("include/gpuopt/Support", "files, output streams, names and sizes of tensors, expressions of names", libraries=["LLVM", "MLIR"]),
    Rule("lib/Interfaces", "what a pass may ask of any op: its gradient, its cost, what it is as a call",
         ["lib/Runtime/gpuopt/settings", "include/gpuopt/Support"], ["LLVM", "MLIR"]),
    Rule("lib/Dialect/Onnx/IR", "ops that say what the file says", libraries=["LLVM", "MLIR"]),
    Rule("lib/Dialect/NN/IR", "ops on tensors, with gradients, costs and calls",
         ["lib/Runtime/gpuopt/settings", "include/gpuopt/Support", "lib/Interfaces"], ["LLVM", "MLIR"]),
    Rule("lib/Dialect/Train/IR", "the step and its state; of the runtime, the table of optimizers",
         ["lib/Runtime/gpuopt/settings", "include/gpuopt/Support", "lib/Interfaces"],
         ["LLVM", "MLIR"]),
    Rule("lib/Dialect/Device/IR", "kernels, calls and buffers",
         ["lib/Runtime/gpuopt/settings", "include/gpuopt/Support", "lib/Dialect/Train/IR"], ["LLVM", "MLIR"]),
    Rule("lib/Analysis", "questions about the IR, which change nothing",
         ["lib/Runtime/gpuopt/settings", "lib/Planning", "include/gpuopt/Support", "lib/Interfaces", "lib/Dialect/NN/IR", "lib/Dialect/Train/IR"],
         ["LLVM", "MLIR"]),
    Rule("lib/Dialect/NN/Transforms", "passes on tensors: attention, layouts, composite ops",
         ["lib/Analysis", "lib/Dialect/NN/IR"], ["LLVM", "MLIR"]),
    Rule("lib/Transforms/Kernels", "passes that form the kernels and calls of a step",
         ["include/gpuopt/Support", "lib/Analysis", "lib/Dialect/NN/IR", "lib/Dialect/Train/IR"], ["LLVM", "MLIR"]),
    Rule("lib/Transforms/Printing", "passes that print what analyses say, for tests and for people",
         ["lib/Planning", "include/gpuopt/Support", "lib/Interfaces", "lib/Analysis", "lib/Dialect/NN/IR",
          "lib/Dialect/Train/IR"], ["LLVM", "MLIR"]),
    Rule("lib/Dialect/Train/Transforms", "passes on steps: the backward, precisions, the schedule, memory",
         ["lib/Runtime/gpuopt/settings", "lib/Planning", "include/gpuopt/Support", "lib/Interfaces", "lib/Analysis", "lib/Dialect/NN/IR",
          "lib/Dialect/Train/IR", "lib/Transforms/Kernels"], ["LLVM", "MLIR"]),
    Rule("lib/Dialect/Device/Transforms", "passes on kernels and calls: loops of layers, kernels that several sizes share",
         ["include/gpuopt/Support", "lib/Dialect/Train/IR", "lib/Dialect/Device/IR"], ["LLVM", "MLIR"]),
    Rule("lib/Conversion/OnnxToNN", "a converter for each ONNX operator",
         ["include/gpuopt/Support", "lib/Dialect/Onnx/IR", "lib/Dialect/NN/IR", "lib/Dialect/Train/IR"], ["LLVM", "MLIR"]),
    Rule("lib/Conversion/ToDevice", "scheduled steps become kernels, calls and buffers",
         ["lib/Planning", "include/gpuopt/Support", "lib/Interfaces", "lib/Analysis", "lib/Dialect/NN/IR", "lib/Dialect/Train/IR",
          "lib/Dialect/Device/IR"], ["LLVM", "MLIR"]),
    Rule("lib/Import/Onnx", "reads the file, and writes it with other weights",
         ["include/gpuopt/Support", "lib/Dialect/Onnx/IR"], ["LLVM", "MLIR", "protobuf"]),
    Rule("lib/Target/Cxx", "prints the program; of the runtime, reads the table of settings",
         ["lib/Runtime/gpuopt/settings", "lib/Dialect/Train/IR", "lib/Dialect/Device/IR"], ["LLVM", "MLIR"]),
    Rule("lib/Pipelines", "the order of passes, and what must hold after each phase",
         ["lib/Runtime/gpuopt/settings", "lib/Planning", "lib/Interfaces", "lib/Analysis", "lib/Dialect/Onnx/IR", "lib/Dialect/NN/IR",
          "lib/Dialect/Train/IR", "lib/Dialect/Device/IR", "lib/Dialect/NN/Transforms",
          "lib/Transforms/Kernels", "lib/Transforms/Printing", "lib/Dialect/Train/Transforms",
          "lib/Dialect/Device/Transforms", "lib/Conversion/OnnxToNN", "lib/Conversion/ToDevice"], ["LLVM", "MLIR"]),
    Rule("lib/Driver", "the commands of `gpuopt`: flags, files, reports, builds",
         ["lib/Runtime/gpuopt/device", "lib/Runtime/gpuopt/settings", "lib/Runtime/gpuopt/data",
          "lib/Runtime/gpuopt/trainer", "lib/Runtime/gpuopt/predictor", "lib/Planning", "include/gpuopt/Support", "lib/Analysis",
          "lib/Dialect/Onnx/IR", "lib/Dialect/Train/IR", "lib/Dialect/Device/IR", "lib/Import/Onnx", "lib/Target/Cxx",
          "lib/Pipelines"],
         ["LLVM", "MLIR", "system"]),
    Rule("tools/gpuopt", "the main of `gpuopt`", ["lib/Driver"]),
    Rule("tools/gpuopt-opt", "runs passes on MLIR text", ["lib/Pipelines"], ["LLVM", "MLIR"]),
    Rule("tools/gpuopt-translate", "imports and prints", ["lib/Import/Onnx", "lib/Target/Cxx"], ["LLVM", "MLIR"]),
    Rule("tools/gpuopt-lsp-server", "serves editors of MLIR text", ["lib/Pipelines"], ["MLIR"]),
    Rule("tools/gpuopt-plan-convolutions", "cuDNN's plans of convolutions, without a GPU",
         ["lib/Runtime/gpuopt/settings", "lib/Runtime/gpuopt/ops", "lib/Planning", "include/gpuopt/Support"],
         ["LLVM", "CUDA"]),
    Rule("tools/gpuopt-solve", "the solvers on files", ["lib/Planning", "include/gpuopt/Support"], ["LLVM"]),
]

# Files that include what their folder may not, with the reason. An exception
# that is not needed any more is an error.
EXCEPTIONS: dict[tuple[str, str], str] = {}

# What an include names that is in no folder of ours.
LIBRARIES = [
    (r"mlir/", "MLIR"),
    (r"llvm(-c)?/", "LLVM"),
    (r"google/protobuf/|onnx\.pb\.h$", "protobuf"),
    (r"cuda|cublas|cudnn|cupti|nvtx3/|library_types", "CUDA"),
    (r"boost/", "Boost"),
    (r"(zlib|jpeglib|jerror|png)\.h$", "codecs"),
    (r"(arrow|parquet)/", "Arrow"),
    (r"dnnl", "oneDNN"),
    (r"(sys/\w+|sanitizer/\w+|unistd|fcntl|sched|spawn|dlfcn|cxxabi|signal|omp|immintrin)\.h$", "system"),
    (r"(std(def|int)\.h|\w+)$", "C++"),
]
LINKED = {"MLIR": "MLIR", "LLVM": "LLVM", "gpuopt_cudnn": "CUDA", "protobuf::libprotobuf-lite": "protobuf", "protobuf::libprotobuf": "protobuf",
          "GpuoptOnnxProto": "protobuf",
          "Threads::Threads": "C++"}
VERSION = "gpuopt/Version.h"  # generated; everyone may say which version this is

# The folders whose rooms include each other's headers by room and name.
WITH_ROOMS = ["lib/Analysis", "lib/Dialect/Train/Transforms", "lib/Driver", "lib/Planning", "lib/Target/Cxx"]

# ===------------------------------------------------------------------=== #
# What is included
# ===------------------------------------------------------------------=== #


@dataclass(frozen=True)
class Use:
    """An include or a link: where it is, and what it is of."""
    file: str
    line: int
    verb: str  # includes or links
    name: str
    target: str  # a folder of RULES, a library, or "" for neither


def folder_of(path: str) -> str:
    """The folder of RULES that a file of lib/, include/ or tools/ belongs to."""
    places = (path, re.sub(r"^include/gpuopt/", "lib/", path))  # include/gpuopt mirrors lib
    fitting = [rule.folder for rule in RULES if any(place.startswith(rule.folder + "/") for place in places)]
    return max(fitting, key=len, default="")


def target_of(root: Path, file: Path, name: str) -> str:
    beside = (file.parent / name).resolve()
    if beside.is_file() and beside.is_relative_to(root):
        return folder_of(beside.relative_to(root).as_posix())
    if (root / "lib/Runtime" / name).is_file():
        return folder_of("lib/Runtime/" + name)
    for folder in WITH_ROOMS:
        if file.is_relative_to(root / folder) and (root / folder / name).is_file():
            return folder
    if name == VERSION:
        return "C++"
    if name.startswith("gpuopt/"):
        return folder_of("include/" + name)
    return next((library for pattern, library in LIBRARIES if re.match(pattern, name)), "")


def without_literals(text: str) -> str:
    """The text without what its raw string literals say, line by line."""
    return re.sub(r'R"(\w*)\(.*?\)\1"', lambda found: "\n" * found[0].count("\n"), text, flags=re.S)


def sources(root: Path):
    for folder in ("lib", "include", "tools"):
        yield from sorted(path for path in (root / folder).rglob("*")
                          if path.suffix in (".h", ".cpp", ".td", ".def", ".cu"))


def includes(root: Path):
    for path in sources(root):
        for number, line in enumerate(without_literals(path.read_text(encoding="utf-8")).splitlines(), 1):
            if found := re.match(r'\s*#?\s*include\s+["<]([^">]+)[">]', line):
                yield Use(path.relative_to(root).as_posix(), number, "includes", found[1],
                          target_of(root, path, found[1]))


def cmake_files(root: Path):
    return [path for folder in ("lib", "tools") for path in sorted((root / folder).rglob("CMakeLists.txt"))
            if "Runtime" not in path.parts]


DECLARATION = re.compile(r"gpuopt_add_(?:mlir_)?(?:library|tool)\(\s*([\w-]+)([^)]*)\)")


def links(root: Path):
    declared = [(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")) for path in cmake_files(root)]
    home = {found[1]: folder_of(file) for file, text in declared for found in DECLARATION.finditer(text)}
    for file, text in declared:
        for found in DECLARATION.finditer(text):
            begin = found.start(2) + found[2].find("LINK ") + len("LINK ")
            for name in re.finditer(r"[\w:-]+", text[begin:found.end(2)] if "LINK " in found[2] else ""):
                yield Use(file, text.count("\n", 0, begin + name.start()) + 1, "links", name[0],
                          LINKED.get(name[0]) or home.get(name[0], ""))


# ===------------------------------------------------------------------=== #
# The audit
# ===------------------------------------------------------------------=== #


def listed(words: list[str], joint: str) -> str:
    return joint.join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def allowance(rule: Rule) -> str:
    return listed([rule.folder, "the C++ library", *rule.libraries, *rule.folders], " and ")


def complaint(use: Use, rule: Rule | None) -> str:
    where = f"{use.file}:{use.line}: {use.verb} '{use.name}'"
    if rule is None:
        return f"{where}, but its folder has no line in RULES of scripts/audit_includes.py; expected one"
    if not use.target:
        return f"{where}, which is in no folder of RULES and in none of LIBRARIES of scripts/audit_includes.py"
    return f"{where} of {use.target}, but {rule.folder} may include {allowance(rule)} alone"


def is_allowed(target: str, rule: Rule) -> bool:
    """Whether a folder may include another one: a rule that names a folder names the rooms in it too."""
    return (target in (rule.folder, "C++", *rule.libraries)
            or any(target == folder or target.startswith(folder + "/") for folder in rule.folders))


def wrong_uses(uses: list[Use]) -> list[str]:
    rules = {rule.folder: rule for rule in RULES}
    needed, wrong = set(), []
    for use in uses:
        rule = rules.get(folder_of(use.file))
        if rule and is_allowed(use.target, rule):
            continue
        if (use.file, use.target) in EXCEPTIONS:
            needed.add((use.file, use.target))
        else:
            wrong.append(complaint(use, rule))
    return wrong + [f"{file}: the exception for {target} in scripts/audit_includes.py is not needed; delete it"
                    for file, target in EXCEPTIONS if (file, target) not in needed]


def wrong_order() -> list[str]:
    order = [rule.folder for rule in RULES]
    return [f"RULES of scripts/audit_includes.py: {rule.folder} may include '{other}', but expected a line above its own"
            for at, rule in enumerate(RULES) for other in rule.folders if other not in order[:at]]


def short(folder: str) -> str:
    return re.sub("^(lib|include/gpuopt)/", "", folder)


def code(words: list[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def table() -> str:
    lines = ["| folder | what is in it | folders that it may include | libraries |", "|---|---|---|---|"]
    for rule in RULES:
        folders = code([short(folder) for folder in rule.folders]) or "none"
        lines.append(f"| `{rule.folder}` | {rule.holds} | {folders} | {', '.join(rule.libraries)} |")
    if EXCEPTIONS:
        lines += ["", "The exceptions:", "", "| files | include | because |", "|---|---|---|"]
    alike = defaultdict(list)
    for (file, target), reason in EXCEPTIONS.items():
        alike[target, reason].append(file)
    for (target, reason), files in alike.items():
        names = [short(file) if at == 0 else Path(file).name for at, file in enumerate(files)]
        lines.append(f"| {code(names)} | `{short(target)}` | {reason} |")
    return "\n".join(lines)


DOCS = Path("docs/architecture.md")
MARKED = re.compile(r"(<!-- begin: scripts/audit_includes.py --table -->\n).*?(\n<!-- end -->)", re.S)


def with_table(text: str) -> str:
    return MARKED.sub(lambda found: found[1] + table() + found[2], text)


def docs_of(root: Path) -> str:
    return (root / DOCS).read_text(encoding="utf-8") if (root / DOCS).is_file() else ""


def wrong_docs(root: Path) -> list[str]:
    text = docs_of(root)
    if not MARKED.search(text):
        return [f"{DOCS}: expected the markers of the table, '<!-- begin: scripts/audit_includes.py --table -->' "
                "and '<!-- end -->'"]
    if with_table(text) != text:
        return [f"{DOCS}: its table of includes is not that of scripts/audit_includes.py; run it with --update-docs"]
    return []


def print_graph(uses: list[Use]) -> None:
    graph = defaultdict(set)
    for use in uses:
        graph[folder_of(use.file)].add(use.target)
    for rule in RULES:
        print(f"{rule.folder}: {', '.join(sorted(graph[rule.folder] - {rule.folder, 'C++'})) or 'nothing'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    for flag in ("--table", "--graph", "--update-docs"):
        parser.add_argument(flag, action="store_true")
    arguments = parser.parse_args()
    root = arguments.root.resolve()

    if arguments.table:
        print(table())
        return 0
    if arguments.update_docs and MARKED.search(docs_of(root)):
        (root / DOCS).write_text(with_table(docs_of(root)), encoding="utf-8")
        return 0
    included, linked = list(includes(root)), list(links(root))
    if arguments.graph:
        print_graph(included + linked)
        return 0
    wrong = wrong_order() + wrong_uses(included + linked) + wrong_docs(root)
    for line in wrong:
        print(line)
    print(f"{len(RULES)} folders, {len(included)} includes and {len(linked)} links, {len(EXCEPTIONS)} exceptions, "
          f"{len(wrong)} not allowed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
