#!/usr/bin/env bash
# Makes the Python environment of the tests and benchmarks, or brings it up to
# scripts/requirements.txt.
#
# usage: make-venv.sh DIR
set -euo pipefail
venv=$(realpath -m "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stamp=$venv/installed.txt
wanted=$(cat scripts/requirements.txt)
if command -v nvcc >/dev/null; then
  wanted+=$'\n'$(cat scripts/requirements-cuda.txt)
fi
if [[ -f $stamp && $(cat "$stamp") == "$wanted" ]]; then
  exit 0
fi

[[ -x $venv/bin/python ]] || python3 -m venv "$venv"
# There are 13 thousand modules, of which few are imported; pip compiles none,
# and Python compiles those when it imports them.
pip=("$venv/bin/python" -m pip --disable-pip-version-check install --quiet --no-compile)
# torch first: what the others require of it is then met by this version.
"${pip[@]}" "$(grep '^torch==' scripts/requirements.txt)"
"${pip[@]}" -r scripts/requirements.txt
if command -v nvcc >/dev/null; then
  "${pip[@]}" -r scripts/requirements-cuda.txt
fi
printf '%s\n' "$wanted" >"$stamp"
