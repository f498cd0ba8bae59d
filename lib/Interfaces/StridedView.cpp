//===- StridedView.cpp - A strided window on memory -----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Interfaces/StridedView.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace gpuopt;

SmallVector<int64_t> gpuopt::denseStrides(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (int64_t dim = (int64_t)sizes.size() - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * sizes[dim + 1];
  return strides;
}

bool StridedView::isDense() const {
  int64_t expected = 1;
  for (auto [size, stride] : llvm::reverse(llvm::zip(sizes, strides))) {
    if (size != 1 && stride != expected)
      return false;
    expected *= size;
  }
  return true;
}
