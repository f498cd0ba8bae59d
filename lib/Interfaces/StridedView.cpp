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

bool StridedView::isDense() const { return hasStrides(denseStrides(sizes)); }

bool StridedView::hasStrides(ArrayRef<int64_t> expected) const {
  return sizes.size() == expected.size() &&
         llvm::all_of(llvm::zip(sizes, strides, expected), [](auto dim) {
           auto [size, stride, wanted] = dim;
           return size == 1 || stride == wanted;
         });
}
