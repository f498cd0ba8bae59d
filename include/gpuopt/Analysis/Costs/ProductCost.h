//===- ProductCost.h - What makes matrix products slow ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product reaches the rate of the device if its tiles fill the
// multiprocessors evenly and if its rows begin at multiples of 16 bytes. It is
// one call only if its batch has one stride.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_COSTS_PRODUCTCOST_H
#define GPUOPT_ANALYSIS_COSTS_PRODUCTCOST_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/settings/even_elements.h"
#include <optional>

namespace gpuopt {

/// A batch of products of m x k and k x n matrices, as the library is called.
struct ProductCalls {
  int64_t calls = 1; ///< With `batch` products each.
  int64_t batch = 1, m = 1, n = 1, k = 1;
  /// Whether rows of all three matrices begin at multiples of kEvenElements, or
  /// of kEvenFloats, and have multiples of them along their unit strides, but
  /// for odd ends that are calls by themselves.
  bool hasAlignedRows = true;
  int64_t endCalls = 0; ///< Calls for the odd ends, on tensor cores.
};

/// Returns the calls of an op that has a ProductSpec; nothing where its
/// operands need a copy before.
std::optional<ProductCalls> productCallsOf(mlir::Operation *op);

/// Returns the share of the device's rate that is left where tiles are not
/// full and where the last wave of them leaves multiprocessors idle.
double shareOfFullTiles(const ProductCalls &calls, const DeviceModel &device);

/// The share of the rate that products in half precision reach where rows are
/// not aligned. Padding GPT-2's vocabulary from 50,257 to a multiple of 64 made
/// training 25 % faster (nanoGPT's author, 2023), where products with it are
/// about a third of the work.
constexpr double kShareOfUnalignedRows = 0.5;

/// The same of products in TF32: GPT-2's three with its vocabulary took 2.7
/// to 5.2 times their estimates on an H200, on 2026-11-27.
constexpr double kShareOfUnalignedTf32Rows = 0.3;

/// Whether products of a type run on tensor cores of a device with warps, which
/// are fast where rows begin at multiples of kEvenElements.
bool wantsAlignedRows(mlir::Type elementType, const DeviceModel &device);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_COSTS_PRODUCTCOST_H
