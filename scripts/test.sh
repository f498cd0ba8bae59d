#!/usr/bin/env bash
# Runs every test: the unit tests, the lit suite, and the Python tests, among
# them parity with PyTorch. Installs what they need, names every skip with its
# reason, and ends in the line `N passed, N failed, N skipped`.
#
# usage: test.sh [--full]   --full also runs what takes longer
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export GPUOPT_FULL_TESTS=0
for argument in "$@"; do
  case $argument in
    --full) GPUOPT_FULL_TESTS=1 ;;
    *)
      echo "usage: scripts/test.sh [--full]" >&2
      exit 2
      ;;
  esac
done

say() { printf '\n== %s\n' "$*"; }

say "Installing what is missing"
scripts/install-dependencies.sh

say "Building"
scripts/build.sh

export GPUOPT="$PWD/build/bin/gpuopt"
results=build/test-results
rm -rf "$results"
mkdir -p "$results"

say "Unit tests"
for executable in build/bin/gpuopt-unit-*; do
  [[ -x $executable ]] || continue
  name=$(basename "$executable")
  # A run that leaves no file of results has crashed: the summary says so.
  touch "$results/$name.expected"
  "$executable" --gtest_brief=1 --gtest_output="xml:$results/$name.xml" || true
done

say "Python environment"
python=build/venv/bin/python
if scripts/make-venv.sh build/venv; then
  have_venv=1
else
  have_venv=0
fi

say "lit"
touch "$results/lit.expected"
PATH="$PWD/build/venv/bin:$PATH" /usr/lib/llvm-22/bin/lit -s -v --xunit-xml-output "$results/lit.xml" build/test || true

say "Python tests, and parity with PyTorch"
if ((have_venv)); then
  touch "$results/python.expected"
  "$python" -m pytest -q -p no:cacheprovider --junit-xml "$results/python.xml" test/Integration || true
else
  echo "the packages of scripts/requirements.txt cannot be installed" >"$results/test-Integration.skipped"
fi

if command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1 && [[ -x scripts/gpu-check.sh ]]; then
  say "On the GPU"
  touch "$results/gpu-check.expected"
  scripts/gpu-check.sh --junit-xml "$results/gpu-check.xml" || true
else
  echo "no GPU" >"$results/gpu-check.skipped"
fi

if ((GPUOPT_FULL_TESTS)); then
  say "Fuzzing, for a minute"
  touch "$results/fuzz.expected"
  scripts/fuzz.sh 60 --junit-xml "$results/fuzz.xml" || true
else
  echo "takes two minutes: --full" >"$results/fuzz.skipped"
fi

say "Summary"
python3 scripts/summarize_tests.py "$results"
