//===- Schedule.cpp - What runs again under a memory budget ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Runs when all kernels and copies are formed, so that the program allocates
// exactly what this pass promises. Later passes must not merge, move or add
// work.
//
//===----------------------------------------------------------------------===//

#include "OptionRange.h"
#include "Schedule/ScheduleStep.h"
#include "Schedule/UnmetBudget.h"
#include "gpuopt/Analysis/Memory/ArenaBudget.h"
#include "gpuopt/Analysis/Memory/StepMemory.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/Transforms/Passes.h"
#include "gpuopt/Planning/Bytes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"

namespace gpuopt::train {
#define GEN_PASS_DEF_SCHEDULE
#include "gpuopt/Dialect/Train/Transforms/Passes.h.inc"
} // namespace gpuopt::train

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

/// Two budgets of this share of what a program keeps apart read alike.
static constexpr int64_t kShareOfSlack = 512;

namespace {

class Schedule : public train::impl::ScheduleBase<Schedule> {
public:
  using ScheduleBase::ScheduleBase;
  Schedule(const ScheduleOptions &options,
           std::shared_ptr<planning::LadderStore> ladders)
      : ScheduleBase(options), ladders(std::move(ladders)) {}

private:
  void runOnOperation() override {
    // Errors in options are reported without a budget, too.
    FailureOr<DeviceModel> model =
        loadDeviceModel(getOperation(), device, profileCosts, allowsTf32);
    if (failed(model))
      return signalPassFailure();
    if (failed(expectAtLeast(getOperation(), 0,
                             {{"memory-budget", memoryBudget},
                              {"activation-budget", activationBudget},
                              {"offload-bandwidth", offloadBandwidth}})) ||
        failed(expectAtLeast(getOperation(), 1, {{"effort", effort}})))
      return signalPassFailure();
    if (memoryBudget == 0 && activationBudget == 0)
      return;
    if (offloadBandwidth > 0)
      model->hostLinkBytesPerSecond = offloadBandwidth;
    persistentBytes = persistentBytesOf(getOperation());
    SmallVector<StepOp> steps(getOperation().getOps<StepOp>());
    std::optional<UnmetBudget> unmet;
    if (memoryBudget > 0 && persistentBytes > memoryBudget)
      unmet.emplace().isSmallest = true; // however little the steps need
    for (StepOp step : steps)
      if (failed(scheduleOne(step, *model, unmet)))
        return signalPassFailure();
    if (unmet) {
      reportUnmet(*unmet);
      signalPassFailure();
    }
  }

  /// Schedules a step. If it does not fit, `unmet` becomes what all steps need
  /// up to this one.
  LogicalResult scheduleOne(StepOp step, const DeviceModel &model,
                            std::optional<UnmetBudget> &unmet) {
    for (Operation &op : step.getBody().front())
      if (isa<RecomputeOp, OffloadOp>(op) || op.hasAttr(kRecomputedAttribute))
        return step.emitOpError("has a schedule already, which has put '")
               << (isa<OffloadOp>(op) ? OffloadOp::getOperationName()
                                      : RecomputeOp::getOperationName())
               << "' into it; run train-schedule once, with the budget that "
                  "holds";
    auto result = scheduleStep(
        step, model,
        {arenaBudgetOf(memoryBudget, activationBudget, persistentBytes), effort,
         searchSmallest, memoryBudget > 0 ? persistentBytes / kShareOfSlack : 0,
         allowOffload, takesAny},
        *ladders);
    if (auto *error = std::get_if<planning::Error>(&result))
      return step.emitOpError("cannot be scheduled: ") << error->message;
    if (auto *needed = std::get_if<UnmetBudget>(&result)) {
      if (unmet)
        unmet->mergeWith(std::move(*needed));
      else
        unmet = std::move(*needed);
      return success();
    }
    auto &scheduled = std::get<ScheduledStep>(result);
    if (scheduled.step)
      replace(step, scheduled);
    return success();
  }

  /// Returns a budget that is too small as text: in bytes where that would be
  /// the text of the one that is large enough.
  static std::string textOfUnmet(int64_t budget, int64_t smallest) {
    std::string text = planning::formatBytes(budget);
    return text == planning::formatBytes(smallest)
               ? std::to_string(budget) + " B"
               : text;
  }

  /// Whether a step computes in half precision, which a budget has a say in.
  bool hasHalfPrecision() {
    auto isHalf = [](Type type) {
      return isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(type));
    };
    for (StepOp step : getOperation().getOps<StepOp>())
      for (Operation &op : step.getBody().front())
        if (llvm::any_of(op.getResultTypes(), isHalf))
          return true;
    return false;
  }

  void reportUnmet(const UnmetBudget &unmet) {
    // The memory budget limits the arena, unless the activation budget is
    // smaller.
    bool isWhole = memoryBudget > 0 &&
                   (activationBudget <= 0 ||
                    memoryBudget - persistentBytes <= activationBudget);
    int64_t rest = isWhole ? persistentBytes : 0;
    // Arenas are whole multiples of the alignment.
    int64_t smallest =
        rest + llvm::alignTo(unmet.smallestArenaInBytes, kBufferAlignment);
    int64_t limit = rest + unmet.lowerLimitInBytes;
    PersistentParts parts = persistentPartsOf(getOperation());
    TrainDialect::UnmetBudgetAttrHelper(&getContext())
        .setAttr(getOperation(),
                 describeUnmet(&getContext(), smallest, limit, parts, unmet));
    InFlightDiagnostic error =
        getOperation().emitError(isWhole ? "memory" : "activation");
    error << " budget "
          << textOfUnmet(isWhole ? memoryBudget : activationBudget, smallest);
    if (searchSmallest && unmet.isSmallest)
      error << " cannot be met: the smallest budget that can be met is "
            << planning::formatBytes(smallest)
            << ", and the proven lower limit is ";
    else if (searchSmallest)
      error << " cannot be met: a budget of " << planning::formatBytes(smallest)
            << " can be met, and the proven lower limit is ";
    else
      error << " cannot be met: the proven lower limit is ";
    error << planning::formatBytes(limit);
    if (hasHalfPrecision())
      error << (searchSmallest ? ", both with" : ", with")
            << " what this budget puts into half precision";
    if (isWhole)
      error << textOf(parts);
    error << textOfPeak(unmet);
  }

  /// Returns an attribute for a long text. It is printed at the end of a file,
  /// where it is easy to skip.
  DenseResourceElementsAttr textAttribute(StringRef name, StringRef text) {
    auto type = RankedTensorType::get({(int64_t)text.size()},
                                      IntegerType::get(&getContext(), 8));
    ArrayRef<int8_t> bytes(reinterpret_cast<const int8_t *>(text.data()),
                           text.size());
    return DenseI8ResourceElementsAttr::get(
        type, name, HeapAsmResourceBlob::allocateAndCopyInferAlign(bytes));
  }

  /// Says why an op is repeated, on the op and in a remark.
  void explain(const Repeat &repeat) {
    auto reload = dyn_cast<ReloadOp>(repeat.op);
    auto type = cast<RankedTensorType>(repeat.original.getType());
    std::string reason = llvm::formatv("frees {0} for {1:f2} us",
                                       planning::formatBytes(sizeInBytes(type)),
                                       repeat.costInNanoseconds / 1000);
    if (reload)
      reason += llvm::formatv(" of transfers, its work takes {0:f2} us",
                              repeat.recomputeInNanoseconds / 1000);
    remark::passed(repeat.op->getLoc(),
                   remark::RemarkOpts::name(reload ? "offloaded" : "recomputed")
                       .category("schedule"))
        << (originOf(repeat.original) + (reload ? " reloaded: " : " again: ") +
            reason);
    if (reload)
      reload.setReason(reason);
    else
      wrapRepeat(repeat.op, reason);
    ++(reload ? reloadCount : repeatCount);
  }

  PlanAttr planOf(const ScheduledStep &scheduled) {
    MLIRContext *context = &getContext();
    Builder b(context);
    TransfersAttr transfers;
    if (scheduled.transfers.sizeInBytes > 0)
      transfers = TransfersAttr::get(
          context, scheduled.transfers.sizeInBytes,
          b.getF64FloatAttr(scheduled.transfers.busyInNanoseconds),
          b.getF64FloatAttr(scheduled.transfers.waitedInNanoseconds));
    return PlanAttr::get(context, scheduled.arenaInBytes,
                         scheduled.plainArenaInBytes, scheduled.repeats.size(),
                         b.getF64FloatAttr(scheduled.plainTimeInNanoseconds),
                         b.getF64FloatAttr(scheduled.addedTimeInNanoseconds),
                         b.getF64FloatAttr(scheduled.lowerBoundInNanoseconds),
                         transfers);
  }

  void replace(StepOp step, ScheduledStep &scheduled) {
    for (const Repeat &repeat : scheduled.repeats)
      explain(repeat);
    Operation *op = scheduled.step->getOperation();
    TrainDialect::PlanAttrHelper(&getContext()).setAttr(op, planOf(scheduled));
    std::string name = step.getSymName().str();
    TrainDialect::ProofAttrHelper(&getContext())
        .setAttr(op,
                 ProofAttr::get(
                     &getContext(),
                     textAttribute(name + "_problem", scheduled.problemText),
                     textAttribute(name + "_plan", scheduled.planText)));
    step->getBlock()->getOperations().insert(step->getIterator(),
                                             scheduled.step.release());
    step.erase();
  }

  int64_t persistentBytes = 0;
  std::shared_ptr<planning::LadderStore> ladders =
      std::make_shared<planning::LadderStore>();
};

} // namespace

std::unique_ptr<Pass>
train::createSchedule(const ScheduleOptions &options,
                      std::shared_ptr<planning::LadderStore> ladders) {
  return std::make_unique<Schedule>(options, std::move(ladders));
}
