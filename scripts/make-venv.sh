#!/usr/bin/env bash
# Makes a Python environment, or brings it up to a file of requirements: that of
# the tests and benchmarks unless another one is named.
#
# usage: make-venv.sh DIR [REQUIREMENTS.txt]
set -euo pipefail
venv=$(realpath -m "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

files=("${2:-scripts/requirements.txt}")
if [[ ${files[0]} == scripts/requirements.txt ]] && command -v nvcc >/dev/null; then
  files+=(scripts/requirements-cuda.txt)
fi
alone=()
if [[ ${files[0]} == scripts/requirements.txt ]]; then
  alone=(scripts/requirements-no-deps.txt)
fi
stamp=$venv/installed.txt
wanted=$(cat "${files[@]}" "${alone[@]}")
if [[ -f $stamp && $(cat "$stamp") == "$wanted" ]]; then
  exit 0
fi

[[ -x $venv/bin/python ]] || python3 -m venv "$venv"
# There are 13 thousand modules, of which few are imported; pip compiles none,
# and Python compiles those when it imports them.
pip=("$venv/bin/python" -m pip --disable-pip-version-check install --quiet --no-compile)
# torch first: what the others require of it is then met by this version.
if torch=$(grep '^torch==' "${files[0]}"); then
  "${pip[@]}" "$torch"
fi
for file in "${files[@]}"; do
  "${pip[@]}" -r "$file"
done
for file in "${alone[@]}"; do
  "${pip[@]}" --no-deps -r "$file"
done
printf '%s\n' "$wanted" >"$stamp"
