#!/usr/bin/env bash
# Installs what gpuopt and the programs that it emits are built with: Debian's
# packages, those that are missing alone. Says what is needed where apt cannot.
set -euo pipefail

packages=(cmake ninja-build g++ ccache python3 python3-venv
  clang-22 lld-22 libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools
  libprotobuf-dev protobuf-compiler libdnnl-dev ocl-icd-opencl-dev
  libgtest-dev libbenchmark-dev zlib1g-dev libzstd-dev)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "gpuopt needs these packages (names as in Debian): ${missing[*]}" >&2
  exit 1
fi
sudo=""
[ "$(id -u)" -eq 0 ] || sudo="sudo"
$sudo apt-get update -qq
for package in "${missing[@]}"; do
  if ! apt-cache show "$package" >/dev/null 2>&1; then
    echo "apt knows no package '$package'. gpuopt needs LLVM and MLIR 22 and: ${missing[*]}" >&2
    echo "Add a package source that has them, then run this script again." >&2
    exit 1
  fi
done
echo "installing: ${missing[*]}"
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
