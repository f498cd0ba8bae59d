"""compiler_launcher.sh, by which tests build emitted programs."""

import shutil
import subprocess
from pathlib import Path

import pytest

from emulated import COMPILER
from training import execute

LAUNCHER = Path(__file__).with_name("compiler_launcher.sh")

# Both sources say what the header holds, and whether they were optimised.
PROGRAM = {
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.22)
project(program LANGUAGES CXX)
include(sources.cmake)
add_executable(trainer ${sources})
set_source_files_properties(${sources} PROPERTIES LANGUAGE CXX)
target_include_directories(trainer PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
""",
    "sources.cmake": "set(sources main.cpp step.cu)",
    "step.h": "#pragma once",
    "gpuopt/runtime.h": "#pragma once\nconstexpr int kValue = 1;",
    "step.cu": """
#include "step.h"
#include "gpuopt/runtime.h"
#ifdef __OPTIMIZE__
int step() { return 10 + kValue; }
#else
int step() { return kValue; }
#endif
""",
    "main.cpp": """
#include "gpuopt/runtime.h"
#include <cstdio>
int step();
#ifdef __OPTIMIZE__
int main() { std::printf("%d %d", 10 + kValue, step()); }
#else
int main() { std::printf("%d %d", kValue, step()); }
#endif
""",
}


class Program:
    def __init__(self, folder: Path, build: Path, compiler="g++"):
        self.folder, self.build_folder = folder, build
        (folder / "gpuopt").mkdir(parents=True)
        for name, text in PROGRAM.items():
            (folder / name).write_text(text)
        execute(["cmake", "-S", folder, "-B", build, f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_COMPILER_LAUNCHER={LAUNCHER}",
                 "-DCMAKE_CXX_FLAGS=-O2"])

    def output(self) -> str:
        """Builds and runs it; what is built is up to date then."""
        execute(["cmake", "--build", self.build_folder])
        assert "Building" not in execute(["cmake", "--build", self.build_folder])
        return execute([self.build_folder / "trainer"])


    def set_value(self, text: str):
        (self.folder / "gpuopt" / "runtime.h").write_text(f"#pragma once\nconstexpr int kValue = {text};")


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "ccache"))
    monkeypatch.setenv("CCACHE_STATSLOG", str(tmp_path / "log"))
    monkeypatch.setenv("GPUOPT_TEST_PRECOMPILED", str(tmp_path / "precompiled"))
    (tmp_path / "precompiled").mkdir()
    monkeypatch.delenv("GPUOPT_TEST_KEEP_OPTIMIZATION", raising=False)


@pytest.fixture(params=["ccache", "no ccache"])
def cached(request, monkeypatch):
    """Whether ccache is used."""
    if request.param == "ccache" and not shutil.which("ccache"):
        pytest.skip("no ccache")
    monkeypatch.setenv("GPUOPT_TEST_CCACHE", "1" if request.param == "ccache" else "0")
    return request.param == "ccache"


# Ninja reads no "&" in a compiler's list of headers.
@pytest.mark.parametrize("generator, name", [("Ninja", "d e"), ("Unix Makefiles", "d & e")])
def test_programs_share_objects_but_not_headers(generator, name, cached, tmp_path, monkeypatch):
    monkeypatch.setenv("CMAKE_GENERATOR", generator)
    first = Program(tmp_path / "a", tmp_path / "a" / "build")
    assert first.output() == "1 11"
    second = Program(tmp_path / "b c" / name, tmp_path / "elsewhere" / "build")
    assert second.output() == "1 11"
    if cached:
        log = (tmp_path / "log").read_text()
        assert log.count("# main.cpp\ndirect_cache_hit") == log.count("# step.cu\ndirect_cache_hit") == 1, log
    # What came from the cache is compiled again once a header of its own program changes.
    for program in (first, second):
        program.set_value("2")
    assert [program.output() for program in (first, second)] == ["2 12", "2 12"]


@pytest.mark.skipif(not shutil.which("ccache"), reason="no ccache")
@pytest.mark.parametrize("compiler", ["g++", COMPILER])
def test_headers_are_precompiled(compiler, tmp_path):
    """From the second program on that has them."""
    programs = [Program(tmp_path / name, tmp_path / name / "build", compiler) for name in ("a", "b c", "d")]
    for number, program in enumerate(programs):
        with open(program.folder / "step.cu", "a") as file:
            file.write(f"int number_{number};")
        assert program.output() == "1 11"
        assert len(list(tmp_path.glob("precompiled/*/runtime.h.gch"))) == min(number, 1)
    for program in programs:
        program.set_value("2")
        assert program.output() == "2 12"
    # Under the name of the program's own, and step.h before them.
    for program in programs:
        (program.folder / "step.h").write_text("#pragma once\n#define VALUE 3")
        program.set_value("VALUE")
        (program.folder / "main.cpp").write_text(PROGRAM["main.cpp"].replace("#include", '#include "step.h"\n#include', 1))
        assert program.output() == "3 13"
    assert len(list(tmp_path.glob("precompiled/*/runtime.h.gch"))) == 3


@pytest.mark.skipif(not shutil.which("ccache") or not shutil.which("flock"), reason="no ccache, or no flock")
def test_builds_at_the_same_time_compile_main_once(tmp_path):
    programs = [Program(tmp_path / name, tmp_path / name / "build") for name in ("a", "b c")]
    for program in programs:
        (program.folder / "main.cpp").write_text("#include <regex>\n" + PROGRAM["main.cpp"])  # which takes a while
    builds = [subprocess.Popen(["cmake", "--build", program.build_folder], stdout=subprocess.DEVNULL) for program in programs]
    assert [build.wait() for build in builds] == [0, 0]
    log = (tmp_path / "log").read_text()
    assert log.count("# main.cpp\ncache_miss") == log.count("# main.cpp\ndirect_cache_hit") == 1, log


def test_optimization_may_be_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUOPT_TEST_KEEP_OPTIMIZATION", "1")
    assert Program(tmp_path / "a", tmp_path / "build").output() == "11 11"


@pytest.mark.parametrize("given, keeps, expected", [("-O3", "0", "-O1"), ("-O3", "1", "-O3"), ("-O2", "0", "-O2")])
def test_steps_of_a_user_have_less_optimization(given, keeps, expected, tmp_path, monkeypatch):
    compiler, program = tmp_path / "compiler", tmp_path / "program"
    compiler.write_text("""#!/bin/sh\necho "$@"\n""")
    compiler.chmod(0o755)
    program.mkdir()
    for name in ("sources.cmake", "step.h", "step.d"):
        (program / name).touch()
    monkeypatch.setenv("GPUOPT_TEST_CCACHE", "0")
    monkeypatch.setenv("GPUOPT_TEST_KEEP_STEPS", keeps)
    told = execute([LAUNCHER, compiler, given, "-MF", program / "step.d", "-o", program / "step.o", "-c", program / "step.cu"])
    assert told.split()[0] == expected


def test_a_program_that_does_not_compile(tmp_path):
    program = Program(tmp_path / "a", tmp_path / "build")
    program.set_value("unknown")
    with pytest.raises(AssertionError, match="gpuopt/runtime.h:2.*unknown.* was not declared"):
        program.output()


def test_a_program_without_a_step(tmp_path):
    """As what measures a device: its headers are not precompiled."""
    program = Program(tmp_path / "a", tmp_path / "build")
    (program.folder / "step.h").unlink()
    (program.folder / "step.cu").write_text(PROGRAM["step.cu"].replace('#include "step.h"', ""))
    assert program.output() == "1 11"
