#!/usr/bin/env python3
"""Finds passes, ops and diagnostics that no test knows.

usage: audit_tests.py [--bin FOLDER] [--without TEST]...

It checks the sources of this checkout and what the executables' help lists:
  passes       every pass and pipeline is in the RUN line of a lit test, and
               every option in one with its pass
  ops          every op of a dialect is in the input of a round trip (ops.mlir,
               or a test of its own that has one), of a test that does something
               with it, and, if it folds, of folds.mlir
  operators    the operands of every ONNX operator are known
  flags        every flag of gpuopt, gpuopt-solve and the trainer is in a test,
               or the keyword that it is in Python
  diagnostics  what each error and warning says between its arguments, of three
               words or more, is in a test, as often as there are places that
               say it
What no test can reach is listed in audit_exceptions.txt beside this script,
with a reason each. Prints what is untested and a count; exits with 1 if
anything is. --without leaves out a test, to see what it is there for.
"""
import argparse
import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXCEPTIONS = Path(__file__).with_name("audit_exceptions.txt")

# ===------------------------------------------------------------------=== #
# Text of tests
# ===------------------------------------------------------------------=== #


def squeeze(text: str) -> str:
    return " ".join(text.split())


def joined(text: str) -> str:
    """`text` with string literals that follow each other joined, and without
    the escapes of C++ and Python."""
    text = re.sub(r'"\s*\n\s*[fr]?"', "", text)
    return squeeze(text.replace(r"\"", '"').replace(r"\'", "'").replace(r"\n", " "))


def read_tests(without: list[str]) -> dict[Path, str]:
    left_out = {(ROOT / name).resolve() for name in [*without, "test/audit.test"]}
    return {path: path.read_text() for path in sorted((ROOT / "test").rglob("*"))
            if path.suffix in (".mlir", ".test", ".py", ".cpp", ".h") and "Fuzz" not in path.parts
            and path not in left_out}


def run_lines(text: str) -> str:
    text = re.sub(r"\\\n\s*(//|#)?\s*RUN:", " ", text)
    return "\n".join(re.findall(r"RUN:(.*)", text))


# ===------------------------------------------------------------------=== #
# Passes and ops
# ===------------------------------------------------------------------=== #

OWN = r"(?:onnx|nn|kernels|train|device|verify|convert|print|gpuopt)-[a-z0-9-]+"


def own_passes(registered: str) -> dict[str, list[str]]:
    """Passes and pipelines of gpuopt, with their options, of its help."""
    begin = registered.index("Compiler passes to run")
    passes: dict[str, list[str]] = {}
    for line in registered[begin:].splitlines():
        if found := re.match(r" {6}--(\S+) ", line):
            name = found.group(1)
            options = passes.setdefault(name, []) if re.fullmatch(OWN, name) else []
        elif found := re.match(r" {8}--([\w-]+)", line):
            options.append(found.group(1))
    return passes


def own_ops() -> dict[str, tuple[str, bool]]:
    """Ops, with the folder of their dialect and whether they fold."""
    ops = {}
    for path in sorted((ROOT / "include" / "gpuopt" / "Dialect").glob("*/IR/*Ops.td")):
        dialect = path.parent.parent.name
        for name, body in re.findall(r'^def \w+\s*:\s*\w+<"([\w.]+)"(.*?)^}', path.read_text(), re.M | re.S):
            ops[f"{dialect.lower()}.{name}"] = dialect, "hasFolder = 1" in body
    return ops


def untested_ops(ops: dict[str, tuple[str, bool]], tests: dict[Path, str]) -> list[str]:
    inputs = {path: "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
              for path, text in tests.items() if path.suffix == ".mlir"}
    round_trips = {path for path, text in tests.items()
                   if re.search(r"gpuopt-opt %s[^|]*\| *gpuopt-opt", run_lines(text))}
    missing = []
    for op, (dialect, folds) in ops.items():
        users = {path for path, text in inputs.items() if word(op).search(text)}
        home = ROOT / "test" / "Dialect" / dialect
        if not any(path.parent == home for path in users & round_trips):
            missing.append(f"op {op}: its round trip")
        if folds and home / "folds.mlir" not in users:
            missing.append(f"op {op}: its folder")
        if not any(path.stem != "ops" and "invalid" not in path.stem for path in users):
            missing.append(f"op {op}: what is done with it")
    return missing


def operators_without_operands() -> list[str]:
    table = (ROOT / "lib" / "Conversion" / "OnnxToNN" / "Operands.cpp").read_text()
    listed = (ROOT / "docs" / "onnx-operators.md").read_text()
    return [name for name in re.findall(r"^\| (\w+) \|", listed, re.M)
            if name != "operator" and not re.search(rf'[" ]{name}[" ]', table)]


def help_of(executable: Path, *command: str) -> str:
    everything = "--help-all" if executable.name == "gpuopt" and command else "--help"
    return subprocess.run([executable, *command, everything], capture_output=True, text=True, check=True).stdout


def own_flags(folder: Path) -> dict[str, list[str]]:
    """Flags by program."""
    commands = {"gpuopt": ("compile", "train", "plan", "predict", "report", "watch", "operators", "settings"), "gpuopt-solve": ("recompute", "arena", "verify")}
    flags = {f"{program} {command}": re.findall(r"^  --?([\w-]+)", help_of(folder / program, command), re.M)
             for program, names in commands.items() for command in names}
    settings = (ROOT / "docs" / "settings.md").read_text()
    flags["trainer"] = re.findall(r"^\| `--([\w-]+)`[^|]*\|.*\b(?:trainer|predictor)\b", settings, re.M)
    return flags


def untested_flags(flags: dict[str, list[str]], texts: str) -> list[str]:
    known = set(re.findall(r"(?<![\w-])--?([a-z][a-z0-9-]*)", texts))
    # One word alone could be any variable.
    known |= {keyword.replace("_", "-") for keyword in re.findall(r'\b([a-z]+_[a-z0-9_]+)"?\s*[=:](?!=)', texts)}
    known |= {"version", "h", "print-options", "print-all-options", "help-hidden", "help-list", "help-list-hidden"}  # LLVM's
    return [f"flag --{flag} of {program}" for program, own in flags.items() for flag in own if flag not in known]


# ===------------------------------------------------------------------=== #
# Diagnostics
# ===------------------------------------------------------------------=== #

LEXEME = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<include>^[ \t]*#[^\n]*)|"(?P<string>(?:\\.|[^"\\\n])*)"'
    r"|'(?:\\.|[^'\\\n])'|(?P<word>\w+)|(?P<end>[;{}])|(?P<other>\S)", re.S | re.M)
REPORTS = re.compile(
    r"(?i)^(emit\w*(error|warning)|\w*error|fail\w*|wrong|refuse|report|usage|throw|conflict|problem|expects|die)$")
SAYS = re.compile(r"\b(expects?|expected|cannot|must|needs?|is no|is not|has no|not supported|which is a bug|warning)\b")


def statements(text: str):
    """Pairs of a line and the words and literals of each statement there;
    literals begin with '"'."""
    line, parts, at = 1, [], 0
    for found in LEXEME.finditer(text):
        if found.lastgroup in ("comment", "include"):
            continue
        if found["end"] == "{" and parts and REPORTS.match(parts[-1]):
            continue  # Error{"..."}
        if found["end"]:
            if parts:
                yield line, parts
            parts = []
            continue
        if not parts:
            line = text.count("\n", 0, found.start()) + 1
        if found["string"] is not None:
            if parts and parts[-1].startswith('"'):
                parts[-1] += found["string"]
            else:
                parts.append('"' + found["string"])
        else:
            parts.append(found["word"] or found.group())
    if parts:
        yield line, parts


def fragments(literal: str):
    """Returns what `literal` says between the arguments printed into it."""
    text = re.sub(r"%[-+.0-9]*(?:ll|l|z)?[a-z]|\{\d[^}]*\}", "\0", joined(literal))
    for part in text.split("\0"):
        part = re.sub(r"^'?[\w.]*' op ", "", part)
        part = re.sub(r",? but (got|is|has|needs|reads)\W*$", "", part).strip(" '\"([{:;,.)]}=|-")
        if len([word for word in part.split() if re.search("[A-Za-z]", word)]) >= 3:
            yield part


def is_help(parts: list[str]) -> bool:
    """Whether a statement describes flags, checks itself or prints a page."""
    return any(word in ("desc", "Flag", "flags", "assert", "llvm_unreachable", "static_assert", "stream", "os")
               for word in parts)


def said_in_cpp(text: str):
    for line, parts in statements(text):
        literals = [part[1:] for part in parts if part.startswith('"')]
        if is_help(parts) or not literals:
            continue
        reports = any(REPORTS.match(part) for part in parts if not part.startswith('"'))
        for literal in literals:
            if reports or SAYS.search(literal):
                yield line, literal


def said_in_python(text: str):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            for argument in node.exc.args:
                for part in argument.values if isinstance(argument, ast.JoinedStr) else [argument]:
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield node.lineno, part.value


def said_in_cmake(text: str):
    for found in re.finditer(r'message\(FATAL_ERROR ("[^)]*")\)', text):
        for literal in re.split(r"\$\{\w+\}", joined(found[1])):
            yield text.count("\n", 0, found.start()) + 1, literal


SAID_IN = {".cpp": said_in_cpp, ".h": said_in_cpp, ".py": said_in_python, ".txt": said_in_cmake, ".cmake": said_in_cmake}


def diagnostics() -> dict[str, list[str]]:
    """Where each fragment of a diagnostic is said."""
    places = defaultdict(list)
    for folder in ("lib", "tools", "include", "python/gpuopt"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SAID_IN:
                for line, literal in SAID_IN[path.suffix](path.read_text()):
                    for fragment in fragments(literal):
                        places[fragment].append(f"{path.relative_to(ROOT)}:{line}")
    return places


# ===------------------------------------------------------------------=== #
# The audit
# ===------------------------------------------------------------------=== #


def word(text: str) -> re.Pattern:
    return re.compile(r"(?<![\w.])(?<!\w-)" + re.escape(text) + r"(?![\w-])")


def untested_passes(passes: dict[str, list[str]], runs: list[str]) -> list[str]:
    """A pass or pipeline, or an option, that is in no RUN line; an option must
    be in the line of its pass."""
    missing = []
    for name, options in passes.items():
        own = [run for run in runs if word(name).search(run)]
        if not own:
            missing.append(f"pass {name}")
        missing += [f"pass {name}: its option {option}" for option in options
                    if not any(word(option).search(run) for run in own)]
    return missing


def exceptions() -> dict[str, str]:
    lines = [line for line in EXCEPTIONS.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(" | ", 1) for line in lines)


def untested_diagnostics(places: dict[str, list[str]], corpus: str, allowed: dict[str, str]) -> list[str]:
    missing = []
    for fragment, where in places.items():
        where = [place for place in where if place.split(":")[0] not in allowed]
        short = len(where) - corpus.count(fragment)
        if short > 0 and fragment not in allowed:
            missing.append(f"diagnostic '{fragment}' ({short} of {len(where)}): {', '.join(where)}")
    return missing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "bin")
    parser.add_argument("--without", action="append", default=[])
    arguments = parser.parse_args()

    tests = read_tests(arguments.without)
    runs = [run for text in tests.values() for run in run_lines(text).splitlines()]
    corpus = "\0".join(joined(text) for text in tests.values())
    allowed, flags = exceptions(), own_flags(arguments.bin)

    passes, ops, places = own_passes(help_of(arguments.bin / "gpuopt-opt")), own_ops(), diagnostics()
    missing = untested_passes(passes, runs)
    missing += untested_ops(ops, tests)
    missing += [f"the operands of operator {name}" for name in operators_without_operands()]
    missing += untested_flags(flags, "\n".join(tests.values()))
    missing += untested_diagnostics(places, corpus, allowed)
    missing += [f"exception '{name}' is of nothing that is left" for name in allowed
                if name not in places and not (ROOT / name).is_file()]
    for line in missing:
        print(f"untested: {line}")
    count = sum(len(where) for where in places.values())
    print(f"{len(passes)} passes, {len(ops)} ops, {sum(map(len, flags.values()))} flags and {count} parts of "
          f"diagnostics, {len(allowed)} exceptions, {len(missing)} untested")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
