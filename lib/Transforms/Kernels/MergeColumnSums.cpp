//===- MergeColumnSums.cpp - Adds up columns where rows are reduced -------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The backward of a layer norm is a kernel that reduces rows, for the gradient
// of its input, and two sums over columns, for those of its scale and shift.
// All read the same tensors, and the bias before is the sum over the columns of
// what the first one writes. Kernels are formed of one kind of reduction only.
// Here a kernel that reduces rows takes over the sums over columns of tensors
// that it reads or writes: each of its blocks adds up the rows that it works
// on, and one more kernel adds up what the blocks have (gamma and beta of
// llm.c's layernorm_backward are computed so). A kernel that reduces nothing,
// such as the backward of a GELU, takes over such sums as well. It then works
// on columns, as the sums did, and may read a further tensor for them: the
// backward of a residual connection writes what a batch norm's backward adds
// up, alone and times the input of the batch norm.
//
// Runs when kernels are formed and before their types are chosen. It is for
// devices with warps: a core of a processor would have to keep whole rows of
// sums in its cache. A kernel takes a sum if its threads have registers for it
// and both would not be faster apart, by the estimates for the device.
//
//===----------------------------------------------------------------------===//

#include "ColumnSums.h"
#include "WarpDevicePass.h"

#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Analysis/Costs/KernelCost.h"
#include "gpuopt/Analysis/Kernels/Clusters.h"
#include "gpuopt/Analysis/Kernels/LaunchShape.h"
#include "gpuopt/Analysis/Kernels/RowParts.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/Support/FormatVariadic.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_MERGECOLUMNSUMS
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// A thread can have 255 registers; more than this leave the compiler too few
/// to spare, and it would keep values in memory.
static constexpr int64_t kMostRegisters = 232;
/// A tensor with at least this many times fewer elements than the rows costs
/// almost nothing to read, so a kernel that takes a sum need not read it yet.
static constexpr int64_t kSmall = 16;

//===----------------------------------------------------------------------===//
// What can be merged
//===----------------------------------------------------------------------===//

/// Whether a kernel reduces the last dimension alone, and a warp holds a row.
static bool reducesRows(FusedOp kernel) {
  ReduceOp reduction = firstReduction(kernel);
  if (!reduction)
    return false;
  int64_t last = int64_t(shapeOf(reduction.getInput()).size()) - 1;
  return last > 0 && reduction.getDims() == ArrayRef(last) &&
         shapeOf(reduction.getInput()).back() <= kWarpRowElements;
}

/// Whether a kernel reduces nothing and all of its results are of one shape.
static bool writesElements(FusedOp kernel) {
  return !firstReduction(kernel) &&
         llvm::all_of(kernel.getResults(), [&](Value result) {
           return shapeOf(result) == spaceOf(kernel);
         });
}

/// Whether `kernel` could read a tensor that it does not read.
static bool isMadeBefore(FusedOp kernel, Value value) {
  Operation *definition = value.getDefiningOp();
  return !definition || definition->isBeforeInBlock(kernel);
}

/// Whether a tensor has about as many elements as a kernel has indices.
static bool isLarge(FusedOp kernel, Value value) {
  return ShapedType::getNumElements(shapeOf(value)) * kSmall >
         ShapedType::getNumElements(spaceOf(kernel));
}

/// Whether a kernel reads or writes a value.
static bool hasAtHand(FusedOp kernel, Value value) {
  return value.getDefiningOp() == kernel ||
         llvm::is_contained(kernel.getInputs(), value);
}

/// Whether `kernel` has all large tensors at hand that `sums` reads, or one of
/// them if it `mayReadMore`, and what is made of its sums, `whole`, is read
/// behind it.
static bool canTake(FusedOp kernel, FusedOp sums, ArrayRef<OpResult> whole,
                    bool mayReadMore) {
  if (spaceOf(sums) != spaceOf(kernel))
    return false;
  auto canRead = [&](Value input) {
    return hasAtHand(kernel, input) ||
           ((mayReadMore || !isLarge(kernel, input)) &&
            isMadeBefore(kernel, input));
  };
  auto saves = [&](Value input) {
    return isLarge(kernel, input) && hasAtHand(kernel, input);
  };
  auto isReadBehind = [&](OpResult sum) {
    return llvm::all_of(sum.getUsers(), [&](Operation *user) {
      return kernel->isBeforeInBlock(
          kernel->getBlock()->findAncestorOpInBlock(*user));
    });
  };
  return llvm::all_of(sums.getInputs(), canRead) &&
         llvm::any_of(sums.getInputs(), saves) &&
         llvm::all_of(whole, isReadBehind);
}

/// Returns the other kernels of the block that read what a kernel reads or
/// writes, in their order.
static SmallVector<FusedOp> readersBeside(FusedOp kernel) {
  llvm::SmallSetVector<Operation *, 8> users;
  for (Value value : kernel->getOperands())
    users.insert(value.user_begin(), value.user_end());
  for (Value value : kernel->getResults())
    users.insert(value.user_begin(), value.user_end());
  SmallVector<FusedOp> readers;
  for (Operation *user : users)
    if (auto reader = dyn_cast<FusedOp>(user);
        reader && reader != kernel && user->getBlock() == kernel->getBlock())
      readers.push_back(reader);
  llvm::sort(readers,
             [](FusedOp a, FusedOp b) { return a->isBeforeInBlock(b); });
  return readers;
}

/// Returns the column sums that a kernel which reduces rows can take over.
static SmallVector<ColumnSums> sumsBesideRows(FusedOp row) {
  SmallVector<ColumnSums> found;
  for (FusedOp reader : readersBeside(row)) {
    std::optional<ColumnSums> sums = columnSumsOf(reader);
    if (sums && canTake(row, reader, sums->whole, /*mayReadMore=*/false))
      found.push_back(std::move(*sums));
  }
  return found;
}

/// Returns the kernels of column sums that a kernel which reduces nothing can
/// take over.
static SmallVector<FusedOp> sumsBesideElements(FusedOp kernel) {
  SmallVector<FusedOp> found;
  for (FusedOp reader : readersBeside(kernel))
    if (sumsColumns(reader) &&
        canTake(kernel, reader, llvm::to_vector(reader->getOpResults()),
                /*mayReadMore=*/true))
      found.push_back(reader);
  return found;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

namespace {

/// Builds a kernel with the results of one kernel, followed by the sums of
/// another one: in parts of the rows, or as they are if `parts` is 0.
class KernelMerger {
public:
  KernelMerger(FusedOp taker, FusedOp sums, int64_t parts)
      : taker(taker), sums(sums), parts(parts), inside(taker.getContext()) {}

  FusedOp build() {
    SmallVector<Value> inputs(taker.getInputs());
    for (Value input : sums.getInputs())
      if (input.getDefiningOp() != taker && !llvm::is_contained(inputs, input))
        inputs.push_back(input);
    auto body = std::make_unique<Block>();
    for (Value input : inputs)
      atHand[input] = body->addArgument(input.getType(), input.getLoc());
    inside.setInsertionPointToEnd(body.get());
    SmallVector<Value> yielded = clone(taker);
    for (auto [result, value] : llvm::zip(taker.getResults(), yielded))
      atHand[result] = value;
    yielded.append(clone(sums));
    Location loc = inside.getFusedLoc({taker.getLoc(), sums.getLoc()});
    YieldOp::create(inside, loc, yielded);

    OpBuilder builder(taker);
    auto merged = FusedOp::create(builder, loc, ValueRange(yielded).getTypes(),
                                  taker.getLabel(), inputs);
    merged.getBody().push_back(body.release());
    removeRepeated(merged);
    merged.setLabel(kernelLabel(merged.getBody().front()));
    nameResults(merged);
    return merged;
  }

private:
  /// Returns what the kernel yields, computed by copies of its ops.
  SmallVector<Value> clone(FusedOp kernel) {
    Block &body = kernel.getBody().front();
    IRMapping mapping;
    for (auto [argument, input] :
         llvm::zip(body.getArguments(), kernel.getInputs()))
      mapping.map(argument, atHand.lookup(input));
    for (Operation &op : body.without_terminator()) {
      auto sum = dyn_cast<ReduceOp>(op);
      if (sum && kernel == sums && parts != 0)
        mapping.map(sum.getResult(),
                    PartialSumOp::create(inside, sum.getLoc(),
                                         mapping.lookup(sum.getInput()), parts)
                        .getResult());
      else
        inside.clone(op, mapping);
    }
    return llvm::map_to_vector(
        yieldedBy(kernel), [&](Value value) { return mapping.lookup(value); });
  }

  /// What both kernels compute is computed once.
  static void removeRepeated(FusedOp merged) {
    IRRewriter rewriter(merged.getContext());
    DominanceInfo dominance(merged);
    eliminateCommonSubExpressions(rewriter, dominance, merged);
  }

  void nameResults(FusedOp merged) {
    SmallVector<OriginAttr> origins =
        llvm::map_to_vector(taker->getResults(), originAttrOf);
    for (Value result : sums.getResults())
      origins.push_back(originAttrOf(result));
    setOrigins(merged, origins);
  }

  FusedOp taker, sums;
  int64_t parts;
  OpBuilder inside;
  llvm::DenseMap<Value, Value> atHand;
};

/// Whether a kernel reads a sum that is finished only behind the kernel which
/// has taken it.
static bool readsAnyOf(FusedOp kernel, ArrayRef<ColumnSums> taken) {
  return llvm::any_of(taken, [&](const ColumnSums &sums) {
    return llvm::any_of(sums.whole, [&](OpResult whole) {
      return llvm::is_contained(kernel.getInputs(), Value(whole));
    });
  });
}

class MergeColumnSums
    : public kernels::WarpDevicePass<
          kernels::impl::MergeColumnSumsBase<MergeColumnSums>> {
public:
  using WarpDevicePass::WarpDevicePass;

private:
  void runOn(const DeviceModel &device) override {
    model = device;
    for (FusedOp kernel : kernelsThat(reducesRows))
      mergeIntoRows(kernel);
    for (FusedOp kernel : kernelsThat(writesElements))
      mergeIntoElements(kernel);
  }

  SmallVector<FusedOp> kernelsThat(llvm::function_ref<bool(FusedOp)> fits) {
    SmallVector<FusedOp> kernels;
    getOperation().walk([&](FusedOp kernel) {
      if (fits(kernel))
        kernels.push_back(kernel);
    });
    return kernels;
  }

  /// The merged kernel is one of column sums, whose threads write what they
  /// add up. All its sums are over the same dimensions.
  void mergeIntoElements(FusedOp kernel) {
    for (FusedOp sums : sumsBesideElements(kernel)) {
      ReduceOp taken = firstReduction(kernel);
      if (taken && taken.getDims() != firstReduction(sums).getDims())
        continue;
      const unsigned own = kernel.getNumResults();
      FusedOp merged = merge(kernel, sums, /*parts=*/0);
      if (!merged)
        continue;
      sums.replaceAllUsesWith(merged.getResults().drop_front(own));
      sums.erase();
      kernel = merged;
    }
  }

  void mergeIntoRows(FusedOp row) {
    std::optional<int64_t> parts = rowPartsFor(
        ShapedType::getNumElements(spaceOf(row).drop_back()), model);
    if (!parts)
      return;
    SmallVector<ColumnSums> taken;
    const unsigned own = row.getNumResults();
    for (ColumnSums &sums : sumsBesideRows(row)) {
      if (readsAnyOf(sums.kernel, taken))
        continue;
      if (FusedOp merged = merge(row, sums.kernel, *parts)) {
        row = merged;
        taken.push_back(std::move(sums));
      }
    }
    if (!taken.empty())
      finish(row, own, taken);
  }

  /// Replaces `taker` by a kernel that adds up columns as well, if that is not
  /// slower than both kernels. What finishes the sums is not counted: it is as
  /// much as before, or a small part of what is saved. Returns null if the
  /// kernels stay apart.
  FusedOp merge(FusedOp taker, FusedOp sums, int64_t parts) {
    FusedOp merged = KernelMerger(taker, sums, parts).build();
    std::string reason = reasonAgainst(merged, taker, sums);
    if (!reason.empty()) {
      remark::missed(taker.getLoc(), options())
          << llvm::formatv("the sums of '{0}' stay apart: {1}",
                           originOf(sums.getResult(0)), reason)
                 .str();
      merged.erase();
      return {};
    }
    remark::passed(taker.getLoc(), options())
        << llvm::formatv(
               "adds up the columns of '{0}'{1}", originOf(sums.getResult(0)),
               parts ? llvm::formatv(" in {0} parts", parts).str() : "")
               .str();
    taker.replaceAllUsesWith(
        merged.getResults().take_front(taker.getNumResults()));
    taker.erase();
    mergedCount += sums.getNumResults();
    return merged;
  }

  /// Returns why two kernels should not be `merged`; empty if they should.
  std::string reasonAgainst(FusedOp merged, FusedOp taker, FusedOp sums) {
    int64_t registers = kernelCostOf(merged, model).launch.registers;
    if (registers > kMostRegisters)
      return llvm::formatv("a thread would need {0} registers", registers);
    double together = timeInNanoseconds(merged, model),
           apart =
               timeInNanoseconds(taker, model) + timeInNanoseconds(sums, model);
    if (together > apart)
      return llvm::formatv("together they take {0:f1} us, and apart {1:f1} us",
                           together / 1e3, apart / 1e3);
    return "";
  }

  static remark::RemarkOpts options() {
    return remark::RemarkOpts::name("merge").category("sums");
  }

  /// Builds the kernel that adds up the parts of `row`, which are its results
  /// from `own` on, and erases those that made the sums before.
  static void finish(FusedOp row, unsigned own, ArrayRef<ColumnSums> taken) {
    OpBuilder builder(row->getContext());
    builder.setInsertionPointAfter(row);
    SmallVector<OpResult> whole;
    for (const ColumnSums &sums : taken)
      whole.append(sums.whole);
    auto last =
        FusedOp::create(builder, row.getLoc(),
                        ValueRange(llvm::to_vector_of<Value>(whole)).getTypes(),
                        "sum", row.getResults().drop_front(own));
    Block &body = last.getBody().emplaceBlock();
    SmallVector<Value> yielded;
    builder.setInsertionPointToEnd(&body);
    for (auto [part, sum] : llvm::zip(last.getInputs(), whole))
      yielded.push_back(
          ReduceOp::create(builder, sum.getLoc(), ReductionKind::Sum,
                           body.addArgument(part.getType(), sum.getLoc()),
                           ArrayRef<int64_t>(0)));
    YieldOp::create(builder, row.getLoc(), yielded);
    setOrigins(last, llvm::map_to_vector(whole, originAttrOf));
    for (auto [old, sum] : llvm::zip(whole, last.getResults()))
      old.replaceAllUsesWith(sum);
    for (const ColumnSums &sums : taken) {
      for (Operation *stage : sums.lastStages)
        stage->erase();
      FusedOp(sums.kernel).erase();
    }
  }

  DeviceModel model;
};

} // namespace
