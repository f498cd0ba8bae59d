"""Compares the versions in the CMake file of programs with least_versions.h.

usage: least_versions.py ROOT    prints each difference; exits with 1 if there is one
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
header = (root / "lib/Runtime/gpuopt/device/least_versions.h").read_text()
program, onednn = "lib/Runtime/program/CMakeLists.txt", "lib/Runtime/program/onednn.cmake"


def least(constant: str) -> str:
    return ".".join(re.search(rf"kLeast{constant}{{(\d+), (\d+)}}", header).groups())


latest = str(int(re.search(r"kLatestOneDnnMajor = (\d+)", header)[1]) + 1)
wrong = False
for tool, file, pattern, expected in [("CMake", program, r"cmake_minimum_required\(VERSION ([\d.]+)", least("Cmake")),
                                      ("CUDA", program, r"CUDA ([\d.]+) or later", least("Cuda")),
                                      ("oneDNN", program, r"oneDNN ([\d.]+) or later", least("OneDnn")),
                                      ("oneDNN", onednn, r"(?:oneDNN|LESS) ([\d.]+)(?: or later| OR)", least("OneDnn")),
                                      ("oneDNN", onednn, r"VERSION_GREATER_EQUAL (\d+)", latest)]:
    for found in re.findall(pattern, (root / file).read_text()) or ["none"]:
        if found != expected:
            print(f"{file} has {tool} {found}, and least_versions.h {expected}")
            wrong = True
if not wrong:
    print("CMake, CUDA and oneDNN: as least_versions.h has them")
sys.exit(wrong)
