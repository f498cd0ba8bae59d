"""What emitted programs have in common is compiled once: GPUOPT_OBJECT_CACHE of their CMakeLists.txt."""

import shutil
import stat

import pytest

import gpuopt
from emulated import has_cuda_headers, nvidia_wheels
from gpuopt.library import build_library
from training import CommandFailed, execute

# As short as can be: what is compiled is not what is tested.
STEP = """
extern "C" int step() {{ return {value}; }}
"""
MAIN = """
#include "gpuopt/runtime.h"
#include <cstdio>
extern "C" int step();
int main() { std::printf("%d %d", kValue, step()); }
"""
LIBRARY = """
#include "gpuopt/runtime.h"
extern "C" int library() { return kValue; }
"""

TARGETS = [
    "host",
    pytest.param("cuda", marks=[
        pytest.mark.full,
        pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc"),
        pytest.mark.skipif(not has_cuda_headers() or nvidia_wheels() is None, reason="no wheels of cuBLASLt and cuDNN"),
    ]),
]


@pytest.fixture(scope="module")
def emitted(small_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("emitted") / "program"
    gpuopt.compile(small_model[1], path, target="host", batch_size=2)
    return path


class Program:
    """The build of an emitted program whose sources are replaced by shorter ones."""

    def __init__(self, emitted, folder, step_value):
        self.folder, self.build = folder, folder / "build"
        shutil.copytree(emitted, folder)
        shutil.rmtree(folder / "gpuopt")
        (folder / "gpuopt" / "data").mkdir(parents=True)
        (folder / "gpuopt" / "runtime.h").write_text('#include "gpuopt/data/value.h"')
        (folder / "step.cu").write_text(STEP.format(value=step_value))
        (folder / "main.cpp").write_text(MAIN)
        (folder / "library.cpp").write_text(LIBRARY)
        self.set_value(1)

    def set_value(self, value):
        (self.folder / "gpuopt" / "data" / "value.h").write_text(f"constexpr int kValue = {value};")

    def make(self, cache, target="host", *options):
        """Configures and builds the trainer; whether main.cpp was compiled."""
        options = [f"-DGPUOPT_OBJECT_CACHE={cache}", f"-DGPUOPT_TARGET={target}", f"-DNVIDIA_WHEELS={nvidia_wheels() or ''}",
                   "-DCMAKE_CUDA_ARCHITECTURES=80", *options]
        execute(["cmake", "-S", self.folder, "-B", self.build, *options])
        return self.make_again()

    def make_again(self):
        return "main.cpp.o" in execute(["cmake", "--build", self.build])

    def output(self):
        return execute([self.build / "trainer"])


@pytest.mark.parametrize("target", TARGETS)
def test_programs_share_the_object(target, emitted, tmp_path):
    cache = tmp_path / "a cache" / "objects"
    first, second = (Program(emitted, tmp_path / f"program {value}", value) for value in (7, 8))
    assert first.make(cache, target)
    [kept] = cache.iterdir()
    assert kept.suffix == ".o" and kept.stat().st_mode & stat.S_IRUSR
    assert not second.make(cache, target)
    assert not second.make(cache, target)
    assert list(cache.iterdir()) == [kept]
    assert [program.output() for program in (first, second)] == ["1 7", "1 8"]


def test_another_header_flag_or_source_makes_another_object(emitted, tmp_path):
    cache = tmp_path / "objects"
    first, second = (Program(emitted, tmp_path / f"program{value}", value) for value in (7, 8))
    assert first.make(cache)
    second.set_value(2)
    assert second.make(cache) and second.output() == "2 8"
    assert second.make(cache, "host", "-DCMAKE_CXX_FLAGS=-DOTHER")
    with open(second.folder / "main.cpp", "a") as file:
        file.write("int other;")
    assert second.make(cache, "host", "-DCMAKE_CXX_FLAGS=-DOTHER")
    assert len(list(cache.iterdir())) == 4
    # What has changed back is found again.
    second.set_value(1)
    (second.folder / "main.cpp").write_text(MAIN)
    assert not second.make(cache, "host", "-DCMAKE_CXX_FLAGS=")
    assert second.output() == "1 8"


def test_what_is_edited_is_compiled_again(emitted, tmp_path):
    """Without a configuration of the user's, and nothing wrong is kept for others."""
    cache = tmp_path / "objects"
    first, second, third = (Program(emitted, tmp_path / f"program{value}", value) for value in (7, 8, 9))
    assert first.make(cache) and not second.make(cache)
    for program in (first, second):
        program.set_value(3)
        program.make_again()
    assert [program.output() for program in (first, second)] == ["3 7", "3 8"]
    with open(second.folder / "main.cpp", "a") as file:
        file.write("int other = std::puts(\"edited\");")
    assert second.make_again() and second.output() == "edited\n3 8"
    assert not third.make(cache) and third.output() == "1 9"


def test_a_folder_that_cannot_be_made_is_no_error(emitted, tmp_path):
    (tmp_path / "file").write_text("")
    program = Program(emitted, tmp_path / "program", 7)
    assert program.make(tmp_path / "file" / "objects") and program.output() == "1 7"


def test_a_build_that_fails_keeps_nothing(emitted, tmp_path):
    program = Program(emitted, tmp_path / "program", 7)
    (program.folder / "step.cu").write_text("")
    with pytest.raises(CommandFailed, match="undefined reference"):
        program.make(tmp_path / "objects")
    assert not (tmp_path / "objects").exists()


def test_without_a_folder_nothing_is_kept(emitted, tmp_path):
    program = Program(emitted, tmp_path / "program", 7)
    assert program.make("") and program.output() == "1 7"


def test_libraries_share_theirs(emitted, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for value in (7, 8):
        build_library(Program(emitted, tmp_path / f"program{value}", value).folder)
    [kept] = (tmp_path / "cache" / "gpuopt" / "objects").iterdir()
    assert not list((tmp_path / "program8").rglob("library.cpp.o"))
    # A relative name, or none, is no folder of the user's.
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.delenv("HOME")
    build_library(Program(emitted, tmp_path / "program9", 9).folder)
    assert list((tmp_path / "program9").rglob("library.cpp.o"))
