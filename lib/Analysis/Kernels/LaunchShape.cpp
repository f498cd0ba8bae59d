//===- LaunchShape.cpp - How a kernel is spread over a device -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/LaunchShape.h"

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
static constexpr int64_t kMostThreads = 256;

/// Column reductions on a GPU: the fewest neighbouring threads that share a
/// row.
static constexpr int64_t kLeastWidth = kLeastColumns / kHalvesOfVector;
/// The elements of a longer row that a thread of its block has in registers: 4
/// vectors of 8, or 8 of 4; and the threads that such a block has at least.
static constexpr int64_t kThreadRowElements = 32, kLeastRowThreads = 128;
/// Longer rows of a GPU are kept nowhere. Their blocks are large, so that few
/// rows are under way at once: the cache then still has them when a later walk
/// reads them.
static constexpr int64_t kKeptRowElements = 8192;
static constexpr int64_t kLongRowThreads = 512, kResidentLongRows = 2;
/// Loads of 16 bytes that a thread has under way at once, and the registers
/// that it needs for them and for up to kFewSums sums. The 16 warps for which a
/// multiprocessor of an H200 has so many registers have 64 KiB under way: more
/// than the rate of its memory times its latency asks for (Little's law), which
/// is 21 KiB. More sums need as many registers more as a thread has lanes.
static constexpr int64_t kLoadsInFlight = 8, kColumnRegisters = 128,
                         kFewSums = 4;
/// Kernels without reductions on a GPU: where rows share more than so many
/// times the loads of each, a thread goes down its columns, in at most so many
/// batches. It holds so many loads of 16 bytes in the 128 registers that two
/// blocks of a multiprocessor leave to each of their threads.
static constexpr int64_t kMostSharedLoads = 2, kMostBatches = 4,
                         kMostHeldLoads = 24;

/// Column reductions on the host: with fewer rows, setting up sums in memory
/// and reading them back takes longer than it saves. Columns of one vector lie
/// side by side as they are.
static constexpr int64_t kLeastRowsOfMemory = 8, kHostLanes = 16;

/// Returns how many blocks keep the whole device busy.
static int64_t blocksToFill(const DeviceModel &device) {
  return kBlocksPerMultiprocessor * int64_t(device.multiprocessors);
}

/// Returns how many threads work side by side on a row of `elements`.
static int64_t threadsFor(int64_t elements, int64_t lanes) {
  int64_t threads = llvm::divideCeil(elements, lanes);
  return std::clamp<int64_t>(llvm::alignTo(threads, kWarpThreads), kWarpThreads,
                             kMostThreads);
}

int64_t gpuopt::iterationsOf(const KernelShape &shape, bool isReduced) {
  int64_t iterations = 1;
  for (const LoopDim &loop : llvm::ArrayRef(shape.loops).drop_back())
    iterations *= loop.isReduced == isReduced ? loop.size : 1;
  return iterations;
}

static KernelForm formOf(const KernelShape &shape) {
  if (shape.loops.back().isReduced)
    return KernelForm::RowReduction;
  if (llvm::any_of(shape.loops,
                   [](const LoopDim &loop) { return loop.isReduced; }))
    return KernelForm::ColumnReduction;
  return shape.loops.size() == 1 ? KernelForm::Flat : KernelForm::Rows;
}

/// Whether each row has an element of its own in a column. What all rows share,
/// as the scale of a channel, is loaded before the first of them.
static bool variesByRow(const KernelShape &shape, const AffineAccess &access) {
  return llvm::any_of(
      llvm::zip(shape.loops, access.strides), [](const auto &loop) {
        return std::get<0>(loop).isReduced && std::get<1>(loop) != 0;
      });
}

/// Returns how many loads of 16 bytes a thread needs for its part of a row.
static int64_t loadsPerRow(const KernelShape &shape, int64_t lanes) {
  int64_t loads = 0;
  for (auto &[value, access] : shape.arguments) {
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8) * lanes;
    if (access.strides.back() != 0 && variesByRow(shape, access))
      loads += llvm::divideCeil(bytes, 16);
  }
  return std::max<int64_t>(loads, 1);
}

/// Whether an operand lies along the rows instead of the columns: its elements
/// are far apart from lane to lane, and neighbours from row to row.
static bool hasTurnedOperand(const KernelShape &shape) {
  const size_t loops = shape.loops.size();
  if (loops < 2 || shape.loops[loops - 2].size < kTileRows)
    return false;
  return llvm::any_of(shape.arguments, [&](const auto &entry) {
    auto type = llvm::cast<mlir::RankedTensorType>(entry.first.getType());
    llvm::ArrayRef<int64_t> strides = entry.second.strides;
    return llvm::isa<mlir::FloatType>(type.getElementType()) &&
           strides[loops - 2] == 1 && strides.back() > 1;
  });
}

/// A block of the host takes some tiles of rows, and at least one.
static void shapeTiles(LaunchShape &launch, const KernelShape &shape,
                       const DeviceModel &device) {
  const int64_t columns = shape.loops.back().size,
                size = shape.loops[shape.loops.size() - 2].size,
                rows = iterationsOf(shape, /*isReduced=*/false),
                wanted = std::min({kRowElements / columns,
                                   rows / blocksToFill(device), size});
  launch.readsTiles = true;
  launch.span = std::max(wanted / kTileRows, int64_t(1)) * kTileRows;
  launch.blocks = rows / size * llvm::divideCeil(size, launch.span);
}

namespace {
/// The loads of 16 bytes that a thread of a GPU needs for each row, and those
/// for what all rows share, as the scales of its channels.
struct LoadsOfRows {
  int64_t ofEach = 0, ofAll = 0;
};
} // namespace

/// Returns nothing where a block does not go along rows that lie one behind the
/// other and divide into the vectors of its threads.
static std::optional<LoadsOfRows> loadsOfRows(const KernelShape &shape,
                                              int64_t lanes) {
  if (shape.loops.size() != 2 || !shape.gathers.empty() ||
      shape.loops.back().size % lanes != 0)
    return std::nullopt;
  LoadsOfRows loads;
  for (auto &[value, access] : shape.arguments) {
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8) * lanes;
    if (access.strides.back() == 1)
      (access.strides.front() != 0 ? loads.ofEach : loads.ofAll) +=
          llvm::divideCeil(bytes, 16);
    else if (access.strides.back() != 0)
      return std::nullopt;
  }
  return loads;
}

/// Where rows share most of what a thread loads, as the terms of a batch norm,
/// it goes down some columns, as in a column reduction: it loads what they
/// share once, and then batches of rows. Returns whether the block has such a
/// shape.
static bool shapeSharedColumns(LaunchShape &launch, const KernelShape &shape,
                               int64_t lanes, const DeviceModel &device) {
  std::optional<LoadsOfRows> loads =
      device.hasWarps() ? loadsOfRows(shape, lanes) : std::nullopt;
  if (!loads || loads->ofEach == 0 ||
      loads->ofAll <= kMostSharedLoads * loads->ofEach)
    return false;
  const int64_t vectors = shape.loops.back().size / lanes,
                rows = shape.loops.front().size, wanted = blocksToFill(device),
                width = std::min<int64_t>(kWarpThreads,
                                          llvm::bit_ceil(uint64_t(vectors))),
                groups = kMostThreads / width;
  int64_t inFlight = llvm::bit_floor(
      uint64_t(std::max<int64_t>(1, kLoadsInFlight / loads->ofEach)));
  while (inFlight > 1 && rows < wanted * groups * inFlight)
    inFlight /= 2;
  if (vectors % width != 0 || inFlight == 1)
    return false;
  launch.threads = kMostThreads;
  launch.groups = groups;
  launch.rowsInFlight = inFlight;
  launch.span = std::clamp<int64_t>(rows / wanted / (groups * inFlight), 1,
                                    kMostBatches) *
                groups * inFlight;
  launch.blocks = llvm::divideCeil(rows, launch.span);
  // What the rows share stays in registers, as many as it takes.
  launch.residentBlocks =
      loads->ofAll + loads->ofEach * inFlight <= kMostHeldLoads ? 2 : 1;
  return true;
}

/// A block takes some rows, one after the other. On a GPU, rows that would
/// leave half of a warp idle or more are taken by groups of its threads, each
/// as wide as a row: of 64 channels in half precision, eight threads do one
/// pixel.
static void shapeRows(LaunchShape &launch, const KernelShape &shape,
                      int64_t lanes, const DeviceModel &device) {
  const int64_t size = shape.loops.back().size,
                rows = iterationsOf(shape, /*isReduced=*/false),
                vectors = llvm::divideCeil(size, lanes);
  if (!device.hasWarps() && hasTurnedOperand(shape))
    return shapeTiles(launch, shape, device);
  if (shapeSharedColumns(launch, shape, lanes, device))
    return;
  const bool shareWarps = device.hasWarps() && vectors <= kWarpThreads / 2;
  int64_t wanted = blocksToFill(device);
  // Blocks of few threads leave room for more of them.
  if (device.hasWarps() && !shareWarps)
    wanted *= kMostThreads / launch.threads;
  launch.span =
      std::max<int64_t>(1, std::min(kRowElements / size, rows / wanted));
  if (shareWarps) {
    const int64_t width = llvm::bit_ceil(uint64_t(vectors));
    launch.threads = kMostThreads;
    while (launch.threads > kWarpThreads &&
           rows * width < wanted * launch.threads)
      launch.threads /= 2;
    // As many registers as it takes: what the rows share stays in them.
    launch.residentBlocks = 1;
    launch.groups = launch.threads / width;
    launch.span =
        std::max(launch.span / launch.groups, int64_t(1)) * launch.groups;
  }
  launch.blocks = llvm::divideCeil(rows, launch.span);
}

/// Where rows are added up, a block takes one of the parts into which they are
/// cut, however few the blocks are then, and a warp every one of its rows.
static void shapeSummedRows(LaunchShape &launch, const KernelShape &shape,
                            int64_t rows) {
  launch.blocks = shape.parts;
  launch.span = rows / shape.parts;
  launch.rowStorage = RowStorage::Registers;
  launch.groups = kMostThreads / kWarpThreads;
  launch.threads = kMostThreads;
}

/// Rows that would leave three quarters of a warp idle or more share it: each
/// has a group of threads as wide as it is, one thread for the few classes of a
/// pixel. There must be enough rows to keep the device busy, and groups that
/// exchange sums within a warp must all have a row: their number divides that
/// of the rows. Returns whether the block has such a shape.
static bool shapeShortReductions(LaunchShape &launch, const KernelShape &shape,
                                 int64_t lanes, const DeviceModel &device) {
  const int64_t rows = iterationsOf(shape, /*isReduced=*/false),
                vectors = llvm::divideCeil(shape.loops.back().size, lanes),
                width = llvm::bit_ceil(uint64_t(vectors)),
                wanted = blocksToFill(device);
  if (vectors > kWarpThreads / 4 || rows * width < wanted * kWarpThreads)
    return false;
  int64_t threads = kMostThreads;
  while (threads > kWarpThreads &&
         (rows * width < wanted * threads ||
          (width > 1 && rows % (threads / width) != 0)))
    threads /= 2;
  const int64_t groups = threads / width;
  if (width > 1 && rows % groups != 0)
    return false;
  launch.threads = threads;
  launch.groups = groups;
  launch.rowStorage = RowStorage::Registers;
  launch.span = launch.groups;
  launch.blocks = llvm::divideCeil(rows, launch.span);
  return true;
}

/// Rows of a GPU that a warp holds in its registers have a warp each, whose
/// threads wait for no other, or share one. Longer ones have a block each, as
/// all rows of the host do, and so have few ones, which would leave
/// multiprocessors idle. The threads of a block hold the row as well, but for
/// one of a vocabulary.
static void shapeRowReduction(LaunchShape &launch, const KernelShape &shape,
                              int64_t lanes, const DeviceModel &device) {
  const int64_t rows = iterationsOf(shape, /*isReduced=*/false);
  launch.blocks = rows;
  if (shape.parts != 0)
    return shapeSummedRows(launch, shape, rows);
  if (!device.hasWarps() || iterationsOf(shape, /*isReduced=*/true) != 1)
    return;
  if (shape.loops.back().size > kKeptRowElements) {
    launch.threads = kLongRowThreads;
    launch.residentBlocks = kResidentLongRows;
    launch.rowStorage = RowStorage::Nowhere;
    return;
  }
  if (shape.loops.back().size > kWarpRowElements) {
    launch.threads = std::max<int64_t>(
        kLeastRowThreads,
        llvm::alignTo(
            llvm::divideCeil(shape.loops.back().size, kThreadRowElements),
            kWarpThreads));
    launch.rowStorage = RowStorage::Registers;
    return;
  }
  if (rows < int64_t(device.multiprocessors) ||
      shapeShortReductions(launch, shape, lanes, device))
    return;
  launch.rowStorage = RowStorage::Registers;
  launch.groups = std::clamp<int64_t>(
      llvm::bit_floor(uint64_t(rows / blocksToFill(device))), 2,
      kMostThreads / kWarpThreads);
  launch.span = launch.groups;
  launch.threads = launch.groups * kWarpThreads;
  launch.blocks = llvm::divideCeil(rows, launch.span);
}

/// One thread of the host sums a column from its first row to its last. It goes
/// along the rows, because memory is read fastest in the order in which it
/// lies. On a GPU groups of threads share the rows: few columns side by side
/// make many blocks, and many groups make full ones.
static void shapeColumnReduction(LaunchShape &launch, const KernelShape &shape,
                                 int64_t lanes, const DeviceModel &device) {
  const int64_t size = shape.loops.back().size,
                kept = iterationsOf(shape, /*isReduced=*/false),
                rows = iterationsOf(shape, /*isReduced=*/true),
                vectors = llvm::divideCeil(size, lanes);
  int64_t width = kWarpThreads;
  launch.threads = kWarpThreads;
  if (device.hasWarps()) {
    auto blocks = [&]() -> int64_t {
      return kept * llvm::divideCeil(vectors, width);
    };
    while (width > kLeastWidth &&
           (vectors % width != 0 || blocks() < blocksToFill(device)))
      width /= 2;
    width = std::min<int64_t>(width, llvm::bit_ceil(uint64_t(vectors)));
    launch.rowsInFlight = llvm::bit_floor(uint64_t(
        std::max<int64_t>(1, kLoadsInFlight / loadsPerRow(shape, lanes))));
    while (launch.threads < kMostThreads &&
           launch.threads * 2 / width * launch.rowsInFlight <= rows)
      launch.threads *= 2;
    launch.groups = launch.threads / width;
    launch.rowsInFlight = std::min<int64_t>(
        launch.rowsInFlight,
        llvm::bit_floor(uint64_t(std::max<int64_t>(1, rows / launch.groups))));
    const int64_t moreSums =
        std::max<int64_t>(0, int64_t(shape.results.size()) - kFewSums);
    launch.residentBlocks = std::max<int64_t>(
        1, int64_t(device.multiprocessor.registers) /
               (kColumnRegisters + lanes * moreSums) / launch.threads);
  }
  launch.sumsInMemory =
      !device.hasWarps() && size > kHostLanes && rows >= kLeastRowsOfMemory;
  launch.span = width * lanes;
  launch.blocks = kept * llvm::divideCeil(size, launch.span);
}

LaunchShape gpuopt::launchShapeOf(const KernelShape &shape, int64_t lanes,
                                  const DeviceModel &device) {
  const int64_t size = shape.loops.back().size, wanted = blocksToFill(device);
  LaunchShape launch;
  launch.form = formOf(shape);
  launch.lanes = lanes;
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
    shapeRows(launch, shape, lanes, device);
    break;
  case KernelForm::RowReduction:
    shapeRowReduction(launch, shape, lanes, device);
    break;
  case KernelForm::ColumnReduction:
    shapeColumnReduction(launch, shape, lanes, device);
    break;
  }
  return launch;
}
