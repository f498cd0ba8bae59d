"""Compares the versions in the CMake file of programs with least_versions.h.

usage: least_versions.py ROOT    prints each difference; exits with 1 if there is one
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
header = (root / "lib/Runtime/gpuopt/device/least_versions.h").read_text()
cmake_file = "lib/Runtime/program/CMakeLists.txt"
cmake = (root / cmake_file).read_text()
wrong = False
for tool, constant, pattern in [("CMake", "Cmake", r"cmake_minimum_required\(VERSION ([\d.]+)"),
                                ("CUDA", "Cuda", r"CUDA ([\d.]+) or later"),
                                ("oneDNN", "OneDnn", r"oneDNN ([\d.]+) or later")]:
    least = ".".join(re.search(rf"kLeast{constant}{{(\d+), (\d+)}}", header).groups())
    for found in re.findall(pattern, cmake) or ["none"]:
        if found != least:
            print(f"{cmake_file} has {tool} {found}, and least_versions.h {least}")
            wrong = True
if not wrong:
    print("CMake, CUDA and oneDNN: as least_versions.h has them")
sys.exit(wrong)
