#!/usr/bin/env python3
"""Runs the commands of the documentation, as a reader would.

usage: run_docs.py [--full] [--keep FOLDER] [--update] PAGE.md...

Every fenced block of `sh` or `python` in a page is run, in order, in one folder
of the page's own that looks like a checkout (build, examples, python, scripts
and test are links). Python blocks share one namespace. Comments before a
block, which readers do not see, say what else is needed:

  <!-- set up            commands that are run where they stand, and that the
  COMMANDS -->           page does not show, such as making small data; after
                         `set up python`, Python
  <!-- not run: WHY -->  the block is not run
  <!-- full: WHY -->     the block is run under --full alone
  <!-- run with: A => B; C => D -->
                         B in place of A, which the block must have: fewer steps
  <!-- exits N -->       the commands end with this status, which is else 0
  <!-- writes FILE -->   the block is written to FILE
  <!-- prints -->        the block is what the one before prints: these lines in
                         this order, where numbers may differ and `…` stands for
                         what is cut. A line that begins with `…` is a remark
  <!-- prints exactly --> the same, where numbers may not differ
  <!-- shows FILE -->    the block's lines are in FILE, in this order

Exits with 1 and says which page and line it is if a block does not do so. With
--update, numbers of `prints exactly` that differ are replaced in the page by
those that are printed; what else differs, as digits of a word, is still an error.
"""
import argparse
import contextlib
import dataclasses
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINKS = ["benchmarks", "build", "docs", "examples", "lib", "python", "scripts", "test"]
FENCE = re.compile(r"^( *)```(\w*)\s*$")
MARKS = re.compile(r"(not run|full|run with|exits|writes|prints exactly|prints|shows)\b:?\s*(.*)", re.S)
SET_UP = re.compile(r"set up(?: (python))?\n")
OTHER_MARKS = re.compile(r"from |begin: |end$")  # those of audit_examples.py and audit_includes.py
NUMBER = r"[-+]?\d[\d.,:]*(?:e[-+]?\d+)?"
# Digits are part of a word in f32, gpt-2, h.0.mlp, 8-bit and 20ms.
NUMBER_OR_WORD = re.compile(rf"(?P<number>{NUMBER})(?!\w|[.,:]+\w|-[^\W\d])|\w[\w.-]*")
SECONDS = 300


@dataclasses.dataclass
class Block:
    """Commands to run, or what they print or write."""
    line: int
    language: str
    text: str
    marks: dict


class DocumentationError(Exception):
    """What a page says is not so."""


def read_blocks(page: Path) -> list[Block]:
    """The blocks of a page that are run or compared, in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    blocks, marks, at = [], {}, 0
    while at < len(lines):
        line, first = lines[at], at + 1
        at += 1
        if fence := FENCE.match(line):
            begin = at
            while at < len(lines) and lines[at].strip() != "```":
                at += 1
            if at == len(lines):
                raise DocumentationError(f"{page}:{first}: the block has no end")
            text = textwrap.dedent("\n".join(lines[begin:at])) + "\n"
            at += 1
            if fence[2] in ("sh", "python") or marks:
                blocks.append(Block(first, fence[2], text, marks))
            marks = {}
        elif line.lstrip().startswith("<!--"):
            comment = line
            while "-->" not in comment and at < len(lines):
                comment += "\n" + lines[at]
                at += 1
            comment = comment.strip()[4:].rsplit("-->", 1)[0].strip()
            if setup := SET_UP.match(comment):
                blocks.append(Block(first, setup[1] or "sh", textwrap.dedent(comment[setup.end():]) + "\n", {}))
            elif found := MARKS.fullmatch(comment):
                marks[found[1]] = found[2].strip()
            elif not OTHER_MARKS.match(comment):
                raise DocumentationError(f"{page}:{first}: '{comment.splitlines()[0]}' is no mark that scripts/run_docs.py knows")
        elif line.strip() and marks:
            raise DocumentationError(f"{page}:{first}: a block is expected after the mark '{next(iter(marks))}'")
    return blocks


def line_pattern(line: str, exactly: bool) -> str:
    """A regular expression of a block's line; if not exactly, its groups are the numbers."""
    parts = [re.escape(" ".join(part.split())) for part in line.split("…")]
    pattern = r"\s*.*?\s*".join(parts)
    if not exactly:
        pattern = re.sub(r"(?:\\[-+])?\d(?:[\d,:]|\\\.)*(?:e(?:\\[-+])?\d+)?", lambda _: f"({NUMBER})", pattern)
    return pattern


def missing(wanted: str, written: str, exactly: bool):
    """The first line of a block that is not written, in the block's order."""
    at, lines = 0, [" ".join(line.split()) for line in written.splitlines()]
    for line in wanted.splitlines():
        if line.startswith("…") or not line.strip():
            continue
        pattern = line_pattern(line, exactly)
        found = next((i for i in range(at, len(lines)) if re.fullmatch(pattern, lines[i])), None)
        if found is None:
            return line
        at = found + 1
    return None


def other_numbers_pattern(line: str) -> str:
    """A regular expression of a block's line with any numbers, which are its groups. Digits of words do not differ."""
    parts = []
    for part in line.split("…"):
        part, at, pattern = " ".join(part.split()), 0, ""
        for found in NUMBER_OR_WORD.finditer(part):
            if found["number"]:
                pattern += re.escape(part[at:found.start()]) + f"({NUMBER})"
                at = found.end()
        parts.append(pattern + re.escape(part[at:]))
    return r"\s*.*?\s*".join(parts)


def align(wanted: list[str], written: list[str]) -> dict[int, re.Match]:
    """For lines of a block, by their index, what is written in their place: in the same order as many lines as possible
    but for their numbers, of these as many as possible with their numbers, and each as early as possible."""
    scores = [[(0, 0)] * (len(written) + 1) for _ in range(len(wanted) + 1)]
    matches = {}
    for i in reversed(range(len(wanted))):
        is_compared = wanted[i].strip() and not wanted[i].startswith("…")
        exact, other = re.compile(line_pattern(wanted[i], True)), re.compile(other_numbers_pattern(wanted[i]))
        for j in reversed(range(len(written))):
            scores[i][j] = max(scores[i + 1][j], scores[i][j + 1])
            if is_compared and (match := other.fullmatch(written[j])):
                lines, same = scores[i + 1][j + 1]
                matches[i, j] = match, (lines + 1, same + bool(exact.fullmatch(written[j])))
                scores[i][j] = max(scores[i][j], matches[i, j][1])
    result, i, j = {}, 0, 0
    while i < len(wanted) and j < len(written):
        match, score = matches.get((i, j), (None, None))
        if match and score == scores[i][j]:
            result[i], i, j = match, i + 1, j + 1
        elif scores[i][j + 1] == scores[i][j]:
            j += 1
        else:
            i += 1
    return result


def with_numbers_of(wanted: str, written: str) -> str:
    """The block with the numbers that are written. A line that is not written, whatever its numbers are, stays."""
    lines = wanted.splitlines()
    for index, match in align(lines, [" ".join(line.split()) for line in written.splitlines()]).items():
        numbers = iter(match.groups())
        lines[index] = NUMBER_OR_WORD.sub(lambda found: next(numbers) if found["number"] else found[0], lines[index])
    return "\n".join(lines) + "\n"


class Runner:
    """Runs the blocks of one page in a folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.names = {"__name__": "__main__"}
        driver = Path(os.environ.get("GPUOPT", ROOT / "build" / "bin" / "gpuopt")).resolve()
        self.environment = dict(
            os.environ, GPUOPT=str(driver), PYTHONPATH=str(ROOT / "python"),
            PATH=os.pathsep.join([str(driver.parent), str(Path(sys.executable).parent), os.environ["PATH"]]),
        )
        for name in LINKS:
            (folder / name).symlink_to(ROOT / name)

    def run_shell(self, text: str) -> tuple[int, str]:
        try:
            done = subprocess.run(
                ["bash", "-euc", text], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            return 124, f"{error.stdout or ''}\n(took more than {SECONDS} s)"
        return done.returncode, done.stdout

    def run_python(self, text: str, name: str) -> tuple[int, str]:
        """Runs it in this process, so that PyTorch is loaded once."""
        status, where, before = 0, os.getcwd(), dict(os.environ)
        if str(ROOT / "python") not in sys.path:
            sys.path.insert(0, str(ROOT / "python"))
        with tempfile.TemporaryFile("w+", buffering=1) as output:
            sys.stdout.flush()
            sys.stderr.flush()
            kept = [os.dup(1), os.dup(2)]
            try:
                os.environ.update(self.environment)
                os.chdir(self.folder)
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                    try:
                        exec(compile(text, name, "exec"), self.names)
                    except Exception:
                        status = 1
                        traceback.print_exc()
            finally:
                os.dup2(kept[0], 1)
                os.dup2(kept[1], 2)
                for each in kept:
                    os.close(each)
                os.chdir(where)
                os.environ.clear()
                os.environ.update(before)
            output.flush()
            output.seek(0)
            return status, output.read()


def substitute(text: str, pairs: str) -> str:
    for pair in pairs.split(";"):
        old, _, new = (part.strip() for part in pair.partition("=>"))
        if not old or old not in text:
            raise DocumentationError(f"'{old}' of 'run with' is not in the block")
        text = text.replace(old, new)
    return text


def run_block(block: Block, runner: Runner, before: str | None, full: bool, name: str) -> str | None:
    """Runs or compares a block; what it prints, or None if it is not run."""
    marks = block.marks
    for mark in ("prints", "prints exactly", "shows"):
        if mark not in marks:
            continue
        if mark == "shows":
            before = (runner.folder / marks[mark]).read_text(encoding="utf-8")
        if before is not None and (line := missing(block.text, before, mark != "prints")) is not None:
            raise DocumentationError(f"this line is not there, or not in this order: {line.strip()}\n{before[-6000:]}")
        return before
    if "writes" in marks:
        path = runner.folder / marks["writes"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        return before
    if "not run" in marks or ("full" in marks and not full):
        if not marks.get("not run", marks.get("full")):
            raise DocumentationError("says no reason why it is not run")
        return None
    text = substitute(block.text, marks["run with"]) if "run with" in marks else block.text
    status, printed = runner.run_python(text, name) if block.language == "python" else runner.run_shell(text)
    if status != int(marks.get("exits", 0)):
        raise DocumentationError(f"ends with status {status}\n{printed[-6000:]}")
    return printed


def replace_block(page: Path, block: Block, text: str) -> None:
    """Writes a block's text, which has as many lines as before, into its page."""
    lines = page.read_text(encoding="utf-8").split("\n")
    indentation = FENCE.match(lines[block.line - 1])[1]
    new = text.splitlines()
    lines[block.line:block.line + len(new)] = [indentation + line if line else line for line in new]
    page.write_text("\n".join(lines), encoding="utf-8")


def run_page(page: Path, folder: Path, full: bool = False, update: bool = False) -> int:
    """Runs a page in an empty folder; the number of its blocks. With update, numbers that differ are replaced in it."""
    blocks, runner, printed = read_blocks(page), Runner(folder), None
    for block in blocks:
        name = f"{page}:{block.line}"
        if update and "prints exactly" in block.marks and printed is not None:
            text = with_numbers_of(block.text, printed)
            if text != block.text:
                replace_block(page, block, text)
                block.text = text
        try:
            printed = run_block(block, runner, printed, full, name)
        except DocumentationError as error:
            raise DocumentationError(f"{name}: {error}") from None
    return len(blocks)


def all_pages() -> list[Path]:
    """README.md and the pages of docs/ that have blocks to run; generated ones have none."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in pages if re.search(r"^ *```(sh|python)$", page.read_text(encoding="utf-8"), re.M)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, nargs="*", metavar="PAGE.md", help="README.md and all of docs/ unless given")
    parser.add_argument("--full", action="store_true", help="run the blocks that take long, too")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what the commands write")
    parser.add_argument("--update", action="store_true", help="replace numbers in the pages that are no longer printed")
    arguments = parser.parse_args()
    failed = 0
    for page in arguments.pages or all_pages():
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            if arguments.keep:
                folder = arguments.keep.resolve() / page.stem
                folder.mkdir(parents=True)
            try:
                print(f"{page}: {run_page(page, folder, arguments.full, arguments.update)} blocks", flush=True)
            except DocumentationError as error:
                failed += 1
                print(f"error: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
