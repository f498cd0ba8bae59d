//===- KernelCost.cpp - What a kernel asks of a GPU -----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Costs/KernelCost.h"

#include "gpuopt/Analysis/Kernels/FastFunctions.h"
#include "gpuopt/Analysis/Kernels/RowWalks.h"
#include "gpuopt/Analysis/Kernels/ShiftedExp.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Interfaces/LaneInstructions.h"
#include "gpuopt/Support/TensorSize.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace gpuopt;

/// nvcc issues the loads of an iteration before it uses the first of them,
/// unless a test of an address stands between them, and trades more of them for
/// registers.
static constexpr int64_t kMostLoadsInFlight = 4;
/// The same for a row in registers, whose iterations are all unrolled.
static constexpr int64_t kMostLoadsOfRow = 8;
/// Memory is read in sectors of this many bytes.
static constexpr int64_t kSectorInBytes = 32;
static constexpr int64_t kVectorInBytes = 16;
/// Registers that a thread may have beyond those that are expected. A bound
/// that is too low makes nvcc keep values in memory.
static constexpr int64_t kSpareRegisters = 16;
/// The share of its time in which a warp that reduces rows has loads on their
/// way. In the rest it exchanges sums and writes.
static constexpr double kLoadingShareOfRows = 0.5;

// Instructions, counted as those of LaneInstructions.cpp.
static constexpr double kVectorAccess = 10; // of an access to all lanes
static constexpr double kScalarAccess = 4;  // of an access to one lane
static constexpr double kIteration = 6;     // of an iteration of a loop
static constexpr double kScaleOfSums = 4;   // seldom done, always tested
// The instructions that each thread executes in a reduction over its block, or
// over a group in a warp.
static constexpr double kBlockReduction = 45, kGroupReduction = 20;
// The instructions that a thread executes for an element that its group hands
// to another one.
static constexpr double kGroupsElement = 4;

static int64_t elementBytesOf(Value value) {
  return elementSizeInBytes(cast<RankedTensorType>(value.getType()));
}

static int64_t spaceOf(const KernelShape &shape) {
  int64_t elements = 1;
  for (const LoopDim &loop : shape.loops)
    elements *= loop.size;
  return elements;
}

/// Returns how many elements a thread works on at once, which all kernels of a
/// program have in common: 8 where any has half precision, so that 16 bytes are
/// as many halves. Until precisions are assigned, a kernel is asked for its
/// own.
static int64_t lanesOf(nn::FusedOp op) {
  auto isHalf = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && isa<FloatType>(tensor.getElementType()) &&
           tensor.getElementTypeBitWidth() == 16;
  };
  auto step = op->getParentOfType<train::StepOp>();
  bool hasHalf =
      (step && train::TrainDialect::PrecisionAttrHelper(op.getContext())
                   .isAttrPresent(step)) ||
      llvm::any_of(op->getOperandTypes(), isHalf) ||
      llvm::any_of(op->getResultTypes(), isHalf);
  return hasHalf ? kHalvesOfVector : kHalvesOfVector / 2;
}

static StridedView denseView(Value value) {
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(value.getType()).getShape();
  return {value, 0, llvm::to_vector(sizes), denseStrides(sizes)};
}

/// Where a view needs a copy, that copy is dense.
static KernelShape shapeOf(nn::FusedOp op) {
  SmallVector<StridedView> operands, results;
  for (Value input : op.getInputs())
    operands.push_back(viewOf(input).value_or(denseView(input)));
  for (Value result : op.getResults())
    results.push_back(destinationOf(result));
  return kernelShape(op, operands, results);
}

//===----------------------------------------------------------------------===//
// Threads and warps
//===----------------------------------------------------------------------===//

/// Returns how many threads of a warp read elements that lie side by side,
/// where rows of a GPU are taken by groups and neighbouring rows are
/// neighbours in memory: those of planes that become pixels.
static int64_t neighboursOf(const AffineAccess &access,
                            const LaunchShape &launch) {
  const size_t loops = access.strides.size();
  if (launch.form != KernelForm::Rows || launch.groups == 1 || loops < 2 ||
      access.strides[loops - 2] != 1)
    return 1;
  return std::max<int64_t>(1, kWarpThreads * launch.groups / launch.threads);
}

/// Returns the bytes that a thread asks memory for in one iteration, of sectors
/// that it shares with its neighbours.
static int64_t bytesOfIteration(const AffineAccess &access,
                                int64_t elementBytes, int64_t lanes,
                                int64_t neighbours) {
  int64_t stride = std::abs(access.strides.back());
  return lanes * std::min(std::max(kSectorInBytes / neighbours, elementBytes),
                          stride * elementBytes);
}

/// Whether the kernel keeps the rows that it reduces in registers.
static bool keepsRowsInRegisters(const LaunchShape &launch) {
  return launch.rowStorage == RowStorage::Registers;
}

/// Returns how many threads walk over a row, or over a block's elements.
static int64_t threadsOfRow(const LaunchShape &launch) {
  return launch.threads / launch.groups;
}

/// Returns how many of threadsOfRow have an element to load.
static int64_t busyThreads(const LaunchShape &launch, const KernelShape &shape,
                           int64_t lanes) {
  int64_t elements = shape.loops.back().size;
  if (launch.form == KernelForm::Flat ||
      launch.form == KernelForm::ColumnReduction)
    elements = std::min(elements, launch.span);
  return std::min<int64_t>(threadsOfRow(launch),
                           llvm::divideCeil(elements, lanes));
}

void gpuopt::estimateThread(nn::FusedOp op, const KernelShape &shape,
                            int64_t lanes, LaunchShape &launch) {
  double largest = 0;
  for (auto &[argument, access] : shape.arguments)
    largest = std::max(largest, double(sizeInBytes(argument)));
  // Small operands come from a cache.
  int64_t loads = 0, bytes = 0;
  auto add = [&](const AffineAccess &access, int64_t elementBytes) {
    if (int64_t ofIteration = bytesOfIteration(access, elementBytes, lanes,
                                               neighboursOf(access, launch))) {
      ++loads;
      bytes += ofIteration;
    }
  };
  for (auto &[argument, access] : shape.arguments)
    if (16 * double(sizeInBytes(argument)) >= largest)
      add(access, elementBytesOf(argument));
  for (auto &[take, gather] : shape.gathers)
    add(gather.row, elementBytesOf(cast<nn::TakeOp>(take).getTable()));
  if (loads > 0) {
    launch.vectorBytes =
        llvm::divideCeil(bytes * busyThreads(launch, shape, lanes),
                         loads * threadsOfRow(launch));
    int64_t iterations =
        llvm::divideCeil(shape.loops.back().size, lanes * threadsOfRow(launch));
    launch.loadsInFlight =
        keepsRowsInRegisters(launch)
            ? std::min(loads * iterations, kMostLoadsOfRow)
            : std::min(loads, kMostLoadsInFlight) * launch.rowsInFlight;
  }
  // Addresses and counters, and the lanes of operands and of a result.
  int64_t live = std::min<int64_t>(loads, 4) * launch.rowsInFlight + 1;
  launch.registers = std::min<int64_t>(255, 24 + lanes * live);
  if (launch.form != KernelForm::RowReduction)
    return;
  RowWalks walks(op.getBody().front(), shape, launch);
  int64_t kept = 0;
  for (auto &[value, walk] : walks.kept())
    kept +=
        shape.loops.back().size * std::max<int64_t>(4, elementBytesOf(value));
  for (nn::PartialSumOp sum : op.getBody().front().getOps<nn::PartialSumOp>())
    kept += shape.loops.back().size * elementBytesOf(sum.getResult());
  if (keepsRowsInRegisters(launch))
    launch.registers = std::min<int64_t>(
        255, launch.registers + kept / 4 / threadsOfRow(launch));
  else
    launch.sharedBytes += kept;
}

double gpuopt::mostResidentWarps(const LaunchShape &launch,
                                 const DeviceModel &device) {
  const Multiprocessor &each = device.multiprocessor;
  double warpsOfBlock = std::ceil(double(launch.threads) / each.warpSize);
  // Registers are handed out to warps, eight to a thread.
  double registersOfBlock =
      double(llvm::alignTo(launch.registers, 8)) * each.warpSize * warpsOfBlock;
  double blocks =
      std::min({each.blocks, each.threads / (warpsOfBlock * each.warpSize),
                each.registers / registersOfBlock});
  if (launch.sharedBytes > 0)
    blocks = std::min(blocks, each.sharedBytes / double(launch.sharedBytes));
  return warpsOfBlock * std::max(1., std::floor(blocks));
}

int64_t gpuopt::residentBlocksFor(const LaunchShape &launch,
                                  const DeviceModel &device) {
  double bytes = device.bytesPerSecond * device.memoryLatencyInSeconds /
                 device.multiprocessors,
         bytesOfBlock =
             double(launch.threads * launch.loadsInFlight * launch.vectorBytes),
         warpsOfBlock =
             std::ceil(double(launch.threads) / device.multiprocessor.warpSize);
  if (launch.form == KernelForm::RowReduction)
    bytesOfBlock *= kLoadingShareOfRows;
  LaunchShape wider = launch;
  wider.registers = std::min<int64_t>(255, launch.registers + kSpareRegisters);
  double most = mostResidentWarps(wider, device) / warpsOfBlock;
  return int64_t(std::clamp(std::ceil(bytes / bytesOfBlock), 1., most));
}

double gpuopt::residentWarps(const LaunchShape &launch,
                             const DeviceModel &device) {
  double warpsOfBlock =
      std::ceil(double(launch.threads) / device.multiprocessor.warpSize);
  return std::min(mostResidentWarps(launch, device),
                  warpsOfBlock * double(launch.blocks) /
                      device.multiprocessors);
}

double gpuopt::bytesInFlight(const LaunchShape &launch,
                             const DeviceModel &device) {
  return device.multiprocessors * residentWarps(launch, device) *
         device.multiprocessor.warpSize *
         double(launch.loadsInFlight * launch.vectorBytes);
}

//===----------------------------------------------------------------------===//
// Instructions and bytes
//===----------------------------------------------------------------------===//

static double instructionsOf(Operation *op) {
  return isFast(op) ? fastInstructionsOf(op) : laneInstructionsPerElement(op);
}

namespace {

/// Follows values from what is written or reduced to what is loaded, walk by
/// walk.
class KernelCounter {
public:
  KernelCounter(nn::FusedOp op, const KernelShape &shape, int64_t lanes,
                const LaunchShape &launch)
      : body(op.getBody().front()), shape(shape), lanes(lanes), launch(launch),
        walks(body, shape, launch) {}

  KernelCost count(const DeviceModel &device) {
    bool reduces = launch.form == KernelForm::RowReduction ||
                   launch.form == KernelForm::ColumnReduction;
    if (reduces)
      for (walk = 0; walk < walks.count(); ++walk)
        addWalk(walks[walk]);
    else
      addIterations();
    for (auto [output, value] : llvm::enumerate(yielded()))
      if (!reduces || !walks.isFull(value)) {
        addOutput(output);
      }
    cost.launch = launch;
    addRereads(device);
    return cost;
  }

private:
  ValueRange yielded() {
    return cast<nn::YieldOp>(body.getTerminator()).getValues();
  }

  void addOutput(unsigned output) {
    Value value = yielded()[output];
    visit(value);
    addAccess(value, shape.results[output],
              shape.origins[body.getNumArguments() + output]);
  }

  void addWalk(const RowWalks::Walk &of) {
    if (of.isEmpty())
      return;
    addIterations();
    seen.clear();
    for (nn::ReduceOp reduce : of.reductions) {
      visit(walks.combinedBy(reduce));
      addReduction(reduce);
      if (walks.maximumBeside(reduce))
        addExponentials(reduce);
      if (launch.form == KernelForm::RowReduction)
        cost.laneInstructions +=
            (launch.groups > 1 ? kGroupReduction : kBlockReduction) *
            double(launch.blocks * launch.threads);
    }
    for (nn::PartialSumOp sum : of.sums) {
      visit(sum.getInput());
      addInstructions(sum, sum.getInput());
      addEndOf(sum);
    }
    for (unsigned output : of.outputs) {
      addOutput(output);
    }
  }

  /// Adds what the groups of all blocks do with a sum when the rows are done.
  void addEndOf(nn::PartialSumOp sum) {
    double columns = double(shape.loops.back().size);
    cost.laneInstructions += kGroupsElement * columns * double(launch.groups) *
                             double(launch.blocks);
  }

  /// How often a thread computes `value`, over all threads: with lanes where it
  /// varies by lane, and once for each iteration of the loops around them, or
  /// once, where it does not.
  double timesOf(Value value) const {
    const SmallVector<bool> &varies = shape.varies.find(value)->second;
    double iterations = 1;
    for (auto [loop, isVarying] : llvm::zip(shape.loops, varies))
      iterations *= isVarying ? double(loop.size) : 1;
    if (varies.back())
      return iterations;
    double atLeast = double(launch.blocks);
    if (launch.form == KernelForm::ColumnReduction) // in each tile of columns
      iterations *=
          double(llvm::divideCeil(shape.loops.back().size, launch.span));
    else if (launch.form == KernelForm::RowReduction) // for each row
      atLeast *= double(launch.span);
    return std::max(iterations, atLeast) * double(threadsOfRow(launch));
  }

  void addInstructions(Operation *op, Value over) {
    cost.laneInstructions += instructionsOf(op) * timesOf(over);
    Type type = cast<RankedTensorType>(over.getType()).getElementType();
    cost.isInF64 |= type.isF64() && !isa<nn::BroadcastOp>(op);
  }

  /// The batches of a row that is kept nowhere have no lane behind its end.
  void addReduction(nn::ReduceOp reduce) {
    if (launch.rowStorage == RowStorage::Nowhere)
      cost.laneInstructions += timesOf(reduce.getInput());
    else
      addInstructions(reduce, reduce.getInput());
  }

  /// Adds what a sum of exponentials costs that is found together with its
  /// maximum: an exponential for each difference, and the test of a vector
  /// whether the sum so far has to be scaled.
  void addExponentials(nn::ReduceOp sum) {
    Value input = sum.getInput();
    for (Operation *op : {input.getDefiningOp(),
                          input.getDefiningOp()->getOperand(0).getDefiningOp()})
      addInstructions(op, input);
    cost.laneInstructions += kScaleOfSums * timesOf(input) / double(lanes);
  }

  /// Loops over lanes.
  void addIterations() {
    cost.laneInstructions +=
        kIteration * double(spaceOf(shape)) / double(lanes);
  }

  /// `origin` is where the view begins in its buffer, in elements.
  bool isAligned(const AffineAccess &access, int64_t origin,
                 int64_t elementBytes) const {
    int64_t most = std::min(kVectorInBytes, lanes * elementBytes);
    return (origin + access.offset) * elementBytes % most == 0 &&
           llvm::all_of(ArrayRef(access.strides).drop_back(),
                        [&](int64_t stride) {
                          return stride * elementBytes % most == 0;
                        });
  }

  void addAccess(Value value, const AffineAccess &access, int64_t origin = 0) {
    int64_t elementBytes = elementBytesOf(value);
    double elements = timesOf(value), stride = access.strides.back();
    if (stride == 0)
      cost.laneInstructions += elements;
    else if (stride == 1 && isAligned(access, origin, elementBytes))
      cost.laneInstructions += kVectorAccess * elements / double(lanes);
    else
      cost.laneInstructions += kScalarAccess * elements;
  }

  void load(BlockArgument argument) {
    const AffineAccess &access = shape.arguments.find(argument)->second;
    addAccess(argument, access, shape.origins[argument.getArgNumber()]);
    readers[argument].insert(walk);
    int64_t elementBytes = elementBytesOf(argument),
            bytes = bytesOfIteration(access, elementBytes, 1,
                                     neighboursOf(access, launch));
    if (bytes > elementBytes && readers[argument].size() == 1)
      cost.extraBytesRead += double(bytes - elementBytes) * timesOf(argument);
  }

  void visit(Value value) {
    value = skipBroadcasts(value);
    bool isFull = walks.isFull(value);
    if (!(isFull ? seen : once).insert(value).second)
      return;
    auto kept = walks.kept().find(value);
    if (kept != walks.kept().end() && kept->second < walk) {
      if (!keepsRowsInRegisters(launch))
        cost.laneInstructions += kVectorAccess * timesOf(value) / double(lanes);
      return;
    }
    if (auto argument = dyn_cast<BlockArgument>(value))
      return load(argument);
    Operation *op = value.getDefiningOp();
    if (isa<nn::ReduceOp, nn::PartialSumOp>(op)) // in its walk
      return;
    addInstructions(op, value);
    if (auto take = dyn_cast<nn::TakeOp>(op))
      return addAccess(value, shape.gathers.find(take)->second.row);
    for (Value operand : op->getOperands())
      visit(operand);
  }

  /// Later walks find their rows in the cache if it holds those of all blocks
  /// that run at once.
  void addRereads(const DeviceModel &device) {
    if (launch.form != KernelForm::RowReduction)
      return;
    double warpsOfBlock =
        std::ceil(double(launch.threads) / device.multiprocessor.warpSize);
    double blocks =
        residentWarps(launch, device) / warpsOfBlock * device.multiprocessors;
    double bytesOfBlock = 0, bytes = 0;
    for (auto &[argument, inWalks] : readers)
      if (walks.isFull(argument)) {
        double all = double(sizeInBytes(argument));
        bytesOfBlock += all / double(launch.blocks);
        bytes += all * double(inWalks.size() - 1);
      }
    if (blocks * bytesOfBlock > device.l2CacheInBytes)
      cost.extraBytesRead += bytes;
  }

  Block &body;
  const KernelShape &shape;
  int64_t lanes;
  const LaunchShape &launch;
  RowWalks walks;
  unsigned walk = 0;
  KernelCost cost;
  /// Values that are computed in this walk, and outside of all.
  llvm::DenseSet<Value> seen, once;
  llvm::MapVector<Value, llvm::SmallSetVector<unsigned, 4>> readers;
};

} // namespace

KernelCost gpuopt::kernelCostOf(nn::FusedOp op, const DeviceModel &device) {
  KernelShape shape = shapeOf(op);
  int64_t lanes = lanesOf(op);
  LaunchShape launch = launchShapeOf(shape, lanes, device);
  estimateThread(op, shape, lanes, launch);
  return KernelCounter(op, shape, lanes, launch).count(device);
}

KernelCost gpuopt::kernelCostOfSlice(nn::FusedOp op, unsigned result,
                                     const KernelSlice &slice,
                                     const DeviceModel &device) {
  Value made = op.getResult(result);
  double elements = cast<RankedTensorType>(made.getType()).getNumElements();
  int64_t lanes = lanesOf(op),
          loads = slice.inputs.size() + slice.results.size();
  KernelShape shape;
  shape.loops.push_back({int64_t(elements), false, {}});
  KernelCost cost;
  cost.launch = launchShapeOf(shape, lanes, device);
  cost.launch.vectorBytes = lanes * elementBytesOf(made);
  cost.launch.loadsInFlight = std::clamp<int64_t>(loads, 1, kMostLoadsInFlight);
  double accesses = double(loads + 1);
  cost.laneInstructions =
      (kIteration + kVectorAccess * accesses) * elements / double(lanes);
  for (Operation *inner : slice.ops) {
    cost.laneInstructions += instructionsOf(inner) * elements;
    cost.isInF64 |= cast<RankedTensorType>(inner->getResult(0).getType())
                        .getElementType()
                        .isF64();
  }
  return cost;
}
