#!/usr/bin/env bash
# Runs the tests: the unit tests, the lit suite, and the Python tests, among
# them parity with PyTorch. Installs what they need, names every skip with its
# reason, and ends in the line `N passed, N failed, N skipped`.
#
# usage: test.sh [--full]   --full also runs what takes longer, and variants of tests
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

# A full disk, or too little memory, makes tests fail that have nothing in common.
say_room() { # WHEN
  local folder folders=()
  for folder in "$PWD" "${TMPDIR:-/tmp}" "${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}}"; do
    [[ ! -e $folder ]] || folders+=("$folder")
  done
  say "Disk and memory, $1"
  df -h --output=file,size,used,avail,pcent,iavail "${folders[@]}" || true
  awk '/^MemAvailable:/ {printf "MemAvailable: %.1f GB\n", $2 / 1048576}' /proc/meminfo
}

# How many jobs, each of so many GB, the cores and the memory allow. More than cores if some of their time is waiting.
parallel_jobs() { # GB [MORE THAN CORES]
  local memory_gb jobs cores=$(($(nproc) + ${2:-0}))
  memory_gb=$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo)
  jobs=$((memory_gb / $1 > 0 ? memory_gb / $1 : 1))
  echo $((jobs < cores ? jobs : cores))
}

say_room "before"
say "Installing what is missing"
scripts/install-dependencies.sh

# It has headers of NVIDIA's libraries, which some unit tests are built with.
say "Python environment"
python=build/venv/bin/python
if scripts/make-venv.sh build/venv; then
  have_venv=1
else
  have_venv=0
fi
# Python compiles a module where it is first imported, for all processes of this run, whatever the environment says.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX="$PWD/build/pycache"
# It depends on JupyterLab, which no test needs: all that it imports is listed.
if ((have_venv && GPUOPT_FULL_TESTS)); then
  "$python" -m pip --disable-pip-version-check install --quiet --no-compile --no-deps -r scripts/requirements-full.txt ||
    echo "the packages of scripts/requirements-full.txt cannot be installed" >&2
  # Into a folder of its own, since CMake would find it in the environment's.
  "$python" -m pip --disable-pip-version-check install --quiet --no-deps --prefix "$PWD/build/onednn" -r scripts/requirements-onednn.txt ||
    echo "oneDNN 3 cannot be installed" >&2
fi

say "Building"
scripts/build.sh

export GPUOPT="$PWD/build/bin/gpuopt"
results=build/test-results
rm -rf "$results"
mkdir -p "$results"

say "Unit tests"
run_unit_tests() { # EXECUTABLE SHARD
  local name
  name=$(basename "$1")-$2
  # A run that leaves no file of results has crashed: the summary says so.
  touch "$results/$name.expected"
  GTEST_SHARD_INDEX=$2 "$1" --gtest_brief=1 --gtest_output="xml:$results/$name.xml" || true
}
export -f run_unit_tests
export results
GTEST_TOTAL_SHARDS=$(parallel_jobs 1)
export GTEST_TOTAL_SHARDS
for executable in build/bin/gpuopt-unit-*; do
  [[ -x $executable ]] || continue
  for ((shard = 0; shard < GTEST_TOTAL_SHARDS; shard++)); do
    printf '%s\0%d\0' "$executable" "$shard"
  done
done | xargs -0 -n 2 -P "$GTEST_TOTAL_SHARDS" bash -c 'run_unit_tests "$@"' _
unset GTEST_TOTAL_SHARDS
if [[ ! -x build/bin/gpuopt-unit-emulation ]]; then
  echo "the headers of CUDA, cuBLASLt and cuDNN, or Boost.Context, are missing" \
    >"$results/gpuopt-unit-emulation.skipped"
fi

# Python's modules are compiled meanwhile, since there is a core that does nothing.
if ((have_venv)); then
  "$python" -m pytest -q -p no:cacheprovider --collect-only test/Integration >/dev/null 2>&1 &
fi

say "Site of the documentation"
touch "$results/site.expected"
status=0
scripts/build-docs.sh --junit-xml "$results/site.xml" || status=$?
if ((status == 77)); then
  rm "$results/site.expected"
  echo "the packages of scripts/requirements-docs.txt cannot be installed" >"$results/site.skipped"
fi

say "lit"
touch "$results/lit.expected"
PATH="$PWD/build/venv/bin:$PATH" /usr/lib/llvm-22/bin/lit -s -v --xunit-xml-output "$results/lit.xml" build/test || true

# run_python_tests NAME ARGUMENT...: its results are NAME's, and the last arguments say where tests are. A folder of a test
# that passes goes at once, as all of them would take gigabytes.
run_python_tests() {
  local name=$1 status=0
  touch "$results/$name.expected"
  "$python" -m pytest -q -p no:cacheprovider -o tmp_path_retention_policy=failed --junit-xml "$results/$name.xml" "${@:2}" || status=$?
  echo "$status" >"$results/$name.status"
}

if ((have_venv)); then
  # PyTorch and a compilation of an emitted program take up to 3 GB.
  workers=$(parallel_jobs 3 1)
  say "Python tests, and parity with PyTorch, $workers side by side"
  # A replacement of a crashed worker may wait for ever (pytest-xdist 1327): there
  # is none, and what is left counts as failed.
  run_python_tests python -n "$workers" --dist loadgroup --no-loadscope-reorder --max-worker-restart 0 -m "not alone" test/Integration
  say "Python tests that measure time or memory, one by one"
  # Importing all the others takes as long as some of them.
  mapfile -t files < <(grep -l 'mark\.alone' test/Integration/test_*.py)
  run_python_tests python-alone -m alone "${files[@]}"
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
  echo "builds the compiler once more, with sanitizers: --full" >"$results/fuzz.skipped"
fi

say_room "after"
say "Summary"
python3 scripts/summarize_tests.py "$results"
