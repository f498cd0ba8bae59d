//===- LaunchShape.cpp - How a kernel is spread over a device -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/LaunchShape.h"

#include "gpuopt/settings/limits.h"

using namespace gpuopt;

/// The largest number of elements that a block works on one after the other,
/// the same as in the runtime's own kernels. With more, too few blocks would be
/// left to balance the load of the cores; with fewer, the host would pay for
/// more calls.
static constexpr int64_t kMostFlatElements = kSpan;
/// A block takes several whole rows if together they have at most this many
/// elements; otherwise it takes one row.
static constexpr int64_t kRowElements = 4096;
/// A block with fewer elements than this does not pay.
static constexpr int64_t kLeastFlatElements = 1024;
/// How many blocks each multiprocessor should have to choose from, so that some
/// compute while others wait for memory.
static constexpr int64_t kBlocksPerMultiprocessor = 4;
static constexpr int64_t kWarp = 32, kMostThreads = 256;

/// Returns how many blocks keep the whole device busy.
static int64_t blocksToFill(const DeviceModel &device) {
  return kBlocksPerMultiprocessor * int64_t(device.multiprocessors);
}

/// Returns how many threads work side by side on a row of `elements`.
static int64_t threadsFor(int64_t elements, int64_t lanes) {
  int64_t threads = llvm::divideCeil(elements, lanes);
  return std::clamp<int64_t>(llvm::alignTo(threads, kWarp), kWarp,
                             kMostThreads);
}

int64_t gpuopt::turnsOf(const KernelShape &shape, bool isReduced) {
  int64_t turns = 1;
  for (const LoopDim &loop : llvm::ArrayRef(shape.loops).drop_back())
    turns *= loop.isReduced == isReduced ? loop.size : 1;
  return turns;
}

static KernelForm formOf(const KernelShape &shape) {
  if (shape.loops.back().isReduced)
    return KernelForm::RowReduction;
  if (llvm::any_of(shape.loops,
                   [](const LoopDim &loop) { return loop.isReduced; }))
    return KernelForm::ColumnReduction;
  return shape.loops.size() == 1 ? KernelForm::Flat : KernelForm::Rows;
}

LaunchShape gpuopt::launchShapeOf(const KernelShape &shape, int64_t lanes,
                                  const DeviceModel &device) {
  const int64_t size = shape.loops.back().size,
                rows = turnsOf(shape, /*isReduced=*/false),
                wanted = blocksToFill(device);
  LaunchShape launch;
  launch.form = formOf(shape);
  launch.threads = threadsFor(size, lanes);
  switch (launch.form) {
  case KernelForm::Flat:
    launch.span = std::min<int64_t>(
        kMostFlatElements,
        llvm::alignTo(llvm::divideCeil(size, wanted), kLeastFlatElements));
    launch.blocks = llvm::divideCeil(size, launch.span);
    launch.threads = threadsFor(launch.span, lanes);
    break;
  case KernelForm::Rows:
    launch.span =
        std::max<int64_t>(1, std::min(kRowElements / size, rows / wanted));
    launch.blocks = llvm::divideCeil(rows, launch.span);
    break;
  case KernelForm::RowReduction:
    launch.blocks = rows;
    break;
  case KernelForm::ColumnReduction:
    // One thread sums each column, row after row, so the number of threads does
    // not change the result.
    launch.threads = kWarp;
    launch.span = kWarp * lanes;
    launch.blocks = rows * llvm::divideCeil(size, launch.span);
    break;
  }
  return launch;
}
