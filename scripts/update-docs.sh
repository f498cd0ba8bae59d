#!/usr/bin/env bash
# Renews what is generated under docs/: the pages of dialects, interfaces and
# passes, the tables of ONNX operators and of settings, and the table of what
# each folder may include.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

ninja -C build mlir-doc gpuopt
for folder in Dialects Interfaces Passes; do
  rm -rf "docs/$folder"
  cp -r "build/docs/$folder" docs/
done
# mlir-tblgen wraps what a table says of an attribute in markup of Hugo, which no
# other reader of Markdown knows. The summary alone fits into a cell, and the rest
# stands where the attribute is defined.
find docs/Dialects -name '*.md' -exec perl -0pi -e \
  's{<details><summary>(.*?)</summary>\{\{% markdown %\}\}.*?\{\{% /markdown %\}\}</details>}{$1}sg' {} +
build/bin/gpuopt operators >docs/onnx-operators.md
build/bin/gpuopt operators --precision-classes >docs/precision-classes.md
build/bin/gpuopt settings >docs/settings.md
scripts/audit_includes.py --update-docs
