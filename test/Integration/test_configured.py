"""configured.py, by which tests configure emitted programs."""

from pathlib import Path

import pytest

from configured import configure
from training import execute


class Program:
    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(program LANGUAGES CXX)\nfind_package(Threads REQUIRED)\n"
            "set(VALUE 1 CACHE STRING \"\")\nadd_executable(trainer main.cpp)\n"
            "target_compile_definitions(trainer PRIVATE VALUE=${VALUE} FOLDER=\"${CMAKE_CURRENT_SOURCE_DIR}\")\n")
        (folder / "target.cmake").write_text("set(GPUOPT_DEFAULT_TARGET host)")
        (folder / "main.cpp").write_text('#include <cstdio>\nint main() { std::printf("%s %d", FOLDER, VALUE); }')

    def configure(self, *options) -> bool:
        """Whether CMake asks the compiler."""
        return "compiler identification" in configure(self.folder, options, execute)

    def output(self) -> str:
        execute(["cmake", "--build", self.folder / "build"])
        return execute([self.folder / "build" / "trainer"])


@pytest.fixture(autouse=True)
def findings(tmp_path, monkeypatch):
    (tmp_path / "configured").mkdir()
    monkeypatch.setenv("GPUOPT_TEST_CONFIGURED", str(tmp_path / "configured"))


def test_programs_share_findings_but_not_folders(tmp_path):
    one, other = Program(tmp_path / "a"), Program(tmp_path / "b c")
    assert one.configure("-DVALUE=3")
    assert not other.configure("-DVALUE=3")
    for program in (one, other):
        assert program.output() == f"{program.folder} 3"


def test_other_programs_are_configured_anew(tmp_path, monkeypatch):
    assert Program(tmp_path / "one").configure()
    options = Program(tmp_path / "options")
    assert options.configure("-DVALUE=4")
    assert options.output() == f"{options.folder} 4"
    target = Program(tmp_path / "target")
    (target.folder / "target.cmake").write_text("set(GPUOPT_DEFAULT_TARGET emulated)")
    assert target.configure()
    monkeypatch.setenv("CXXFLAGS", "-g")
    assert Program(tmp_path / "environment").configure()
    monkeypatch.delenv("CXXFLAGS")
    assert not Program(tmp_path / "again").configure()
    monkeypatch.delenv("GPUOPT_TEST_CONFIGURED")
    assert Program(tmp_path / "without").configure()
