#!/usr/bin/env python3
"""Checks that what the documentation points to exists.

usage: audit_links.py [--root FOLDER]

In README.md and every page under docs/, it checks that each relative link and
image leads to a file, that each `#heading` of a link is a heading of that page,
and that each path in `backquotes` that begins with a folder of the sources
exists. Every picture under docs/images must be well-formed XML, and
docs/runtime.md must name every header of the runtime but those that a header of
the same stem includes for one target (`x_host.h`, `x_cuda.h`), those of
optimizers, which have the optimizers' names, and those that the calls of ops
name themselves. Prints what leads nowhere or is missing, with its page and line; exits with 1 if anything does.
"""
import argparse
import re
import sys
import xml.dom.minidom
from pathlib import Path

FOLDERS = "benchmarks|cmake|docs|examples|include|lib|python|scripts|test|tools"
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(rf"`((?:{FOLDERS})/[\w./-]*\w)/?`")


def prose(page: Path):
    """The lines outside of code blocks, with their numbers."""
    is_code = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, line


def anchors(page: Path) -> set[str]:
    """The names by which GitHub links to the headings of a page."""
    titles = [line.lstrip("# ") for _, line in prose(page) if re.match("#+ ", line)]
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def problem_of_link(page: Path, link: str) -> str:
    if re.match(r"\w+:", link):
        return ""
    path, _, heading = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return f"'{link}' leads to no file"
    if heading and target.suffix == ".md" and heading not in anchors(target):
        return f"'{link}' leads to no heading of {target.name}"
    return ""


def problems_of_page(root: Path, page: Path):
    for number, line in prose(page):
        found = [problem_of_link(page, link) for link in LINK.findall(line)]
        found += [f"there is no '{path}'" for path in PATH.findall(line) if not (root / path).exists()]
        yield from (f"{page.relative_to(root)}:{number}: {problem}" for problem in found if problem)


def problems_of_picture(root: Path, picture: Path):
    try:
        xml.dom.minidom.parse(str(picture))
    except Exception as error:
        yield f"{picture.relative_to(root)}: is no XML: {error}"


def problems_of_headers(root: Path):
    page = root / "docs" / "runtime.md"
    if not page.exists():
        return
    named = set(re.findall(r"`([\w.]+\.h)`", page.read_text(encoding="utf-8")))
    for source in (root / "lib" / "Dialect").rglob("*.cpp"):
        named |= set(re.findall(r'"gpuopt/ops/([\w.]+\.h)"', source.read_text(encoding="utf-8")))
    for header in sorted((root / "lib" / "Runtime" / "gpuopt").glob("*/**/*.h")):
        if header.name in named or re.search("_(host|cuda)$", header.stem) or header.parent.name == "optimizers":
            continue
        yield f"{page.relative_to(root)}: '{header.name}' is missing in the table of headers"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    pictures = sorted((root / "docs" / "images").glob("*.svg"))
    wrong = [problem for page in pages for problem in problems_of_page(root, page)]
    wrong += [problem for picture in pictures for problem in problems_of_picture(root, picture)]
    wrong += problems_of_headers(root)
    for line in wrong:
        print(line)
    print(f"{len(pages)} pages, {len(pictures)} pictures, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
