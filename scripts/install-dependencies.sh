#!/usr/bin/env bash
# Installs what gpuopt is built with, on Debian and Ubuntu: only what is
# missing, and nothing at all where everything is there. Where apt has no LLVM
# and MLIR 22, says which packages are needed and stops.
#
# usage: install-dependencies.sh [PACKAGE...]   packages that are needed as well
set -euo pipefail

packages=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22
  libprotobuf-dev protobuf-compiler libdnnl-dev ocl-icd-opencl-dev
  libgtest-dev libbenchmark-dev libboost-context1.74-dev zlib1g-dev libzstd-dev
  libjpeg62-turbo-dev libpng-dev
  cmake ninja-build ccache g++ python3 python3-venv
  "$@"
)

if ! command -v apt-get >/dev/null; then
  echo "error: this system has no apt-get; gpuopt needs what these Debian packages hold:" >&2
  printf '  %s\n' "${packages[@]}" >&2
  exit 1
fi

is_installed() {
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null || true) == installed ]]
}
is_offered() {
  apt-cache show --no-all-versions "$1" >/dev/null 2>&1
}

missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $EUID -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "error: missing packages, to be installed as root: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -q
unknown=()
for package in "${missing[@]}"; do
  is_offered "$package" || unknown+=("$package")
done
if [[ ${#unknown[@]} -gt 0 ]]; then
  cat >&2 <<MESSAGE
error: apt does not offer: ${unknown[*]}
gpuopt is built on LLVM and MLIR 22. Add a package source for your release that
has them (the LLVM project publishes one for Debian and Ubuntu), then run this
script again.
MESSAGE
  exit 1
fi
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -q --no-install-recommends "${missing[@]}"
