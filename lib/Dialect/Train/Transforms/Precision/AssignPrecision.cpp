//===- AssignPrecision.cpp - Chooses what is in half precision ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Runs on formed kernels, right before the schedule: the costs that it compares
// are those of the bytes that the program will really move. The minimum cut is
// solved and checked. Under a budget it is solved again with the price of
// memory that the schedule found.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Precision/AssignPrecision.h"
#include "OptionRange.h"
#include "Precision/Precision.h"
#include "Schedule/ScheduleStep.h"
#include "gpuopt/Analysis/Memory/ArenaBudget.h"
#include "gpuopt/Analysis/Memory/StepMemory.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Analysis/Precision/PrecisionGraph.h"
#include "gpuopt/Dialect/Train/Transforms/Passes.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

namespace gpuopt::train {
#define GEN_PASS_DEF_ASSIGNPRECISION
#include "gpuopt/Dialect/Train/Transforms/Passes.h.inc"
} // namespace gpuopt::train

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

/// Returns what users call a step of a kind.
static StringRef wordsFor(StepKind kind) {
  switch (kind) {
  case StepKind::Micro:
    return "a step";
  case StepKind::Update:
    return "an update";
  case StepKind::Evaluate:
    return "an evaluation";
  case StepKind::Forward:
    return "a forward";
  case StepKind::Prepare:
    return "the preparation";
  case StepKind::PlaceInputs:
    return "the copying of inputs";
  }
  llvm_unreachable("all kinds are listed");
}

namespace {

/// The labels of a step, and what they are estimated to cost.
struct Labelling {
  PrecisionGraph graph;
  planning::PrecisionAssignment assignment;
  int64_t fullCost = 0,
          paintedCost = 0; ///< Picoseconds: all in f32, and by autocast.
  /// The time of the step's schedule within the budget; infinite without one.
  double scheduledNanoseconds = std::numeric_limits<double>::infinity();

  bool isHalf(Value tensor) const {
    auto found = graph.tensorOf.find(tensor);
    return found != graph.tensorOf.end() && assignment.isHalf[found->second];
  }
  bool isHalf(Operation *product) const {
    auto found = graph.productOf.find(product);
    return found != graph.productOf.end() && assignment.isHalf[found->second];
  }
};

class AssignPrecision
    : public gpuopt::train::impl::AssignPrecisionBase<AssignPrecision> {
public:
  using AssignPrecisionBase::AssignPrecisionBase;
  AssignPrecision(const AssignPrecisionOptions &options,
                  std::shared_ptr<planning::LadderStore> ladders)
      : AssignPrecisionBase(options), ladders(std::move(ladders)) {}

private:
  /// Fails if the casts of an earlier choice have been inserted, which nothing
  /// takes back.
  LogicalResult checkUncast(StepOp step) {
    if (getOperation()->hasAttr(kHalfTypeAttribute) ||
        !TrainDialect::PrecisionAttrHelper(&getContext()).isAttrPresent(step))
      return success();
    return step.emitOpError(
        "has its precisions already, for which train-insert-casts has run; run "
        "train-assign-precision once, before it");
  }

  void runOnOperation() override {
    FailureOr<DeviceModel> model = loadDeviceModel(getOperation(), device);
    if (failed(model))
      return signalPassFailure();
    if (failed(expectAtLeast(getOperation(), 0,
                             {{"memory-budget", memoryBudget},
                              {"activation-budget", activationBudget},
                              {"offload-bandwidth", offloadBandwidth}})) ||
        failed(expectAtLeast(
            getOperation(), 1,
            {{"effort", effort}, {"accumulation-steps", accumulationSteps}})))
      return signalPassFailure();
    if (halfType.empty())
      return;
    if (offloadBandwidth > 0)
      model->hostLinkBytesPerSecond = offloadBandwidth;
    if (halfType != "f16" && halfType != "bf16")
      return fail("expects a half-type of f16 or bf16, but got '" + halfType +
                  "'");
    half = halfType == "f16" ? FloatType(Float16Type::get(&getContext()))
                             : BFloat16Type::get(&getContext());
    if (llvm::Error error = readPolicy())
      return fail(llvm::toString(std::move(error)));
    kept = Kept();
    training.clear();
    for (StepOp step : inOrderOfChoice())
      if (failed(checkUncast(step)) || failed(assign(step, *model)))
        return signalPassFailure();
    if (SmallVector<StringRef> unmatched = policy.unmatched();
        !unmatched.empty())
      return fail(Twine(unmatched.size() == 1 ? "override '" : "overrides '") +
                  llvm::join(unmatched, "', '") +
                  (unmatched.size() == 1 ? "' matches" : "' match") +
                  " no ONNX node and no operator of the model; nothing is left "
                  "of nodes that were folded away");
    getOperation()->setAttr(kHalfTypeAttribute, TypeAttr::get(half));
  }

  void fail(const Twine &message) {
    getOperation().emitError(message);
    signalPassFailure();
  }

  llvm::Error readPolicy() {
    policy = PrecisionPolicy();
    if (!policyFile.empty())
      if (llvm::Error error = policy.read(policyFile))
        return error;
    for (const std::string &text : overrides)
      if (llvm::Error error =
              policy.addOverride(text, half.isF16() ? "fp16" : "bf16"))
        return error;
    return llvm::Error::success();
  }

  //===--------------------------------------------------------------------===//
  // One step
  //===--------------------------------------------------------------------===//

  static bool trains(StepOp step) {
    return step.getKind() == StepKind::Micro ||
           step.getKind() == StepKind::Update;
  }

  /// Returns the steps: first those that train, which decide on what there is
  /// room for.
  SmallVector<StepOp> inOrderOfChoice() {
    auto steps = llvm::to_vector(getOperation().getOps<StepOp>());
    llvm::stable_sort(
        steps, [](StepOp a, StepOp b) { return trains(a) && !trains(b); });
    return steps;
  }

  LogicalResult assign(StepOp step, const DeviceModel &model) {
    onlyKeptCopies = false;
    FailureOr<Labelling> labelling = choose(step, model);
    if (failed(labelling))
      return failure();
    if (!trains(step) && !leavesRoom(step, *labelling, model)) {
      onlyKeptCopies = true;
      remark::missed(step.getLoc(),
                     remark::RemarkOpts::name("copies").category("precision"))
          << "copies of weights for this step alone have no room beside the "
             "step that trains";
      labelling = choose(step, model);
      if (failed(labelling))
        return failure();
    }
    mark(step, *labelling);
    if (hasBudget())
      kept = keptWith(step);
    if (trains(step))
      training.push_back({step, labelling->scheduledNanoseconds});
    report(step, *labelling, model);
    return success();
  }

  FailureOr<Labelling> choose(StepOp step, const DeviceModel &model) {
    FailureOr<Labelling> labelling = solve(step, model, 0);
    if (failed(labelling) || !hasBudget())
      return labelling;
    const planning::PrecisionProblem unpriced = labelling->graph.problem;
    if (failed(raisePrice(step, model, *labelling)))
      return failure();
    // The times that are reported have no price of memory in them.
    takeTimes(unpriced, *labelling);
    return labelling;
  }

  /// What steps need for as long as the program runs.
  struct Kept {
    llvm::SetVector<StringAttr> copies; ///< In half precision.
    llvm::DenseSet<StringAttr> masters; ///< Variables that are read in f32.
  };

  /// Returns what is kept once the labels of a step are added.
  Kept keptWith(StepOp step) {
    Kept all = kept;
    OwningOpRef<StepOp> clone = cast<StepOp>(step->clone());
    insertCasts(*clone, half, all.copies);
    addMasters(*clone, all.masters);
    return all;
  }
  static void addMasters(StepOp step, llvm::DenseSet<StringAttr> &masters) {
    step.walk([&](ReadOp read) {
      if (!read.use_empty())
        masters.insert(read.getVariableAttr().getAttr());
    });
  }

  /// Returns whether the steps that train still fit beside what these labels
  /// keep, and are at most a thousandth slower.
  bool leavesRoom(StepOp step, const Labelling &labelling,
                  const DeviceModel &model) {
    constexpr double kSlack = 1.001;
    if (memoryBudget == 0)
      return true;
    mark(step, labelling);
    Kept all = keptWith(step);
    if (all.copies.size() == kept.copies.size() &&
        all.masters.size() == kept.masters.size())
      return true;
    std::swap(all, kept);
    bool leaves = llvm::all_of(training, [&](auto &each) {
      return std::isfinite(each.second) &&
             trySchedule(each.first, model).totalNanoseconds <=
                 kSlack * each.second;
    });
    std::swap(all, kept);
    return leaves;
  }

  bool hasBudget() const { return memoryBudget > 0 || activationBudget > 0; }

  FailureOr<Labelling> solve(StepOp step, const DeviceModel &model,
                             double picosecondsPerSavedByte) {
    llvm::Expected<PrecisionGraph> graph =
        buildPrecisionGraph(step, model, policy,
                            {half, picosecondsPerSavedByte, accumulationSteps,
                             onlyKeptCopies ? &kept.copies : nullptr});
    if (!graph)
      return step.emitError() << llvm::toString(graph.takeError());
    planning::Result<planning::PrecisionSolution> solution =
        planning::assignPrecision(graph->problem);
    if (!solution)
      return step.emitError() << "precisions contradict each other: "
                              << solution.error().message;
    if (planning::MaybeError error =
            planning::verifyOptimal(graph->problem, *solution))
      return step.emitError()
             << "the choice of precisions fails its check: " << error->message;
    Labelling labelling{std::move(*graph), std::move(solution->assignment)};
    takeTimes(labelling.graph.problem, labelling);
    return labelling;
  }

  /// Sets the times by the costs of `problem`, whose choices are the
  /// labelling's.
  void takeTimes(const planning::PrecisionProblem &problem,
                 Labelling &labelling) {
    labelling.assignment.cost =
        costOrNone(problem, labelling.assignment.isHalf);
    labelling.fullCost =
        costOrNone(problem, std::vector<char>(problem.choices.size(), false));
    labelling.paintedCost =
        costOrNone(problem, paintLikeAutocast(labelling.graph, policy));
  }

  /// Returns the cost, or -1 if overrides rule the labelling out.
  static int64_t costOrNone(const planning::PrecisionProblem &problem,
                            const std::vector<char> &isHalf) {
    planning::Result<int64_t> cost = planning::costOf(problem, isHalf);
    return cost ? *cost : -1;
  }

  //===--------------------------------------------------------------------===//
  // Under a budget
  //===--------------------------------------------------------------------===//

  struct Trial {
    double totalNanoseconds = std::numeric_limits<double>::infinity();
    double nanosecondsPerByte = 0; ///< What one more byte of budget saves.
  };

  /// Schedules the step with these labels.
  Trial tryLabels(StepOp step, const DeviceModel &model,
                  const Labelling &labelling, double picosecondsPerSavedByte) {
    mark(step, labelling);
    Trial trial = trySchedule(step, model);
    remark::analysis(step.getLoc(),
                     remark::RemarkOpts::name("price").category("precision"))
        << remark::metric("picosecondsPerSavedByte", picosecondsPerSavedByte)
        << remark::metric("totalNanoseconds", trial.totalNanoseconds);
    return trial;
  }

  /// Schedules the step with the labels that it has.
  Trial trySchedule(StepOp step, const DeviceModel &model) {
    OwningOpRef<StepOp> clone = cast<StepOp>(step->clone());
    llvm::SetVector<StringAttr> copied = kept.copies;
    insertCasts(*clone, half, copied);
    kernels::markFastMath(clone->getBody().front());
    kernels::padRows(clone->getBody().front(), model);
    kernels::markInPlace(clone->getBody().front());
    StepScheduleOptions options;
    options.budgetInBytes = arenaBudget(*clone, copied.getArrayRef());
    options.effort = effort;
    options.searchSmallest = false;
    options.allowsOffload = allowOffload;
    options.takesAny = takesAny;
    auto result = scheduleStep(*clone, model, options, *ladders);
    auto *scheduled = std::get_if<ScheduledStep>(&result);
    if (!scheduled)
      return {};
    return {scheduled->plainTimeInNanoseconds +
                scheduled->addedTimeInNanoseconds,
            scheduled->nanosecondsPerByte};
  }

  /// Returns the budget of the arena, beside the persistent memory and the
  /// copies in half precision that will be added to it, or that will take the
  /// place of what is in it.
  int64_t arenaBudget(StepOp step, ArrayRef<StringAttr> copied) {
    int64_t persistentBytes = persistentBytesOf(getOperation());
    llvm::DenseSet<StringAttr> masters = kept.masters;
    addMasters(step, masters);
    for (StringAttr parameter : copied) {
      auto variable = getOperation().lookupSymbol<VariableOp>(parameter);
      auto type = cast<RankedTensorType>(variable.getType());
      auto bytesOf = [](int64_t size) {
        return (int64_t)llvm::alignTo(size, kBufferAlignment);
      };
      persistentBytes += bytesOf(sizeInBytes(type) / 2);
      if (needsNoMaster(variable) && !masters.contains(parameter))
        persistentBytes -= bytesOf(sizeInBytes(type));
    }
    return arenaBudgetOf(memoryBudget, activationBudget, persistentBytes);
  }

  /// Solves the cut again with a higher price of memory, so that more of what
  /// is kept is in half precision.
  LogicalResult raisePrice(StepOp step, const DeviceModel &model,
                           Labelling &best) {
    constexpr int kMostPrices = 3;
    Trial bestTrial = tryLabels(step, model, best, 0);
    double price = bestTrial.nanosecondsPerByte;
    // If nothing fits, each byte has the largest price.
    if (std::isinf(bestTrial.totalNanoseconds))
      price = 1e9 / model.bytesPerSecond * 1000;
    for (int round = 1; round < kMostPrices && price > 0; ++round) {
      FailureOr<Labelling> other = solve(step, model, 1000 * price);
      if (failed(other))
        return failure();
      if (other->assignment.isHalf == best.assignment.isHalf)
        break;
      Trial trial = tryLabels(step, model, *other, 1000 * price);
      price = trial.nanosecondsPerByte;
      if (trial.totalNanoseconds < bestTrial.totalNanoseconds ||
          std::isinf(bestTrial.totalNanoseconds)) {
        best = std::move(*other);
        bestTrial = trial;
      }
    }
    best.scheduledNanoseconds = bestTrial.totalNanoseconds;
    return success();
  }

  //===--------------------------------------------------------------------===//
  // The choice
  //===--------------------------------------------------------------------===//

  void mark(StepOp step, const Labelling &labelling) {
    Builder b(&getContext());
    for (Operation &op : step.getBody().front()) {
      SmallVector<bool> results =
          llvm::map_to_vector(op.getResults(), [&](Value result) {
            return labelling.isHalf(bufferOf(result));
          });
      if (auto read = dyn_cast<ReadOp>(op))
        results.front() = givesHalfRows(read, labelling);
      bool isProduct = labelling.isHalf(&op),
           hasAny = llvm::is_contained(results, true);
      op.removeAttr(kHalfResultsAttribute);
      op.removeAttr(kHalfProductAttribute);
      if (hasAny && !isViewOp(&op))
        op.setAttr(kHalfResultsAttribute, b.getDenseBoolArrayAttr(results));
      if (isProduct)
        op.setAttr(kHalfProductAttribute, b.getUnitAttr());
    }
  }

  /// Whether kernels take rows of a frozen table in half precision, so that it
  /// needs no master: all else that reads it is a product in half precision,
  /// and half precision pays somewhere in the step.
  bool givesHalfRows(ReadOp read, const Labelling &labelling) {
    auto table = getOperation().lookupSymbol<VariableOp>(read.getVariable());
    if (!table || !needsNoMaster(table) ||
        !llvm::is_contained(labelling.assignment.isHalf, char(true)))
      return false;
    bool hasRows = false;
    for (OpOperand &use : read->getUses())
      if (auto kernel = dyn_cast<nn::FusedOp>(use.getOwner())) {
        if (!takesHalfRows(
                kernel.getBody().getArgument(use.getOperandNumber())))
          return false;
        hasRows = true;
      } else if (!isReadByHalfProducts(use, labelling)) {
        return false;
      }
    return hasRows;
  }

  /// Whether a kernel does nothing with a table but take rows that may be in
  /// half precision.
  bool takesHalfRows(Value table) {
    return llvm::all_of(table.getUsers(), [&](Operation *user) {
      auto take = dyn_cast<nn::TakeOp>(user);
      return take && take.getTable() == table && mayBeHalf(take.getLoc());
    });
  }

  /// Whether the reader of a table, or all of what a view of it is read by, are
  /// products in half precision.
  bool isReadByHalfProducts(OpOperand &use, const Labelling &labelling) {
    Operation *reader = use.getOwner();
    if (!isViewOp(reader))
      return labelling.isHalf(reader);
    return llvm::all_of(reader->getUses(), [&](OpOperand &of) {
      return isReadByHalfProducts(of, labelling);
    });
  }

  bool mayBeHalf(Location loc) {
    return policy.overrideOf(loc).value_or(policy.classOf(loc) !=
                                           PrecisionClass::Full);
  }

  void report(StepOp step, const Labelling &labelling,
              const DeviceModel &model) {
    if (labelling.graph.problem.choices.empty())
      return;
    int64_t products = 0, tensors = 0;
    for (auto &[op, choice] : labelling.graph.productOf)
      products += labelling.assignment.isHalf[choice];
    for (auto &[value, choice] : labelling.graph.tensorOf)
      tensors += labelling.assignment.isHalf[choice];
    halfProductCount += products;
    halfTensorCount += tensors;
    Builder b(&getContext());
    // Overrides may rule out either of the other two labellings, whose times
    // are then negative.
    auto time = [&](int64_t picoseconds) {
      return picoseconds >= 0 ? b.getF64FloatAttr(picoseconds / 1000.0)
                              : FloatAttr();
    };
    std::string text = llvm::formatv(
        "{0}: {1} of {2} products compute in {5} and {3} of {4} tensors are "
        "stored in it; the work that this changes takes an estimated {6:f3} "
        "ms",
        wordsFor(step.getKind()), products, labelling.graph.productOf.size(),
        tensors, labelling.graph.tensorOf.size(), halfType,
        labelling.assignment.cost / 1e9);
    if (labelling.fullCost >= 0)
      text +=
          llvm::formatv(" instead of {0:f3} in fp32", labelling.fullCost / 1e9);
    if (labelling.paintedCost >= 0)
      text += llvm::formatv("; PyTorch's autocast lists would give {0:f3}",
                            labelling.paintedCost / 1e9);
    if (products == 0 && tensors == 0)
      text = onlyKeptCopies
                 ? llvm::formatv("{0}: copies of weights in {1} have no room "
                                 "beside the step that trains; everything "
                                 "stays in fp32",
                                 wordsFor(step.getKind()), halfType)
                       .str()
                 : llvm::formatv(
                       "{0}: {1} does not pay on {2}; everything stays in fp32",
                       wordsFor(step.getKind()), halfType, model.name)
                       .str();
    TrainDialect::PrecisionAttrHelper(&getContext())
        .setAttr(step, PrecisionAttr::get(&getContext(), text,
                                          time(labelling.assignment.cost),
                                          time(labelling.fullCost),
                                          time(labelling.paintedCost)));
    remark::passed(step.getLoc(),
                   remark::RemarkOpts::name("precision").category("precision"))
        << text;
  }

  FloatType half;
  PrecisionPolicy policy;
  /// The steps that train whose precisions are chosen, with their times.
  SmallVector<std::pair<StepOp, double>> training;
  /// What the steps need whose precisions are chosen.
  Kept kept;
  /// Whether the present step may read only copies that earlier steps keep.
  bool onlyKeptCopies = false;
  std::shared_ptr<planning::LadderStore> ladders =
      std::make_shared<planning::LadderStore>();
};

} // namespace

std::unique_ptr<Pass>
train::createAssignPrecision(const AssignPrecisionOptions &options,
                             std::shared_ptr<planning::LadderStore> ladders) {
  return std::make_unique<AssignPrecision>(options, std::move(ladders));
}
