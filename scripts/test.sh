#!/usr/bin/env bash
# All tests. Ends in one line: N passed, N failed, N skipped. What is skipped
# is named, with the reason. --full runs what takes longer.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
full=0
[ "${1:-}" = "--full" ] && full=1

passed=0 failed=0 skipped=0
scripts/install-dependencies.sh || exit 1
if ! scripts/build.sh >build.log 2>&1; then
  tail -n 40 build.log
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
rm -f build.log

# Counts "word: number" of lit's summary.
count() { sed -nE "s/^ *$1 *: *([0-9]+).*/\1/p" <<<"$2" | tail -n 1 | grep . || echo 0; }

echo "== unit tests"
for test in build/bin/gpuopt-unit-*; do
  [ -x "$test" ] || continue
  output=$("$test" --gtest_brief=1 2>&1)
  status=$?
  good=$(sed -nE 's/^\[  PASSED  \] ([0-9]+) tests?.*/\1/p' <<<"$output" | tail -n 1)
  bad=$(grep -cE '^\[  FAILED  \] [^0-9].*\(' <<<"$output")
  [ $status -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
  [ "$bad" -gt 0 ] && grep -v '^\[       OK' <<<"$output" | tail -n 60
  echo "$(basename "$test"): ${good:-0} passed, $bad failed"
  passed=$((passed + ${good:-0})) failed=$((failed + bad))
done

echo "== lit"
output=$(/usr/lib/llvm-22/bin/lit -sv --show-unsupported build/test 2>&1)
[ "$(count Failed "$output")" -eq 0 ] || echo "$output"
sed -n '/^Unsupported Tests/,/^$/p' <<<"$output"
passed=$((passed + $(count Passed "$output"))) failed=$((failed + $(count Failed "$output")))
failed=$((failed + $(count Unresolved "$output")))
skipped=$((skipped + $(count Unsupported "$output")))

echo "== against PyTorch"
venv=build/venv
if [ ! -x $venv/bin/pytest ]; then
  python3 -m venv $venv &&
    $venv/bin/pip install -q torch==2.13.0 &&
    $venv/bin/pip install -q numpy onnx onnxscript onnxruntime transformers scikit-learn pytest
fi
if [ -x $venv/bin/pytest ]; then
  arguments=(-q -rs --tb=short test/Integration)
  [ $full -eq 1 ] || arguments+=(-m "not full")
  output=$(PYTHONPATH=python $venv/bin/python -m pytest "${arguments[@]}" 2>&1)
  echo "$output" | tail -n 40
  summary=$(tail -n 1 <<<"$output")
  number() { sed -nE "s/.*[^0-9]?([0-9]+) $1.*/\1/p" <<<" $summary" | grep . || echo 0; }
  passed=$((passed + $(number passed)))
  failed=$((failed + $(number failed) + $(number error)))
  skipped=$((skipped + $(number skipped)))
else
  echo "skipped: tests against PyTorch (its packages cannot be installed)"
  skipped=$((skipped + 1))
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
