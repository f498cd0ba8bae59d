//===- AttentionCost.cpp - Which kernels compute attention ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Costs/AttentionCost.h"

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Dialect/NN/IR/AttentionScores.h"
#include "gpuopt/Support/TensorSize.h"
#include "gpuopt/Support/TensorType.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

//===----------------------------------------------------------------------===//
// Which kernels run
//===----------------------------------------------------------------------===//

/// The size of the heads that the kernels for warpgroups are for.
static constexpr int64_t kHeadOfWarpgroups = 64;

/// Returns the layouts of a call whose operands are all dense.
static CallLayouts layoutsOfCopies(Operation *op) {
  CallLayouts layouts;
  for (Value operand : op->getOperands()) {
    ArrayRef<int64_t> sizes = tensorType(operand).getShape();
    layouts.operands.push_back(
        {operand, 0, SmallVector<int64_t>(sizes), denseStrides(sizes)});
  }
  return layouts;
}

static AttentionKernels kernelsOf(Operation *op) {
  std::optional<CallLayouts> layouts =
      layoutsOf(cast<RuntimeCallOpInterface>(op));
  return attentionKernelsOf(op, layouts ? *layouts : layoutsOfCopies(op));
}

bool gpuopt::isAttention(Operation *op) {
  return isa<AttentionOp, AttentionGradOp>(op);
}

AttentionThreads gpuopt::attentionThreadsOf(Operation *op,
                                            const DeviceModel &device) {
  if (!device.hasWarpgroups() ||
      tensorType(op->getOperand(0)).getElementTypeBitWidth() != 16)
    return AttentionThreads::Warps;
  AttentionKernels kernels = kernelsOf(op);
  bool areKept = kernels.scores == AttentionScores::Products ||
                 kernels.scores == AttentionScores::Masked;
  return areKept && kernels.head == kHeadOfWarpgroups
             ? AttentionThreads::Warpgroups
             : AttentionThreads::Warps;
}

//===----------------------------------------------------------------------===//
// What their tiles take
//===----------------------------------------------------------------------===//

/// Where the band hides all of such a tile, a warpgroup leaves it out.
static constexpr ScoreTile kWarpgroupTile{64, 64};
/// An added mask whose elements are loaded in pairs.
static constexpr double kMaskInstructions = 40;
/// A soft cap is a tanh and two products (tanh of elementary_cuda.h).
static constexpr double kSoftcapInstructions = 18;

/// Adds the work of all tiles that the band leaves, whose rows are as long as
/// the heads of the kernels. A lane has so many instructions for a pair of a
/// query and a key, beside the products.
template <typename OpT>
static void addTiles(OpT op, int64_t head, ScoreTile tile, double instructions,
                     OpWork &work) {
  RankedTensorType scores = scoresType(op.getQuery(), op.getKey());
  const double pairs = pairsInTiles(scores, op.getBand(), tile),
               columns = double(tensorType(op.getQuery()).getShape().back() +
                                tensorType(op.getValue()).getShape().back()) /
                         2;
  work.tileShare =
      pairsInTiles(scores, op.getBand(), {}) / pairs * columns / double(head);
  work.laneInstructions = pairs * instructions;
}

/// Lanes multiply f32 where TF32 is not allowed: for each product of two
/// numbers they have so many instructions, with those that load the numbers.
/// GPT-2's 12 forwards and backwards of 64 x 1024 tokens took 48.7 and 214.8 ms
/// on an H200 (2026-11-27).
static constexpr double kForwardLaneInstructions = 2.1,
                        kGradientLaneInstructions = 2.65;

/// In TF32, matrix units multiply. Beside what kernels for half precision have,
/// warps round what they copy and what they multiply, and load each element of
/// some operands by itself. A pair of a query and a key takes so many
/// instructions of lanes, and so many more for each 64 columns. They were
/// counted in the tiles of the kernels for heads of 64 and 128, whose scores
/// are products, as nvcc 13.0 compiles them for sm_90 (2026-11-28). No GPU has
/// timed them.
static constexpr double kTf32ForwardInstructions = 10,
                        kTf32ForwardOperandInstructions = 14,
                        kTf32GradientInstructions = -9,
                        kTf32GradientOperandInstructions = 67;
/// The queries of a warp and the keys of a tile, for heads of up to 128.
static constexpr ScoreTile kTf32ForwardTile{32, 32};

static bool multipliesInTf32(Operation *op, const DeviceModel &device) {
  return device.multipliesInTf32 &&
         tensorType(op->getOperand(0)).getElementType().isF32();
}

/// Returns the instructions of lanes for `products` products of a pair, which
/// are as long as the heads of the kernels, and says in `work` that lanes
/// multiply; 0 where they do not.
static double multiplyByLanes(Operation *op, int64_t head, int64_t products,
                              double instructions, OpWork &work) {
  Type element = tensorType(op->getOperand(0)).getElementType();
  if (element.getIntOrFloatBitWidth() == 16)
    return 0;
  work.onMatrixUnits = false;
  work.isInF64 = element.isF64();
  return instructions * double(products * head);
}

//===----------------------------------------------------------------------===//
// The forward
//===----------------------------------------------------------------------===//

/// A score is scaled, compared, raised to a power, added and narrowed. The
/// power is one instruction that takes the place of eight (16 of them begin in
/// a clock, of 128 others).
static constexpr double kForwardInstructions = 12;
/// The 16 queries of a warp and the keys of a tile, which it leaves out if the
/// band hides all of their scores.
static constexpr ScoreTile kForwardTile{16, 64};

/// What warpgroups have in place of the former, from forwards of GPT-2,
/// ViT-B/16 and BERT-base alone on an H200 (docs/rationale/attention.md).
static constexpr double kWarpgroupForwardInstructions = 14;

static void addForward(AttentionOp op, const DeviceModel &device,
                       OpWork &work) {
  AttentionKernels kernels = kernelsOf(op);
  double mask =
      kernels.scores == AttentionScores::Masked ? kMaskInstructions : 0;
  if (attentionThreadsOf(op, device) == AttentionThreads::Warpgroups)
    return addTiles(op, kernels.head, kWarpgroupTile,
                    kWarpgroupForwardInstructions + mask, work);
  double softcap = op.getSoftcap() ? kSoftcapInstructions : 0;
  work.multipliesByWarps = true;
  if (multipliesInTf32(op, device))
    return addTiles(op, kernels.head, kTf32ForwardTile,
                    kTf32ForwardInstructions +
                        kTf32ForwardOperandInstructions * double(kernels.head) /
                            64 +
                        softcap,
                    work);
  double products = multiplyByLanes(op, kernels.head, /*products=*/2,
                                    kForwardLaneInstructions, work);
  addTiles(op, kernels.head, kForwardTile,
           kForwardInstructions + mask + softcap + products, work);
}

//===----------------------------------------------------------------------===//
// The backward
//===----------------------------------------------------------------------===//

// Where no other source is given, the instructions are what the times of an
// H200 leave beside bytes and products, at the rates of the device model: one
// backward of f16 alone, of 16 to 512 samples of 12 heads, 64 to 2048 tokens
// and heads of 64 or 128, and the steps of GPT-2, ViT-B/16 and BERT-base
// (docs/rationale/costs.md, 2026-11-27).

/// Where the band hides all of such a tile, a warp leaves it out.
static constexpr ScoreTile kWarpTile{32, 32};

/// Both kernels compute probabilities and the gradients of scores. Warps load
/// the operands of products from shared memory: instructions for 64 columns.
static constexpr double kGradientInstructions = 12, kOperandInstructions = 30,
                        kWarpgroupInstructions = 22;
/// change_scores, which is called for all other masks and changes, dropout and
/// a bias.
static constexpr double kChangeInstructions = 200, kDropoutInstructions = 200,
                        kBiasInstructions = 220;

/// Scores and the gradients of probabilities are computed in both kernels:
/// seven products, where five are counted.
static constexpr int64_t kGradientProducts = 7, kCountedProducts = 5;
/// The kernels for the sums of dY * Y, for dQ, and for dK and dV. What heads of
/// more than 128 elements and the gradient of a bias have beside them is not
/// counted.
static constexpr double kGradientLaunches = 3;

static double changeInstructions(AttentionGradOp op, AttentionScores scores) {
  if (scores == AttentionScores::Products)
    return 0;
  if (scores == AttentionScores::Masked)
    return kMaskInstructions;
  return kChangeInstructions +
         (op.getDropoutRatio() ? kDropoutInstructions : 0) +
         (op.getBias() ? kBiasInstructions : 0) +
         (op.getSoftcap() ? 2 * kSoftcapInstructions : 0);
}

/// The kernels for dQ and for dK and dV read Q, K, V and dY, and the one for
/// the sums of dY * Y reads dY and Y.
static double bytesReadAgain(AttentionGradOp op) {
  return sizeInBytes(op.getQuery()) + sizeInBytes(op.getKey()) +
         sizeInBytes(op.getValue()) + 2 * sizeInBytes(op.getGradient());
}

static void addGradient(AttentionGradOp op, const DeviceModel &device,
                        OpWork &work) {
  AttentionKernels kernels = kernelsOf(op);
  double changes = changeInstructions(op, kernels.scores);
  work.multipliesByWarps =
      attentionThreadsOf(op, device) == AttentionThreads::Warps;
  bool isInTf32 = multipliesInTf32(op, device);
  if (!isInTf32)
    changes += multiplyByLanes(op, kernels.head, kGradientProducts,
                               kGradientLaneInstructions, work);
  if (isInTf32)
    addTiles(op, kernels.head, kWarpTile,
             kTf32GradientInstructions +
                 kTf32GradientOperandInstructions * double(kernels.head) / 64 +
                 changes,
             work);
  else if (work.multipliesByWarps)
    addTiles(op, kernels.head, kWarpTile,
             kGradientInstructions +
                 kOperandInstructions * double(kernels.head) / 64 + changes,
             work);
  else
    addTiles(op, kernels.head, kWarpgroupTile, kWarpgroupInstructions + changes,
             work);
  work.operations *= double(kGradientProducts) / kCountedProducts;
  work.launches = kGradientLaunches;
  // A block waits for its first tiles, and writes when it is done.
  work.bytesRead += bytesReadAgain(op);
  work.overlapsBytes = false;
}

void gpuopt::addAttention(Operation *op, const DeviceModel &device,
                          OpWork &work) {
  if (auto gradient = dyn_cast<AttentionGradOp>(op))
    addGradient(gradient, device, work);
  else
    addForward(cast<AttentionOp>(op), device, work);
}
