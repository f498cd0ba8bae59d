#!/bin/bash
# Makes a wheel of the Python package with the compiler in it: the executable,
# the headers that emitted programs are built on, and the libraries that the
# executable loads (LLVM, MLIR and others), for which auditwheel says on which
# systems it runs. What is built in build/ is taken: run scripts/build.sh before.
#
# usage: scripts/build-wheel.sh [FOLDER]      where the wheel goes; default: dist
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
python=python3
if [ -x build/venv/bin/python ]; then python=build/venv/bin/python; fi
python=$(realpath -s "$(command -v $python)")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The tools of wheels, apart from everything else.
"$python" -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check -r scripts/wheel-requirements.txt

cmake --install build --prefix "$work/installed" --strip > "$work/log"
# The build must not write into the checkout.
cp -r python "$work/package"
rm -rf "$work/package/build" "$work"/package/*.egg-info
compiler=$work/package/gpuopt/_compiler
mkdir -p "$compiler/bin" "$compiler/share/gpuopt"
cp "$work/installed/bin/gpuopt" "$compiler/bin"
cp -r "$work/installed/share/gpuopt/runtime" "$compiler/share/gpuopt"
"$work/tools/bin/python" - "$work/package" "$out" "$work" <<'END'
import os, pathlib, subprocess, sys

package, out, work = map(pathlib.Path, sys.argv[1:])
# setuptools makes the wheel of the package; the compiler is added to it, and the
# command that runs it.
compiler = (package / "gpuopt" / "_compiler").rename(work / "_compiler")
subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation",
                "-w", work / "plain", package], check=True)
[plain] = (work / "plain").glob("*.whl")
subprocess.run([sys.executable, "-m", "wheel", "unpack", plain, "-d", work / "unpacked"], check=True, stdout=subprocess.DEVNULL)
[root] = (work / "unpacked").iterdir()
compiler.rename(root / "gpuopt" / "_compiler")
[info] = root.glob("*.dist-info")
(info / "entry_points.txt").write_text("[console_scripts]\ngpuopt = gpuopt.driver:run_compiler\n")
text = (info / "WHEEL").read_text().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
(info / "WHEEL").write_text(text.replace("py3-none-any", f"py3-none-linux_{os.uname().machine}"))
(work / "raw").mkdir()
subprocess.run([sys.executable, "-m", "wheel", "pack", root, "-d", work / "raw"], check=True, stdout=subprocess.DEVNULL)
END
PATH="$work/tools/bin:$PATH" "$work/tools/bin/auditwheel" repair --strip -w "$out" "$work"/raw/*.whl 2>> "$work/log" >> "$work/log" \
  || { cat "$work/log" >&2; exit 1; }
ls "$out"/gpuopt-*.whl
