"""No name of a model hides a function of the runtime, or is one of its macros, in the kernels that a program has."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADERS = sorted((ROOT / "lib/Runtime/gpuopt/kernels").glob("*.h"))

# Macros that nothing is named after: names of models never begin so.
OWN_PREFIX = "GPUOPT_"


def taken():
    source = (ROOT / "lib/Target/Cxx/Names.cpp").read_text()
    text = re.search(r"kFromRuntime\[\] =(.*?);", source, re.DOTALL).group(1)
    return set("".join(re.findall(r'"([^"]*)"', text)).split())


def declared(header):
    """The macros of a header, and its functions in the namespace that emitted files see. Those of namespaces within it,
    such as detail and f32, cannot collide: an emitted file names none of them. A type that only the headers name cannot
    either."""
    names, namespaces = set(), []
    for line in header.read_text().splitlines():
        if macro := re.match(r"#define (\w+)", line):
            names.add(macro.group(1))
        elif opened := re.match(r"namespace (\S+) \{", line):
            namespaces.append(opened.group(1))
        elif line.startswith("} // namespace"):
            namespaces.pop()
        elif namespaces == ["gpuopt"]:
            function = re.match(r"(?:DEVICE|HOST_DEVICE|KERNEL|inline|constexpr)\b[^(=;{]*?\b(\w+)\(", line)
            names.update([function.group(1)] if function else [])
    return {name for name in names if not name.startswith(OWN_PREFIX)}


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.name)
def test_functions_of_kernels_are_taken(header):
    assert declared(header) - taken() == set(), "add these names to kFromRuntime in lib/Target/Cxx/Names.cpp"


def test_finds_what_headers_declare():
    found = set().union(*map(declared, HEADERS))
    assert {"group", "groups", "iterations", "load_vector", "load_tile", "is_at", "fast_exp", "divide", "RESTRICT"} <= found
