#!/usr/bin/env bash
# Fuzzes the readers, solvers and checkers of gpuopt-solve, and the compiler from
# an ONNX file to the sources of a program, with libFuzzer and the address and
# undefined behaviour sanitizers. What was found interesting stays in
# build-fuzz/corpus and is the start of the next run; what fails is in
# build-fuzz/findings, and fails again with `build-fuzz/bin/gpuopt-fuzz-NAME FILE`.
#
# usage: fuzz.sh [SECONDS] [--only NAME] [--junit-xml FILE]
#   60 seconds without, of which the compiler has half and the rest share the
#   other. NAME is arena, graph, plan, problem or onnx; it has all of the time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=60
junit=
fuzzers=(arena graph plan problem onnx)
while [[ $# -gt 0 ]]; do
  case $1 in
    --junit-xml)
      junit=${2:?}
      shift
      ;;
    --only)
      fuzzers=("${2:?}")
      shift
      ;;
    *[!0-9]*)
      echo "usage: scripts/fuzz.sh [SECONDS] [--only NAME] [--junit-xml FILE]" >&2
      exit 2
      ;;
    *) seconds=$1 ;;
  esac
  shift
done

scripts/install-dependencies.sh libclang-rt-22-dev
scripts/build.sh gpuopt-solve
if [[ ! -f build-fuzz/build.ninja ]]; then
  cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -gline-tables-only" -DGPUOPT_BUILD_FUZZERS=ON -DGPUOPT_BUILD_TESTS=OFF
fi
cmake --build build-fuzz --target "${fuzzers[@]/#/gpuopt-fuzz-}"

rm -rf build-fuzz/seeds
python3 test/Fuzz/make_corpus.py build/bin/gpuopt-solve build-fuzz/seeds
if [[ " ${fuzzers[*]} " == *" onnx "* ]]; then
  scripts/make-venv.sh build/venv
  build/venv/bin/python test/Fuzz/make_onnx_corpus.py build-fuzz/seeds/onnx
fi
mkdir -p build-fuzz/findings

failed=0
cases=
for name in "${fuzzers[@]}"; do
  mkdir -p "build-fuzz/corpus/$name" "build-fuzz/seeds/$name"
  log=build-fuzz/$name.log
  verdict="no finding"
  failure=
  share=$seconds
  if [[ ${#fuzzers[@]} -gt 1 ]]; then
    share=$((seconds / 2))
    [[ $name == onnx ]] || share=$((share / (${#fuzzers[@]} - 1)))
  fi
  if ! "build-fuzz/bin/gpuopt-fuzz-$name" -max_total_time="$share" -timeout=60 \
    -rss_limit_mb=4096 -max_len=16384 -dict=test/Fuzz/tokens.dict -print_final_stats=1 \
    -artifact_prefix="build-fuzz/findings/$name-" \
    "build-fuzz/corpus/$name" "build-fuzz/seeds/$name" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    verdict="FOUND something, see $log"
    failure="<failure message=\"see $log\"/>"
    failed=1
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  echo "gpuopt-fuzz-$name: ${executions:-no} executions, $verdict"
  cases+="<testcase classname=\"fuzz\" name=\"$name\">$failure</testcase>"
done
if [[ -n $junit ]]; then
  echo "<testsuite name=\"fuzz\">$cases</testsuite>" >"$junit"
fi
exit $failed
