//===- ProductCost.cpp - What makes matrix products slow ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Costs/ProductCost.h"

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
#include "gpuopt/Support/TensorType.h"

using namespace mlir;
using namespace gpuopt;

/// A side of the tile that a multiprocessor works on, of large matrices and of
/// narrow ones.
static constexpr int64_t kTileSide = 128, kNarrowTileSide = 64;
/// A product is split along k, to fill the device, into parts of no less.
static constexpr int64_t kLeastInner = 512, kMostParts = 32;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Whether the two batch dimensions of a matrix walk as one.
static bool walksAsOne(const std::array<int64_t, 4> &strides, int64_t inner) {
  return strides[0] == strides[1] * inner;
}

/// Whether products are fast on all three matrices, whose last two strides are
/// those of rows and columns.
static bool haveEvenRows(const ProductLayout &layout, int64_t even) {
  auto hasEvenRows = [&](const std::array<int64_t, 4> &strides, int64_t rows,
                         int64_t columns) {
    return has_even_rows(rows, columns, strides[2], strides[3], even);
  };
  return hasEvenRows(layout.a, layout.m, layout.k) &&
         hasEvenRows(layout.b, layout.k, layout.n) &&
         hasEvenRows(layout.c, layout.m, layout.n);
}

/// Returns how many of m, n and k have odd ends, as Runtime/gpuopt/ops/gemm.h
/// cuts them.
static int64_t oddEndsOf(const ProductLayout &layout, int64_t even) {
  bool aByRows = layout.a[3] == 1, bByRows = layout.b[3] == 1,
       cByRows = layout.c[3] == 1;
  return (odd_end(layout.k, aByRows || !bByRows, even) != 0) +
         (odd_end(layout.m, !aByRows || !cByRows, even) != 0) +
         (odd_end(layout.n, bByRows || cByRows, even) != 0);
}

std::optional<ProductCalls> gpuopt::productCallsOf(Operation *op) {
  std::optional<CallLayouts> layouts =
      layoutsOf(cast<RuntimeCallOpInterface>(op));
  std::optional<ProductLayout> layout =
      layouts ? productLayoutOf(op, *layouts) : std::nullopt;
  if (!layout)
    return std::nullopt;
  const int64_t outer = layout->batch[0], inner = layout->batch[1];
  ProductCalls calls;
  calls.m = layout->m;
  calls.n = layout->n;
  calls.k = layout->k;
  // As Runtime/gpuopt/ops/gemm.h merges them.
  bool isOneBatch = outer == 1 || inner == 1 ||
                    llvm::all_of(ArrayRef({layout->a, layout->b, layout->c}),
                                 [&](const auto &strides) {
                                   return walksAsOne(strides, inner);
                                 });
  calls.calls = isOneBatch ? 1 : outer;
  calls.batch = isOneBatch ? outer * inner : inner;
  const int64_t even = tensorType(op->getOperand(0)).getElementType().isF32()
                           ? kEvenFloats
                           : kEvenElements;
  bool areAligned = haveEvenRows(*layout, even);
  // As Runtime/gpuopt/ops/gemm_cuda.h cuts them: where there is no epilogue.
  auto contract = dyn_cast<nn::ContractOp>(op);
  bool canCut = outer * inner == 1 && contract && !contract.getBias();
  int64_t ends = oddEndsOf(*layout, even);
  calls.hasAlignedRows = areAligned && (ends == 0 || canCut);
  calls.endCalls = areAligned && canCut ? ends : 0;
  return calls;
}

bool gpuopt::wantsAlignedRows(Type elementType, const DeviceModel &device) {
  return elementType.getIntOrFloatBitWidth() == 16 ||
         (elementType.isF32() && device.multipliesInTf32);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static int64_t tileSideFor(int64_t size) {
  return size <= kNarrowTileSide ? kNarrowTileSide : kTileSide;
}

/// Tile and wave quantization, as NVIDIA's "Matrix Multiplication Background
/// User's Guide" names them.
double gpuopt::shareOfFullTiles(const ProductCalls &calls,
                                const DeviceModel &device) {
  int64_t rows = tileSideFor(calls.m), columns = tileSideFor(calls.n);
  double tiles = double(calls.batch) * double(llvm::divideCeil(calls.m, rows)) *
                 double(llvm::divideCeil(calls.n, columns));
  double inTiles = tiles * double(rows * columns),
         inResult = double(calls.batch) * double(calls.m) * double(calls.n);
  int64_t most = std::clamp<int64_t>(calls.k / kLeastInner, 1, kMostParts);
  double best = 0;
  for (int64_t parts = 1; parts <= most; ++parts) {
    double waves = std::ceil(tiles * double(parts) / device.multiprocessors);
    best = std::max(best,
                    tiles * double(parts) / (waves * device.multiprocessors));
  }
  return best * inResult / inTiles;
}
