//===- PrecisionGraph.cpp - A step's precisions as a problem --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Precision/PrecisionGraph.h"

#include "Precision/PrecisionRules.h"
#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Support/TensorSize.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace gpuopt;
using planning::kForbidden;
using Rule = planning::PrecisionChoice::Rule;

static constexpr double kPicosecondsPerNanosecond = 1000;

CopyKeeper gpuopt::copyKeeperOf(train::ReadOp read) {
  auto module = read->getParentOfType<ModuleOp>();
  auto variable =
      module ? module.lookupSymbol<train::VariableOp>(read.getVariableAttr())
             : nullptr;
  if (!variable) // of a step by itself: it is measured, not kept
    return CopyKeeper::Optimizer;
  switch (variable.getKind()) {
  case train::VariableKind::Parameter:
    return CopyKeeper::Optimizer;
  case train::VariableKind::Frozen:
    return CopyKeeper::Preparation;
  default:
    return CopyKeeper::Step;
  }
}

static bool isF32(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

static double bytesOf(Value value) { return double(sizeInBytes(value)); }

/// Returns the name of a choice. An input of the step has a name, but no
/// origin.
static std::string nameOf(Value value) {
  std::string origin = originOf(value);
  auto argument = dyn_cast<BlockArgument>(value);
  auto step = argument
                  ? dyn_cast<train::StepOp>(argument.getOwner()->getParentOp())
                  : train::StepOp();
  if (!origin.empty() || !step)
    return origin;
  Attribute name = step.getInputNames()[argument.getArgNumber()];
  return "input " + cast<StringAttr>(name).str();
}

static bool hasRole(Operation *op, PrecisionRole role) {
  auto call = dyn_cast<RuntimeCallOpInterface>(op);
  return call && call.getPrecisionRole() == role;
}

/// Whether all floating-point tensors of `op` have one type.
static bool hasOneType(Operation *op) {
  return isa<nn::ConcatOp>(op) || hasRole(op, PrecisionRole::Uniform);
}

static SmallVector<Value> factorsOf(Operation *product) {
  return llvm::map_to_vector(
      cast<RuntimeCallOpInterface>(product).getFactors(),
      [](OpOperand *factor) -> Value { return factor->get(); });
}

namespace {

class GraphBuilder {
public:
  GraphBuilder(train::StepOp step, const DeviceModel &device,
               PrecisionPolicy &policy, const PrecisionOptions &options)
      : block(step.getBody().front()), device(device), policy(policy),
        options(options) {}

  llvm::Expected<PrecisionGraph> build() {
    // Visits the ops that an override names, so that it counts as used even if
    // there is nothing to choose.
    block.walk([&](Operation *op) { policy.overrideOf(op->getLoc()); });
    for (Operation &op : block) {
      if (isa<train::ReportLossOp>(op) && !boundary)
        boundary = &op;
      addChoices(&op);
    }
    // If a node has several results, those that can be are in half precision,
    // and no error is reported.
    for (auto &[node, reason] : refused)
      if (!granted.contains(node.getValue()))
        return llvm::createStringError("'" + node.getValue() +
                                       "' must stay in fp32: " + reason);
    for (Operation &op : block) {
      if (isProduct(&op))
        addProductCosts(&op);
      else if (!isViewOp(&op) && !isa<nn::ConcatOp>(op))
        addMemoryCosts(&op);
      if (hasOneType(&op))
        joinTensors(&op);
      if (isa<nn::FusedOp>(op))
        joinEqualResults(&op);
    }
    if (!conflict.empty())
      return llvm::createStringError(conflict);
    addSavedBytes();
    return std::move(graph);
  }

private:
  //===--------------------------------------------------------------------===//
  // Choices
  //===--------------------------------------------------------------------===//

  int addChoice(std::string name, Rule rule = Rule::Free) {
    graph.problem.choices.push_back({std::move(name), 0, 0, rule});
    return graph.problem.choices.size() - 1;
  }

  void addChoices(Operation *op) {
    // A direction stays in f32: it has no loss scale, so small values would be
    // lost in half precision.
    if (namesMemory(op) || isa<train::DirectionOp>(op))
      return;
    for (OpResult result : op->getResults())
      if (isF32(result) && bufferOf(result) == result)
        graph.tensorOf[result] = addChoice(originOf(result), ruleOf(result));
    if (isProduct(op) && isF32(factorsOf(op).front()))
      graph.productOf[op] = addChoice(originOf(op->getResult(0)), ruleOf(op));
  }

  /// Whether a product must not read half precision.
  static bool keepsFactors(Operation *product) {
    auto call = cast<RuntimeCallOpInterface>(product);
    return llvm::all_of(factorsOf(product),
                        [&](Value factor) { return call.keepsType(factor); });
  }

  Rule ruleOf(Operation *product) {
    if (keepsFactors(product))
      return Rule::Full;
    std::optional<bool> wanted = policy.overrideOf(product->getLoc());
    if (wanted && *wanted)
      granted.insert(nameOf(product->getLoc()));
    if (wanted)
      return *wanted ? Rule::Half : Rule::Full;
    return policy.classOf(product->getLoc()) == PrecisionClass::Full
               ? Rule::Full
               : Rule::Free;
  }

  /// Whether an override that matches an op means it. What comes from no ONNX
  /// node, as the loss does, is met by chance where its name is not spelled
  /// out.
  bool isMeant(Location loc) {
    if (auto fused = dyn_cast<FusedLoc>(loc))
      loc = fused.getLocations().front(); // which decides
    return onnxOpOf(loc) || policy.isNamedByOverride(originIn(loc).name);
  }

  Rule ruleOf(OpResult result) {
    Operation *writer = writtenValue(result).getDefiningOp();
    Location loc = writer ? writer->getLoc() : result.getOwner()->getLoc();
    std::optional<bool> wanted = policy.overrideOf(loc);
    if (StringRef reason = reasonForFull(result, options.halfType);
        !reason.empty()) {
      if (wanted && *wanted && isMeant(loc))
        refused.insert(
            {StringAttr::get(loc.getContext(), nameOf(loc)), reason});
      return Rule::Full;
    }
    if (wanted && *wanted)
      granted.insert(nameOf(loc));
    if (wanted)
      return *wanted ? Rule::Half : Rule::Full;
    return policy.classOf(loc) == PrecisionClass::Full ? Rule::Full
                                                       : Rule::Free;
  }

  int choiceOf(Value value) const {
    auto found = graph.tensorOf.find(bufferOf(value));
    return found == graph.tensorOf.end() ? -1 : found->second;
  }

  void penalise(int half, int full, double picoseconds) {
    graph.problem.penalties.push_back(
        {half, full, std::max<int64_t>(0, std::llround(picoseconds))});
  }
  void forbid(int half, int full) {
    graph.problem.penalties.push_back({half, full, kForbidden});
  }
  void join(int one, int other) {
    forbid(one, other);
    forbid(other, one);
  }
  void addFullCost(int choice, double picoseconds) {
    graph.problem.choices[choice].fullCost +=
        std::max<int64_t>(0, std::llround(picoseconds));
  }

  //===--------------------------------------------------------------------===//
  // Times, in picoseconds
  //===--------------------------------------------------------------------===//

  double timeOf(const OpWork &work) const {
    return kPicosecondsPerNanosecond * timeInNanoseconds(work, device);
  }
  double transferTime(double bytes) const {
    return 1e12 * bytes / device.bytesPerSecond;
  }
  double savedPrice(double bytes) const {
    return options.picosecondsPerSavedByte * bytes;
  }

  /// Returns the time of a kernel that only reads and writes so many bytes.
  double copyTime(double bytes) const {
    return transferTime(bytes) + 1e12 * device.secondsPerLaunch;
  }

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  double productTime(Operation *op, bool halfOperands, bool halfResult) const {
    OpWork work = workOf(op, device);
    double factors = 0;
    for (Value factor : factorsOf(op))
      factors += bytesTouched(factor);
    double others = work.bytesRead - factors;
    work.bytesRead =
        factors / (halfOperands ? 2 : 1) + others / (halfResult ? 2 : 1);
    work.bytesWritten /= halfResult ? 2 : 1;
    if (halfOperands)
      work.elementType = options.halfType;
    return timeOf(work);
  }

  void addProductCosts(Operation *op) {
    auto found = graph.productOf.find(op);
    if (found == graph.productOf.end())
      return;
    int product = found->second, result = choiceOf(op->getResult(0));
    graph.problem.choices[product].halfCost =
        std::llround(productTime(op, true, true));
    graph.problem.choices[product].fullCost =
        std::llround(productTime(op, false, false));
    forbid(result, product);
    if (hasRole(op, PrecisionRole::WideningProduct))
      penalise(product, result,
               productTime(op, true, false) - productTime(op, true, true));
    else
      forbid(product, result);
    for (Value factor : factorsOf(op))
      addOperand(op, product, factor);
    addOtherTensors(op, result);
  }

  /// Further results have the type of the first one, and so have operands that
  /// are no factors: they are cast where they are made in the other precision.
  /// Operands that keep their type are f32.
  void addOtherTensors(Operation *op, int first) {
    auto call = cast<RuntimeCallOpInterface>(op);
    SmallVector<OpOperand *> factors = call.getFactors();
    for (OpResult result : llvm::drop_begin(op->getResults()))
      if (int choice = isF32(result) ? choiceOf(result) : -1;
          choice >= 0 && !call.keepsType(result))
        join(first, choice);
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      int choice = isF32(value) ? choiceOf(value) : -1;
      if (choice < 0)
        continue;
      if (call.keepsType(value))
        graph.problem.choices[choice].rule = Rule::Full;
      else if (choice != first && !llvm::is_contained(factors, &operand))
        addOperand(op, first, value);
    }
  }

  /// Adds what it costs to read an operand in the precision of `product`: of
  /// the product, or of its result where the operand has the result's type.
  void addOperand(Operation *op, int product, Value operand) {
    Value owner = bufferOf(operand);
    bool isLate = boundary && boundary->isBeforeInBlock(op);
    int tensor = choiceOf(operand);
    PrecisionGraph::Copies &copies = graph.copiesOf[owner];
    if (copies.down < 0)
      copies = addCopies(owner, tensor);
    forbid(product, copies.down);
    // A product that an override puts into half precision keeps its copy.
    Rule &rule = graph.problem.choices[product].rule;
    int result = choiceOf(op->getResult(0));
    bool isForced =
        rule == Rule::Half ||
        (result >= 0 && graph.problem.choices[result].rule == Rule::Half);
    if (isBarred(owner) && !isForced)
      rule = Rule::Full;
    if (tensor < 0)
      return;
    forbid(copies.up, product);
    // The copy is kept for the backward in place of the tensor.
    if (isLate && isEarly(owner) && savedCopies.insert(owner).second) {
      double elements = bytesOf(owner) / 4;
      penalise(copies.down, tensor, savedPrice(2 * elements));
      penalise(tensor, copies.up, savedPrice(4 * elements));
    }
  }

  PrecisionGraph::Copies addCopies(Value owner, int tensor) {
    PrecisionGraph::Copies copies;
    copies.down = addChoice("copy of " + nameOf(owner));
    if (tensor < 0) {
      graph.problem.choices[copies.down].halfCost =
          std::llround(copyCostOfSource(owner));
      return copies;
    }
    copies.up = addChoice("copy of " + nameOf(owner));
    penalise(copies.down, tensor, copyCost(owner, 2, 4));
    penalise(tensor, copies.up, copyCost(owner, 4, 2));
    return copies;
  }

  /// Returns the cost of a copy: of one more result of the kernel that makes
  /// the tensor, or of a kernel of its own.
  double copyCost(Value owner, int writtenBytes, int readBytes) const {
    double elements = bytesOf(owner) / 4;
    if (owner.getDefiningOp<nn::FusedOp>())
      return transferTime(writtenBytes * elements);
    return copyTime((writtenBytes + readBytes) * elements);
  }

  double copyCostOfSource(Value owner) const {
    double elements = bytesOf(owner) / 4;
    if (auto read = owner.getDefiningOp<train::ReadOp>())
      if (CopyKeeper keeper = copyKeeperOf(read); keeper != CopyKeeper::Step)
        return savedPrice(2 * elements) +
               (keeper == CopyKeeper::Optimizer
                    ? transferTime(2 * elements) / options.accumulationSteps
                    : 0);
    Operation *op = owner.getDefiningOp();
    if (op && op->hasTrait<OpTrait::ConstantLike>())
      return 0;
    return copyTime(6 * elements);
  }

  /// Whether a copy of a variable may not be kept for this step.
  bool isBarred(Value owner) const {
    auto read = owner.getDefiningOp<train::ReadOp>();
    return options.onlyKeptCopies && read &&
           copyKeeperOf(read) != CopyKeeper::Step &&
           !options.onlyKeptCopies->contains(read.getVariableAttr().getAttr());
  }

  bool isEarly(Value owner) const {
    Operation *op = owner.getDefiningOp();
    return boundary && op && op->isBeforeInBlock(boundary);
  }

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  /// Bytes that a kernel of a GPU does not wait for, since its instructions
  /// take longer, are still bytes of memory: a hundredth of their transfer
  /// decides where nothing else does.
  double leastPerByte() const {
    return device.hasWarps() ? transferTime(0.01) : 0;
  }

  /// Gives each tensor its share of what the kernel saves if all of its tensors
  /// are in half precision.
  void addMemoryCosts(Operation *op) {
    OpWork full = workOf(op, device);
    double read = full.bytesRead, written = full.bytesWritten;
    SmallVector<std::pair<int, double>> tensors;
    for (OpOperand &operand : op->getOpOperands())
      if (int choice = isF32(operand.get()) ? choiceOf(operand.get()) : -1;
          choice >= 0) {
        double bytes = bytesReadBy(operand) / 2;
        tensors.push_back({choice, bytes});
        read -= bytes;
      }
    for (OpResult result : op->getResults())
      if (int choice = isF32(result) ? choiceOf(result) : -1; choice >= 0) {
        tensors.push_back({choice, bytesOf(result) / 2});
        written -= bytesOf(result) / 2;
      }
    double saved = full.bytesRead + full.bytesWritten - read - written;
    if (saved <= 0)
      return;
    double perByte = std::max(
        (timeOf(full) - timeOf(withBytes(full, read, written))) / saved,
        leastPerByte());
    for (auto [choice, bytes] : tensors)
      addFullCost(choice, perByte * bytes);
  }

  /// Gives results that are the same value the same choice, so that it is the
  /// same number in both places.
  void joinEqualResults(Operation *kernel) {
    llvm::SmallDenseMap<Value, int> choices;
    for (OpResult result : kernel->getResults())
      if (int choice = isF32(result) ? choiceOf(result) : -1; choice >= 0)
        if (auto [known, isNew] =
                choices.try_emplace(writtenValue(result), choice);
            !isNew)
          join(known->second, choice);
  }

  /// Gives tensors that must have the same type the same choice.
  void joinTensors(Operation *op) {
    int first = -1;
    bool readsSource = false; // state, inputs and constants are f32
    auto visit = [&](Value value) {
      int choice = isF32(value) ? choiceOf(value) : -1;
      if (first >= 0 && choice >= 0)
        join(first, choice);
      if (choice >= 0)
        first = choice;
      else if (isF32(value))
        readsSource = true;
    };
    for (Value operand : op->getOperands())
      visit(operand);
    for (Value result : op->getResults())
      visit(result);
    if (!readsSource || first < 0)
      return;
    planning::PrecisionChoice &choice = graph.problem.choices[first];
    if (choice.rule == Rule::Half)
      conflict = "'" + choice.name +
                 "' must stay in fp32: it has the type of an input, parameter "
                 "or constant";
    choice.rule = Rule::Full;
  }

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  bool isReadLate(Value value) const {
    return llvm::any_of(readersOf(value), [&](Operation *reader) {
      return isa<nn::ConcatOp>(reader) ? isReadLate(reader->getResult(0))
                                       : boundary->isBeforeInBlock(reader);
    });
  }

  void addSavedBytes() {
    if (!boundary || options.picosecondsPerSavedByte == 0)
      return;
    for (auto &[value, choice] : graph.tensorOf)
      if (isEarly(value) && isReadLate(value))
        addFullCost(choice, savedPrice(bytesOf(value) / 2));
  }

  Block &block;
  const DeviceModel &device;
  PrecisionPolicy &policy;
  const PrecisionOptions &options;
  PrecisionGraph graph;
  Operation *boundary = nullptr; ///< Between forward and backward.
  llvm::DenseSet<Value> savedCopies;
  /// Nodes that an override wants in half precision and that can be, and the
  /// reasons why others cannot.
  llvm::StringSet<> granted;
  llvm::MapVector<StringAttr, StringRef> refused;
  std::string conflict;
};

} // namespace

llvm::Expected<PrecisionGraph>
gpuopt::buildPrecisionGraph(train::StepOp step, const DeviceModel &device,
                            PrecisionPolicy &policy,
                            const PrecisionOptions &options) {
  return GraphBuilder(step, device, policy, options).build();
}
