//===- BuildStep.cpp - Builds the training step around the forward --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The forward function is cloned once for each step that needs it. The pass
// decides which parameters get a gradient (those that the loss depends on and
// that are not frozen), and which ops each step has. Afterwards the function is
// gone, and so is everything that no step needs.
//
//===----------------------------------------------------------------------===//

#include "Backward/Differentiate.h"
#include "Backward/EvaluationOutputs.h"
#include "Backward/Orthogonalize.h"
#include "Backward/OutputLosses.h"
#include "Backward/StoppedGradient.h"
#include "OptionRange.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Dialect/NN/IR/ElementwiseVjp.h"
#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "gpuopt/Dialect/Train/Transforms/Passes.h"
#include "gpuopt/Support/NameExpression.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace gpuopt::train {
#define GEN_PASS_DEF_BUILDSTEP
#include "gpuopt/Dialect/Train/Transforms/Passes.h.inc"
} // namespace gpuopt::train

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;
using nn::TensorBuilder;

namespace {

constexpr StringLiteral kNameAttribute =
    nn::NNDialect::NameAttrHelper::getNameStr();

class BuildStep : public gpuopt::train::impl::BuildStepBase<BuildStep> {
public:
  using BuildStepBase::BuildStepBase;

private:
  void runOnOperation() override {
    if (failed(prepare()))
      return signalPassFailure();
    symbols.emplace(getOperation());
    markTables();
    if (inference) {
      buildForward();
    } else if (failed(buildMicroStep())) {
      return signalPassFailure();
    } else {
      buildEvaluation();
    }
    symbols->erase(forward);
    eraseUnused();
    // What stopped gradients folds from here on.
    getOperation().walk(
        [](nn::ConcatOp op) { op->removeDiscardableAttr(nn::kStopsGradient); });
  }

  //===--------------------------------------------------------------------===//
  // What is asked for
  //===--------------------------------------------------------------------===//

  LogicalResult prepare() {
    forward = getOperation().lookupSymbol<func::FuncOp>("forward");
    if (!forward)
      return getOperation().emitError("expects a function named 'forward'");
    if (!forward.getBody().hasOneBlock())
      return forward.emitOpError("expects a body of one block, but got ")
             << forward.getBody().getBlocks().size() << " blocks";
    for (Type type : forward.getArgumentTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type);
          !tensor || !tensor.hasStaticShape())
        return forward.emitOpError("expects ranked tensors of static shape as "
                                   "arguments, but got ")
               << type;
    if (failed(readLoss()) || failed(checkOptimizer()))
      return failure();
    if (!noDecay.empty() &&
        failed(checkExpression("--no-decay", noDecay, /*needsTrained=*/false)))
      return failure();
    for (const std::string &group : paramGroups)
      if (failed(
              checkExpression("--param-group", group, /*needsTrained=*/true)))
        return failure();
    if (failed(expectAtLeast(getOperation(), 1,
                             {{"accumulation-steps", accumulationSteps},
                              {"loss-chunk-bytes", lossChunkBytes}})) ||
        failed(expectAtLeast(getOperation(), 0,
                             {{"loss-chunks", lossChunkCount}})))
      return failure();
    if (failed(checkBatchNorms()))
      return failure();
    return outputLosses.find(forward, lossOptions, *losses, logits, inference);
  }

  /// Refuses to train with the statistics of a single value, as PyTorch does:
  /// the result is the bias, whatever the value is.
  LogicalResult checkBatchNorms() {
    for (auto norm : forward.getOps<nn::BatchNormOp>()) {
      RankedTensorType type = TensorBuilder::type(norm.getInput());
      if (!inference && !norm.getFrozen() &&
          type.getNumElements() == type.getShape().back())
        return norm.emitError("expects more than one value per channel for "
                              "batch normalisation in training, but the "
                              "operand is ")
               << type
               << ", channels last: give a larger --batch-size, or "
                  "--batch-norm=frozen";
    }
    return success();
  }

  /// Checks a regular expression of the names of parameters, which a flag of
  /// the driver has given. Some flags say nothing of what is frozen.
  LogicalResult checkExpression(StringRef flag, StringRef expression,
                                bool needsTrained) {
    std::string error;
    if (!NameExpression(expression).isValid(error))
      return getOperation().emitError("expects a regular expression for ")
             << flag << ", but got '" << expression << "': " << error;
    auto variables = getOperation().getOps<VariableOp>();
    auto matches = [&](VariableOp variable) {
      return variable.isNamed(expression);
    };
    if (inference)
      return success();
    if (llvm::none_of(variables, matches))
      return getOperation().emitError("expects ")
             << flag << " to match the name of a parameter, but '" << expression
             << "' matches none";
    if (needsTrained &&
        llvm::none_of(llvm::make_filter_range(variables, matches),
                      [](VariableOp variable) { return variable.isTrained(); }))
      return getOperation().emitError("expects ")
             << flag << " to match the name of a parameter that is trained, "
             << "but '" << expression
             << "' matches only frozen parameters and buffers";
    return success();
  }

  LogicalResult readLoss() {
    std::optional<LossKind> kind = parseLossKind(loss);
    if (!kind)
      return getOperation().emitError("expects a loss of ")
             << lossNames() << ", but got '" << loss << "'";
    lossOptions.kind = *kind;
    lossOptions.ignoreIndex = ignoreIndex;
    lossOptions.classWeights = *classWeights;
    lossOptions.labelSmoothing = labelSmoothing;
    lossOptions.huberDelta = huberDelta;
    lossOptions.smoothL1Beta = smoothL1Beta;
    lossOptions.focalAlpha = focalAlpha;
    lossOptions.focalGamma = focalGamma;
    lossOptions.diceSmooth = diceSmooth;
    if (std::string error =
            findEvaluationOutputs(*evalMetrics, *kind, measured);
        !error.empty())
      return getOperation().emitError(error);
    auto expect = [&](bool holds, StringRef what,
                      double value) -> LogicalResult {
      if (holds)
        return success();
      return getOperation().emitError("expects ")
             << what << ", but got " << value;
    };
    return success(
        succeeded(expect(labelSmoothing >= 0 && labelSmoothing < 1,
                         "label-smoothing in [0, 1)", labelSmoothing)) &&
        succeeded(expect(huberDelta > 0, "huber-delta above 0", huberDelta)) &&
        succeeded(expect(smoothL1Beta >= 0, "smooth-l1-beta of at least 0",
                         smoothL1Beta)) &&
        succeeded(
            expect(focalAlpha <= 1, "focal-alpha of at most 1", focalAlpha)) &&
        succeeded(
            expect(focalGamma >= 0, "focal-gamma of at least 0", focalGamma)) &&
        succeeded(
            expect(diceSmooth >= 0, "dice-smooth of at least 0", diceSmooth)));
  }

  LogicalResult checkOptimizer() {
    const OptimizerInfo *info = find_optimizer(optimizer.getValue());
    if (!info)
      return getOperation().emitError("expects an optimizer of ")
             << optimizerNames() << ", but got '" << optimizer << "'";
    for (const std::string &state : optimizerStates)
      if (const OptimizerState *known = info->find_state(state);
          !known || known->needs.empty())
        return getOperation().emitError("expects optimizer-states that '")
               << optimizer << "' may keep or not, but got '" << state << "'";
    return success();
  }

  /// Marks the parameters whose rows nn.take reads, because an optimizer may
  /// leave these to another one. Those whose rows are slices are marked before.
  void markTables() {
    forward.walk([&](nn::TakeOp take) {
      if (auto read = sourceOf(take.getTable()).getDefiningOp<ReadOp>())
        getOperation()
            .lookupSymbol<VariableOp>(read.getVariable())
            .setIsTable(true);
    });
  }

  StringRef outputName(unsigned index) {
    auto name = forward.getResultAttrOfType<StringAttr>(index, kNameAttribute);
    return name ? name.getValue() : "";
  }

  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  /// Clones the forward into a step, and fills in the outputs of its block.
  StepOp cloneForward(StringRef name, StepKind kind, bool withLabels,
                      SmallVectorImpl<Value> &outputs) {
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    SmallVector<Attribute> names;
    for (unsigned index = 0; index < forward.getNumArguments(); ++index) {
      auto input = forward.getArgAttrOfType<StringAttr>(index, kNameAttribute);
      names.push_back(
          input ? input
                : builder.getStringAttr("input" + std::to_string(index)));
    }
    SmallVector<Attribute> labelsNames, ranges;
    SmallVector<Labels> labels;
    if (withLabels)
      labels = outputLosses.labels();
    for (const Labels &each : labels) {
      names.push_back(each.name);
      labelsNames.push_back(each.name);
      ranges.push_back(each.range);
    }
    auto listOf = [&](ArrayRef<Attribute> list) {
      return list.empty() ? ArrayAttr() : builder.getArrayAttr(list);
    };
    auto step = StepOp::create(builder, forward.getLoc(), freeName(name), kind,
                               builder.getArrayAttr(names), listOf(labelsNames),
                               listOf(ranges));
    symbols->insert(step);
    Block &body = step.getBody().emplaceBlock();
    IRMapping mapping;
    for (auto [index, argument] : llvm::enumerate(forward.getArguments())) {
      Location loc = NameLoc::get(cast<StringAttr>(names[index]));
      mapping.map(argument, body.addArgument(argument.getType(), loc));
    }
    for (const Labels &each : labels)
      body.addArgument(each.type, NameLoc::get(each.name));
    builder.setInsertionPointToEnd(&body);
    for (Operation &op : forward.getBody().front().without_terminator())
      builder.clone(op, mapping);
    for (Value output :
         forward.getBody().front().getTerminator()->getOperands())
      outputs.push_back(mapping.lookup(output));
    return step;
  }

  /// Returns the arguments of a step that are its labels.
  static ValueRange labelsOf(StepOp step) {
    size_t count = step.getLabelsNames() ? step.getLabelsNamesAttr().size() : 0;
    return ValueRange(step.getBody().getArguments()).take_back(count);
  }

  LossChunkOptions chunkOptions() const {
    return {lossChunkCount, lossChunkBytes, halfLogits};
  }

  Loss appendLoss(OpBuilder &builder, StepOp step, ValueRange outputs) {
    TensorBuilder b(NameLoc::get(builder.getStringAttr("loss")), builder);
    return outputLosses.build(b, outputs, labelsOf(step), chunkOptions());
  }

  LogicalResult buildMicroStep() {
    SmallVector<Value> outputs;
    StepOp step = cloneForward("micro_step", StepKind::Micro, true, outputs);
    OpBuilder builder = OpBuilder::atBlockEnd(&step.getBody().front());
    Loss loss = appendLoss(builder, step, outputs);

    llvm::MapVector<Attribute, SmallVector<Value>>
        reads; // by variable: tied weights are read several times
    SmallVector<Value> sources;
    for (ReadOp read : step.getBody().getOps<ReadOp>()) {
      auto variable = symbols->lookup<VariableOp>(read.getVariable());
      if (variable && variable.isTrained()) {
        reads[read.getVariableAttr()].push_back(read.getResult());
        sources.push_back(read.getResult());
      }
    }
    TensorBuilder b(
        NameLoc::get(builder.getStringAttr(Origin{"loss"}.gradient().text())),
        builder);
    SmallVector<Value> gradients;
    Value seed = b.create<SeedOp>(loss.sum.getType(), outputLosses.targets());
    if (failed(differentiate(builder, loss.sum, seed, sources, gradients)))
      return failure();
    llvm::DenseMap<Value, Value> gradientOf;
    for (auto [source, gradient] : llvm::zip(sources, gradients))
      gradientOf[source] = gradient;

    SmallVector<Update> updates;
    for (auto &[variable, values] : reads)
      if (Value gradient = sumOf(builder, values, gradientOf))
        updates.push_back({cast<FlatSymbolRefAttr>(variable), gradient});
    if (updates.empty())
      return refuseWithoutGradients(forward, loss.sum, sources);
    if (failed(checkUpdates(updates)))
      return failure();
    addParamGroups();
    addLosses();
    finishStep(builder, updates);
    return success();
  }

  using Update = std::pair<FlatSymbolRefAttr, Value>;

  const OptimizerInfo &optimizerOf(FlatSymbolRefAttr parameter) {
    return train::optimizerOf(
        *find_optimizer(optimizer.getValue()),
        symbols->lookup<VariableOp>(parameter.getValue()));
  }

  /// Refuses a model in which the optimizer leaves all parameters to another
  /// one.
  LogicalResult checkUpdates(ArrayRef<Update> updates) {
    if (llvm::any_of(updates, [&](const Update &update) {
          return StringRef(optimizerOf(update.first).name) == optimizer;
        }))
      return success();
    return forward.emitError("expects a parameter that '")
           << optimizer << "' updates, but it leaves all of them to '"
           << StringRef(optimizerOf(updates.front().first).name) << "'";
  }

  /// Returns `name`, with a number after it if it is taken. The table knows it
  /// in no time, where a search of the module for each of thousands of names
  /// would take the square of their number.
  std::string freeName(StringRef name) {
    return symbols->lookup(name) ? freeSymbol(getOperation(), name)
                                 : name.str();
  }

  /// Adds the variable with the hyperparameters of the parameter groups.
  void addParamGroups() {
    if (paramGroups.empty())
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    auto type = RankedTensorType::get(
        {int64_t(paramGroups.size()), kParamGroupBytes / 8},
        builder.getF64Type());
    symbols->insert(VariableOp::create(
        builder, builder.getUnknownLoc(), freeName("param_groups"),
        VariableKind::ParamGroups, type, FlatSymbolRefAttr()));
  }

  /// Adds the variable with the totals of the losses whose sum is minimised.
  void addLosses() {
    if (outputLosses.parts() == 0)
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    constexpr int64_t kNumbers = 4; // of LossSums, in optimizer.h
    auto type = RankedTensorType::get({outputLosses.parts(), kNumbers},
                                      builder.getF64Type());
    symbols->insert(VariableOp::create(builder, builder.getUnknownLoc(),
                                       freeName("losses"), VariableKind::Losses,
                                       type, FlatSymbolRefAttr()));
  }

  /// Returns the number of the first group that a parameter belongs to, counted
  /// from 1; null if there is none.
  IntegerAttr groupOf(VariableOp parameter) {
    for (auto [index, expression] : llvm::enumerate(paramGroups))
      if (parameter.isNamed(expression))
        return Builder(&getContext()).getI64IntegerAttr(index + 1);
    return nullptr;
  }

  static Value sumOf(OpBuilder &builder, ArrayRef<Value> values,
                     const llvm::DenseMap<Value, Value> &gradientOf) {
    Value sum;
    for (Value value : values)
      if (Value gradient = gradientOf.lookup(value))
        sum = sum ? arith::AddFOp::create(builder, gradient.getLoc(), sum,
                                          gradient)
                        .getResult()
                  : gradient;
    return sum;
  }

  /// Adds the optimizer to this step or, with accumulation, to a step of its
  /// own.
  void finishStep(OpBuilder &builder, ArrayRef<Update> gradients) {
    if (accumulationSteps <= 1)
      return appendOptimizer(builder, gradients);
    SmallVector<FlatSymbolRefAttr> sums;
    for (auto [parameter, gradient] : gradients) {
      sums.push_back(addVariable(parameter, "grad", VariableKind::Gradient));
      AccumulateOp::create(builder, gradient.getLoc(), sums.back(), gradient);
    }
    OpBuilder outside = OpBuilder::atBlockEnd(getOperation().getBody());
    auto update = StepOp::create(outside, forward.getLoc(), freeName("update"),
                                 StepKind::Update, outside.getArrayAttr({}),
                                 ArrayAttr(), ArrayAttr());
    symbols->insert(update);
    OpBuilder inside = OpBuilder::atBlockEnd(&update.getBody().emplaceBlock());
    SmallVector<Update> read;
    for (auto [sum, entry] : llvm::zip(sums, gradients))
      read.push_back(
          {entry.first, ReadOp::create(inside, forward.getLoc(),
                                       entry.second.getType(), sum)});
    appendOptimizer(inside, read);
  }

  void appendOptimizer(OpBuilder &builder, ArrayRef<Update> gradients) {
    Location loc = NameLoc::get(builder.getStringAttr("optimizer"));
    SmallVector<Value> all;
    SmallVector<Attribute> parameters;
    for (auto &[parameter, gradient] : gradients) {
      all.push_back(gradient);
      parameters.push_back(parameter);
    }
    GradNormOp::create(builder, loc, all, builder.getArrayAttr(parameters),
                       FlatSymbolRefAttr());
    // First what needs no products: those updates are one call, and their
    // gradients are free for the others.
    for (bool hasDirection : {false, true})
      for (const Update &update : gradients)
        if (optimizerOf(update.first).has_direction == hasDirection)
          appendUpdate(builder, loc, update);
  }

  void appendUpdate(OpBuilder &builder, Location loc, const Update &update) {
    auto [parameter, gradient] = update;
    const OptimizerInfo &info = optimizerOf(parameter);
    DictionaryAttr states = addStates(builder, parameter, info);
    if (info.has_direction) {
      gradient = orthogonalDirection(builder, info, update, states);
      states = nullptr;
    }
    auto variable = symbols->lookup<VariableOp>(parameter.getValue());
    bool decay = noDecay.empty() || !variable.isNamed(noDecay);
    auto symbol = SymbolRefAttr::get(&getContext(), parameter.getValue());
    UpdateOp::create(builder, loc, builder.getStringAttr(info.name), symbol,
                     gradient, states, FlatSymbolRefAttr(),
                     decay ? builder.getUnitAttr() : UnitAttr(),
                     groupOf(variable));
  }

  /// Returns the matrix with which muon updates a parameter. The ops are named
  /// after the parameter.
  Value orthogonalDirection(OpBuilder &builder, const OptimizerInfo &info,
                            const Update &update, DictionaryAttr states) {
    StringRef parameter = update.first.getValue();
    auto named = [&](StringRef what) {
      return NameLoc::get(builder.getStringAttr(parameter + "." + what));
    };
    auto direction = DirectionOp::create(
        builder, named("direction"), update.second.getType(),
        StringRef(info.name), parameter, update.second, states);
    TensorBuilder b(named("orthogonal"), builder);
    return orthogonalize(b, direction);
  }

  /// Adds the states that the optimizer keeps for a parameter; returns them by
  /// the optimizer's names.
  DictionaryAttr addStates(OpBuilder &builder, FlatSymbolRefAttr parameter,
                           const OptimizerInfo &info) {
    auto owner = symbols->lookup<VariableOp>(parameter.getValue());
    SmallVector<NamedAttribute> states;
    for (const OptimizerState &state : info.states) {
      bool isKept = state.needs.empty() ||
                    llvm::is_contained(optimizerStates, StringRef(state.name));
      if (RankedTensorType type = optimizerStateType(
              state, cast<RankedTensorType>(owner.getType()));
          type && isKept)
        states.push_back(builder.getNamedAttr(
            state.name, addVariable(parameter, state.name,
                                    VariableKind::OptimizerState, type)));
    }
    return states.empty() ? DictionaryAttr()
                          : builder.getDictionaryAttr(states);
  }

  /// Adds a variable that belongs to a parameter and is zero at first. It has
  /// the parameter's type unless another one is given.
  FlatSymbolRefAttr addVariable(FlatSymbolRefAttr parameter, StringRef suffix,
                                VariableKind kind,
                                RankedTensorType type = nullptr) {
    auto owner = symbols->lookup<VariableOp>(parameter.getValue());
    OpBuilder builder(owner);
    Operation *last = owner; // the last variable added for the parameter
    for (auto next = dyn_cast_or_null<VariableOp>(owner->getNextNode());
         next && next.getOfAttr() == parameter;
         next = dyn_cast_or_null<VariableOp>(next->getNextNode()))
      last = next;
    builder.setInsertionPointAfter(last);
    std::string name = freeName((parameter.getValue() + "." + suffix).str());
    auto variable =
        VariableOp::create(builder, owner.getLoc(), name, kind,
                           type ? Type(type) : owner.getType(), parameter);
    symbols->insert(variable);
    return FlatSymbolRefAttr::get(variable.getSymNameAttr());
  }

  /// Turns a forward into one without dropout that uses the running statistics
  /// of batch normalisation.
  static void makeEvaluation(StepOp step) {
    step.walk([](Operation *op) {
      if (auto trained = dyn_cast<EvaluationFormOpInterface>(op))
        trained.becomeEvaluation();
      else if (isa<WriteOp>(op))
        op->erase();
    });
  }

  void buildEvaluation() {
    SmallVector<Value> outputs;
    StepOp step = cloneForward("evaluate", StepKind::Evaluate, true, outputs);
    OpBuilder builder = OpBuilder::atBlockEnd(&step.getBody().front());
    appendLoss(builder, step, outputs);
    appendMeasured(builder, step, outputs[outputLosses.first().output]);
    makeEvaluation(step);
  }

  /// Adds the outputs from which the trainer computes its metrics.
  void appendMeasured(OpBuilder &builder, StepOp step, Value output) {
    if (measured.isEmpty())
      return;
    TensorBuilder b(NameLoc::get(builder.getStringAttr("metrics")), builder);
    SmallVector<LossChunk> chunks =
        lossChunks(outputLosses.first().options.kind, output, chunkOptions());
    buildEvaluationOutputs(b, measured, output, labelsOf(step).front(), chunks);
  }

  void buildForward() {
    SmallVector<Value> outputs;
    StepOp step =
        cloneForward("forward_step", StepKind::Forward, false, outputs);
    OpBuilder builder = OpBuilder::atBlockEnd(&step.getBody().front());
    for (auto [index, output] : llvm::enumerate(outputs))
      OutputOp::create(builder, output.getLoc(), outputName(index), output);
    makeEvaluation(step);
  }

  void eraseUnused() {
    getOperation().walk([](StepOp step) {
      for (Operation &op :
           llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
        if (op.use_empty() && (isMemoryEffectFree(&op) || isa<ReadOp>(op)))
          op.erase();
    });
  }

  func::FuncOp forward;
  /// The variables and steps by name; those that are added are inserted.
  std::optional<SymbolTable> symbols;
  LossOptions lossOptions;
  EvaluationOutputs measured;
  OutputLosses outputLosses;
};

} // namespace
