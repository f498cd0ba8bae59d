//===- LaunchShape.h - How a kernel is spread over a device -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that decides how many blocks a kernel has, how many threads a
// block has, and what each block works on. It depends on the device model and
// not on the machine that compiles.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_KERNELS_LAUNCHSHAPE_H
#define GPUOPT_ANALYSIS_KERNELS_LAUNCHSHAPE_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Analysis/Kernels/KernelShape.h"
#include "gpuopt/settings/limits.h"

namespace gpuopt {

/// Threads that a kernel of a GPU counts as a warp. Its trees of sums have so
/// many leaves on each GPU, which gives the same bits on all of them.
constexpr int64_t kWarpThreads = 32;

/// The halves that a thread of a GPU loads at once, which are 16 bytes.
constexpr int64_t kHalvesOfVector = 8;

/// The fewest columns of halves that a block of a column reduction takes, if
/// there are so many: its threads then read whole lines of 128 bytes.
constexpr int64_t kLeastColumns = 64;

/// The longest row that a warp of a GPU reduces. A thread then has at most 4
/// vectors of 8 elements, or 8 of 4.
constexpr int64_t kWarpRowElements = 1024;

/// The kinds of work that a block can have. The kind follows from which loops
/// reduce.
enum class KernelForm {
  Flat,           ///< No reductions and one loop: a part of it.
  Rows,           ///< No reductions: some iterations of the outer loops.
  RowReduction,   ///< The last loop is reduced: one row, or one per group.
  ColumnReduction ///< Other loops are reduced: some columns, all of their rows.
};

/// Where a kernel has what more than one of the walks over a row needs.
enum class RowStorage {
  Block, ///< What is dear is in memory of the block, the rest is read again.
  Registers, ///< In registers of the threads that walk over the row.
  Nowhere ///< It is read and computed again: the row is long, so walks are few.
};

struct LaunchShape {
  KernelForm form = KernelForm::Flat;
  int64_t blocks = 1, threads = 1;
  /// How much one block takes: elements for Flat, rows for Rows and
  /// RowReduction, columns for ColumnReduction.
  int64_t span = 1;
  /// estimateThread (KernelCost.h) fills these in: the loads that a thread
  /// waits for at once, the bytes of each load, the registers of 32 bits that a
  /// thread has, and the memory that the threads of a block share.
  int64_t loadsInFlight = 1, vectorBytes = 16, registers = 32, sharedBytes = 0;
  /// The number of groups of neighbouring threads in a block. In a
  /// ColumnReduction the groups share the rows; in a RowReduction and in Rows
  /// each group has one of the block's rows at a time.
  int64_t groups = 1;
  int64_t lanes = 1; ///< Elements that a thread of a GPU works on at once.
  /// The rows whose elements a thread loads before it adds any of them. With
  /// several in Rows, groups share the rows of each vector of columns.
  int64_t rowsInFlight = 1;
  /// Whether Rows are taken kTileRows at a time, since operands that lie along
  /// the rows are read as tiles and turned.
  bool readsTiles = false;
  /// Whether a ColumnReduction goes along its rows and keeps the sums of all of
  /// the block's columns in memory. Otherwise it goes down the columns, a
  /// vector after the other, and has one vector of sums in registers.
  bool sumsInMemory = false;
  /// The number of blocks that a multiprocessor shall have registers for at
  /// once; 0 leaves this to the compiler.
  int64_t residentBlocks = 0;
  /// Where a RowReduction has what more than one of its walks needs.
  RowStorage rowStorage = RowStorage::Block;
};

/// Returns the launch of a kernel; `lanes` is the number of elements that a
/// thread of a GPU works on at once.
LaunchShape launchShapeOf(const KernelShape &shape, int64_t lanes,
                          const DeviceModel &device);

/// Returns the product of the sizes of the loops before the last one that are
/// reduced, or of those that are not.
int64_t iterationsOf(const KernelShape &shape, bool isReduced);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_KERNELS_LAUNCHSHAPE_H
