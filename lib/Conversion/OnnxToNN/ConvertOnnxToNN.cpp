//===- ConvertOnnxToNN.cpp - Gives an ONNX graph its meaning --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Converts the nodes in the order of the graph. Values of the graph map to
// tensors whose types are known, and what a node needs as a constant has been
// folded when it is converted. If a node fails, the problem is noted, and the
// nodes that depend on it use the types that the file gives its results, so
// that all problems are reported at once. If the file gives no types, these
// nodes are only checked for operators that are not supported.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Conversion/OnnxToNN/Passes.h"

#include "DeclaredTypes.h"
#include "Initializers.h"
#include "NarrowTypes.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Support/NameExpression.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

namespace gpuopt {
#define GEN_PASS_DEF_CONVERTONNXTONN
#include "gpuopt/Conversion/OnnxToNN/Passes.h.inc"
} // namespace gpuopt

using namespace mlir;
using namespace gpuopt;

static constexpr StringLiteral kNameAttribute =
    nn::NNDialect::NameAttrHelper::getNameStr();

namespace {

class ConvertOnnxToNN
    : public gpuopt::impl::ConvertOnnxToNNBase<ConvertOnnxToNN> {
public:
  using ConvertOnnxToNNBase::ConvertOnnxToNNBase;

private:
  void runOnOperation() override {
    if (failed(prepare()))
      return signalPassFailure();
    nn::TensorBuilder b(graph.getLoc(), &getContext());
    builder = &b;
    convertNodes(b);
    // A node may need the value of what would be a frozen weight.
    while (!problems.empty() && kinds->makeConstants(failedNodes())) {
      forget();
      convertNodes(b);
    }
    remarkOnLoops();
    if (!problems.empty())
      return reportProblems();
    if (failed(finishFunction(b)))
      return signalPassFailure();
    declaredTypes.warn(graph);
    warnOfIdleDropouts();
    remarkOnConstants();
    remarkOnConstantNodes();
    remarkOnNeededConstants();
    kinds.reset();
    graph.erase();
    eraseUnused();
  }

  /// Converts the whole graph, of which nothing is converted.
  void convertNodes(nn::TensorBuilder &b) {
    createFunction();
    state.freezeBatchNorm = batchNorm == "frozen";
    state.tensorOf = [this](Value value) {
      Converted converted = values.lookup(value);
      bool isTensor = !converted.isSequence && !converted.tensors.empty();
      return isTensor ? converted.tensors.front() : Value();
    };
    state.convertGraph = [this](Region &graph, ArrayRef<Converted> arguments,
                                SmallVectorImpl<Converted> &results) {
      return convertGraph(graph, arguments, results);
    };
    state.tryGraph = [this](Region &graph, ArrayRef<Converted> arguments,
                            SmallVectorImpl<Converted> &results) {
      return tryGraph(graph, arguments, results);
    };
    b.setInsertionPointToEnd(&function.getBody().front());
    b.setLoc(graph.getLoc());
    for (Value argument : graph.getBody().getArguments())
      makeConstantIfEmpty(b, values[argument].tensors.front());
    for (Operation &op : graph.getBody().front().without_terminator())
      convert(b, &op);
  }

  /// Takes back all that was converted.
  void forget() {
    function.erase();
    for (train::VariableOp variable :
         llvm::make_early_inc_range(getOperation().getOps<train::VariableOp>()))
      variable.erase();
    state = {};
    declaredTypes = {};
    values.clear();
    failedValues.clear();
    variableAt.clear();
    singleNumbers.clear();
    symbols.clear();
    problems.clear();
  }

  SmallVector<onnx::NodeOp> failedNodes() {
    SmallVector<onnx::NodeOp> nodes;
    for (const Problem &problem : problems)
      if (problem.node)
        nodes.push_back(problem.node);
    return nodes;
  }

  /// Warns of Dropout nodes that drop nothing: they follow the specification,
  /// but hardly the user's wish.
  void warnOfIdleDropouts() {
    warnOfIdleDropouts(
        state.untoldDropouts,
        "no training_mode was exported; gpuopt.export writes it");
    warnOfIdleDropouts(state.idleDropouts,
                       "training_mode is false; gpuopt.export writes it true");
  }
  void warnOfIdleDropouts(ArrayRef<onnx::NodeOp> converted, StringRef why) {
    if (converted.empty())
      return;
    llvm::SetVector<Operation *> nodes(converted.begin(), converted.end());
    onnx::NodeOp first = converted.front();
    InFlightDiagnostic warning = graph.emitWarning("dropout is off at '");
    warning << first.getNodeName() << "'";
    if (nodes.size() > 1)
      warning << " and " << nodes.size() - 1 << " more";
    warning << ": " << why;
  }

  void remarkOnLoops() {
    for (ConversionState::UnrolledLoop &loop : state.unrolledLoops)
      emitRemark(loop.node.getLoc(), "'")
          << loop.node.getNodeName() << "', a " << loop.node.getOpType()
          << " of " << loop.iterations
          << " iterations, is unrolled, so that the program grows with it: "
          << loop.why;
  }

  /// Says which single numbers are constants only because nothing says that
  /// they are trained.
  void remarkOnConstants() {
    if (singleNumbers.empty())
      return;
    InFlightDiagnostic remark =
        graph.emitRemark("the file does not say what is "
                         "trained, so single numbers "
                         "are constants: ");
    constexpr size_t kMostNamed = 3;
    llvm::interleaveComma(
        ArrayRef(singleNumbers).take_front(kMostNamed), remark,
        [&](StringRef name) { remark << "'" << name << "'"; });
    if (singleNumbers.size() > kMostNamed)
      remark << " and " << singleNumbers.size() - kMostNamed << " more";
    remark << "; --trained-params='^" << llvm::Regex::escape(singleNumbers[0])
           << "$' trains the first";
  }

  /// Says which Constant nodes may have weights, which are not trained.
  void remarkOnConstantNodes() {
    auto constants = kinds->constantsLikeWeights();
    if (constants.empty())
      return;
    auto [node, reader] = constants.front();
    InFlightDiagnostic remark =
        graph.emitRemark("the file does not say what is trained, so weights in "
                         "Constant nodes are not: '");
    if (ArrayAttr names = node.getResultNamesAttr())
      remark << cast<StringAttr>(names[0]).getValue();
    else
      remark << node.getNodeName();
    remark << "' for " << reader.getOpType() << " at '" << reader.getNodeName()
           << "'";
    if (constants.size() > 1)
      remark << " and " << constants.size() - 1 << " more";
    remark << "; make initializers of them to train them";
  }

  /// Says which weights of the file are constants because of nodes that need
  /// their values, in a remark and on the module.
  void remarkOnNeededConstants() {
    ArrayRef<InitializerKinds::Needed> needed = kinds->needed();
    if (needed.empty())
      return;
    InFlightDiagnostic remark =
        graph.emitRemark("these frozen weights become constants, because nodes "
                         "need their values at compile time, and files of "
                         "weights will not contain them: ");
    constexpr size_t kMostNamed = 3;
    llvm::interleaveComma(needed.take_front(kMostNamed), remark,
                          [&](const InitializerKinds::Needed &each) {
                            onnx::NodeOp node = each.by;
                            onnx::InitializerOp weight = each.weight;
                            remark << "'" << weight.getName() << "' for "
                                   << node.getOpType() << " at '"
                                   << node.getNodeName() << "'";
                          });
    if (needed.size() > kMostNamed)
      remark << " and " << needed.size() - kMostNamed << " more";
    SmallVector<StringRef> names;
    for (const InitializerKinds::Needed &each : needed)
      names.push_back(onnx::InitializerOp(each.weight).getName());
    getOperation()->setAttr(kNeededConstantsAttribute,
                            Builder(&getContext()).getStrArrayAttr(names));
  }

  //===--------------------------------------------------------------------===//
  // The function
  //===--------------------------------------------------------------------===//

  LogicalResult prepare() {
    auto graphs = getOperation().getOps<onnx::GraphOp>();
    if (graphs.empty())
      return getOperation().emitError("expects an 'onnx.graph'");
    graph = *graphs.begin();
    std::string error;
    if (batchNorm != "train" && batchNorm != "frozen")
      return getOperation().emitError(
                 "expects batch-norm to be train or frozen, but got '")
             << batchNorm << "'";
    if (!trainedParams.empty() && !NameExpression(trainedParams).isValid(error))
      return getOperation().emitError("expects a regular expression for "
                                      "trained-params, but got '")
             << trainedParams << "': " << error;
    for (auto [argument, name] :
         llvm::zip(graph.getBody().getArguments(), graph.getInputNames()))
      if (isComplex(argument))
        return graph.emitError("input '")
               << cast<StringAttr>(name).getValue()
               << "': complex numbers are not supported";
    if (!frozenParams.empty() && !NameExpression(frozenParams).isValid(error))
      return getOperation().emitError(
                 "expects a regular expression for frozen-params, but got '")
             << frozenParams << "': " << error;
    kinds.emplace(graph, trainedParams, frozenParams, storedWeights);
    return success();
  }

  void createFunction() {
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    SmallVector<Type> inputs;
    for (Value argument : graph.getBody().getArguments())
      inputs.push_back(heldTypeOf(cast<RankedTensorType>(argument.getType())));
    function = func::FuncOp::create(builder, graph.getLoc(), "forward",
                                    builder.getFunctionType(inputs, {}));
    symbols.insert(function.getSymName());
    Block *entry = function.addEntryBlock();
    for (auto [index, argument] :
         llvm::enumerate(graph.getBody().getArguments())) {
      function.setArgAttr(index, kNameAttribute, graph.getInputNames()[index]);
      values[argument] = {{entry->getArgument(index)}, false};
    }
  }

  /// Makes a constant of what has no elements: no kernel computes it.
  static void makeConstantIfEmpty(nn::TensorBuilder &b, Value &x) {
    auto type = dyn_cast<RankedTensorType>(x.getType());
    if (type && type.getNumElements() == 0 && !constantOf(x))
      x = b.create<arith::ConstantOp>(
          DenseElementsAttr::get(type, ArrayRef<Attribute>()));
  }

  LogicalResult finishFunction(nn::TensorBuilder &b) {
    SmallVector<Value> outputs;
    SmallVector<Type> types;
    Operation *end = graph.getBody().front().getTerminator();
    for (auto [output, name] :
         llvm::zip(end->getOperands(), graph.getOutputNames())) {
      const Converted &converted = values[output];
      if (converted.isSequence || converted.tensors.empty())
        return graph.emitError("expects tensors as outputs of the model");
      outputs.push_back(heldConstant(b, converted.tensors.front()));
      if (!outputs.back())
        return graph.emitError("output '")
               << cast<StringAttr>(name).getValue()
               << "' has numbers above 9223372036854775807, the largest of the "
                  "int64 in which programs hold uint64: make the output "
                  "another type in the model, or leave it out";
      types.push_back(outputs.back().getType());
    }
    llvm::MapVector<StringRef, Value> last;
    for (auto &[variable, value] : state.writes)
      last[variable.getValue()] = value;
    for (auto &[variable, value] : last)
      b.create<train::WriteOp>(variable, value);
    b.create<func::ReturnOp>(outputs);
    function.setType(b.getFunctionType(function.getArgumentTypes(), types));
    for (unsigned index = 0; index < outputs.size(); ++index)
      function.setResultAttr(index, kNameAttribute,
                             graph.getOutputNames()[index]);
    return success();
  }

  void eraseUnused() {
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
      if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>() &&
          (isMemoryEffectFree(&op) || isa<train::ReadOp>(op)))
        op.erase();
    // Weights that only folded constants read are not state.
    llvm::DenseSet<Attribute> used;
    function.walk(
        [&](train::ReadOp read) { used.insert(read.getVariableAttr()); });
    for (train::VariableOp variable :
         llvm::make_early_inc_range(getOperation().getOps<train::VariableOp>()))
      if (!used.contains(FlatSymbolRefAttr::get(variable.getSymNameAttr())))
        variable.erase();
  }

  //===--------------------------------------------------------------------===//
  // Initializers
  //===--------------------------------------------------------------------===//

  void convertInitializer(nn::TensorBuilder &b, onnx::InitializerOp op) {
    if (values.count(op.getResult())) // of a loop, at a later iteration
      return;
    // Those of a loop's iteration stand before the loop.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&function.getBody().front());
    auto type = cast<RankedTensorType>(op.getResult().getType());
    if (isComplex(op.getResult())) {
      problems.push_back({"initializer '" + op.getName().str() +
                              "': complex numbers are not supported",
                          {}});
      failedValues.insert(op.getResult());
      return;
    }
    if (!kinds->isWeight(op)) {
      if (!op.getValue()) {
        problems.push_back(
            {"initializer '" + op.getName().str() +
                 "': integers, and numbers of 8 bits, of this size are not "
                 "supported",
             {}});
        return;
      }
      values[op.getResult()] = {
          {b.create<arith::ConstantOp>(cast<TypedAttr>(*op.getValue()))},
          false};
      if (type.getNumElements() == 1 && kinds->isOfUnknownUse(op))
        singleNumbers.push_back(op.getName());
      return;
    }
    StringAttr name = variableFor(b, op, type, kinds->kindOf(op));
    b.setLoc(NameLoc::get(b.getStringAttr(op.getName())));
    values[op.getResult()] = {{b.create<train::ReadOp>(type, name.getValue())},
                              false};
  }

  /// Returns the variable of an initializer. Two initializers at one place in
  /// the file are tied.
  StringAttr variableFor(nn::TensorBuilder &b, onnx::InitializerOp op,
                         RankedTensorType type, train::VariableKind kind) {
    StringAttr name = b.getStringAttr(op.getName());
    ArrayAttr savedAs = b.getStrArrayAttr(kinds->namesOf(op));
    if (auto source = op.getSource())
      if (train::VariableOp &tied = variableAt[*source]) {
        SmallVector<Attribute> names(tied.getSavedAs().getValue());
        llvm::append_range(names, savedAs);
        tied.setSavedAsAttr(b.getArrayAttr(names));
        return tied.getSymNameAttr();
      }
    OpBuilder outside(function);
    auto source = op.getSource();
    // Graphs that stand beside each other may use one name for two tensors.
    if (!symbols.insert(name).second) {
      name = b.getStringAttr(train::freeSymbol(getOperation(), name));
      symbols.insert(name);
      savedAs = b.getStrArrayAttr({name.getValue()});
    }
    auto variable = train::VariableOp::create(
        outside, NameLoc::get(name), name,
        train::VariableKindAttr::get(&getContext(), kind), TypeAttr::get(type),
        op.getValueAttr(),
        source ? b.getStringAttr(source->getFile()) : StringAttr(),
        source ? b.getI64IntegerAttr(source->getOffset()) : IntegerAttr(),
        source ? b.getI64IntegerAttr(source->getSizeInBytes()) : IntegerAttr(),
        savedAs, FlatSymbolRefAttr(), TypeAttr(), IntegerAttr());
    if (source)
      variableAt[*source] = variable;
    return variable.getSymNameAttr();
  }

  //===--------------------------------------------------------------------===//
  // Nodes
  //===--------------------------------------------------------------------===//

  void convert(nn::TensorBuilder &b, Operation *op) {
    if (auto initializer = dyn_cast<onnx::InitializerOp>(op))
      return convertInitializer(b, initializer);
    auto node = dyn_cast<onnx::NodeOp>(op);
    if (!node)
      return; // an omitted operand
    b.setLoc(node.getLoc());
    SmallVector<Converted> inputs;
    for (Value input : node.getInputs()) {
      if (failedValues.contains(input)) {
        if (!operatorOf(node))
          addProblem(node, kUnsupported);
        return standIn(b, node);
      }
      inputs.push_back(values.lookup(input));
    }
    addOldOperands(node, b, inputs);
    holdConstants(node, b, inputs);
    NodeConversion conversion(node, inputs, b, state);
    if (failed(convertNode(conversion))) {
      if (!conversion.problem.empty()) // else, nodes inside have problems
        addProblem(node, conversion.problem);
      return standIn(b, node);
    }
    for (auto [index, output] : llvm::enumerate(node.getOutputs())) {
      if (index < conversion.outputs.size()) {
        values[output] = conversion.outputs[index];
        declaredTypes.compare(output, values[output]);
      } else if (!output.use_empty()) {
        addProblem(node,
                   "output " + std::to_string(index) + " is not supported");
        failedValues.insert(output);
      }
    }
  }

  /// Converts the nodes of a graph inside of a node. They may be converted more
  /// than once, each time for other arguments.
  LogicalResult convertGraph(Region &inner, ArrayRef<Converted> arguments,
                             SmallVectorImpl<Converted> &results) {
    size_t before = problems.size();
    for (auto [argument, value] : llvm::zip(inner.getArguments(), arguments))
      values[argument] = value;
    Location loc = builder->getLoc();
    for (Operation &op : inner.front().without_terminator()) {
      convert(*builder, &op);
      if (problems.size() > before)
        return failure();
    }
    builder->setLoc(loc);
    for (Value output : inner.front().getTerminator()->getOperands())
      results.push_back(values.lookup(output));
    return success();
  }

  /// Does the same, but forgets the problem if there is one, and returns it.
  std::string tryGraph(Region &inner, ArrayRef<Converted> arguments,
                       SmallVectorImpl<Converted> &results) {
    size_t before = problems.size();
    llvm::DenseSet<Value> failedBefore = failedValues;
    Location loc = builder->getLoc();
    if (succeeded(convertGraph(inner, arguments, results)))
      return "";
    builder->setLoc(loc);
    failedValues = std::move(failedBefore);
    std::string problem = problems[before].text;
    problems.truncate(before);
    return problem;
  }

  void addProblem(onnx::NodeOp node, StringRef text) {
    problems.push_back({describe(node) + ": " + text.str(), node});
  }

  /// Adds results for a node that failed: tensors of the types that the file
  /// gives. Integers get none, because other nodes would fail by their values.
  void standIn(nn::TensorBuilder &b, onnx::NodeOp node) {
    for (Value output : node.getOutputs()) {
      auto type = dyn_cast<RankedTensorType>(output.getType());
      if (type && type.hasStaticShape() &&
          isa<FloatType>(type.getElementType()))
        values[output] = {
            {b.create<UnrealizedConversionCastOp>(type, ValueRange())
                 .getResult(0)},
            false};
      else
        failedValues.insert(output);
    }
  }

  static const OperatorEntry *operatorOf(onnx::NodeOp node) {
    return node.getDomain().empty() ? findOperator(node.getOpType()) : nullptr;
  }

  static constexpr StringLiteral kUnsupported = "the operator is not supported";

  static LogicalResult convertNode(NodeConversion &conversion) {
    const OperatorEntry *entry = operatorOf(conversion.node);
    if (!entry)
      return conversion.fail(kUnsupported);
    if (failed(checkOperands(conversion)))
      return failure();
    // A converter may move any earlier op out of a loop's iteration, but not
    // this one, behind which stand the ops that it adds.
    auto mark = conversion.b.create<UnrealizedConversionCastOp>(TypeRange(),
                                                                ValueRange());
    LogicalResult converted = entry->convert(conversion);
    if (succeeded(converted))
      wrapResults(conversion);
    auto added = llvm::make_range(std::next(mark->getIterator()),
                                  mark->getBlock()->end());
    mark.erase();
    if (failed(converted))
      return failure();
    // A node inside of another may become many ops. Those of a node with graphs
    // were counted with the nodes inside.
    if (isa<onnx::NodeOp>(conversion.node->getParentOp()) &&
        conversion.node.getGraphs().empty())
      conversion.state.unrolledNodes += llvm::range_size(added);
    for (Operation &op : added)
      for (Value result : op.getResults())
        if (auto type = dyn_cast<RankedTensorType>(result.getType());
            type && !conversion.isShape(type.getShape()))
          return failure();
    if (llvm::any_of(added, computesUnsigned))
      return conversion.fail("unsigned integers must be constants");
    for (const Converted &output : conversion.outputs)
      if (llvm::any_of(output.tensors, isComplex))
        return conversion.fail("complex numbers are not supported");
    for (Converted &output : conversion.outputs)
      for (Value &x : output.tensors)
        makeConstantIfEmpty(conversion.b, x);
    return success();
  }

  /// Whether a value holds complex numbers. Nothing that comes later is asked
  /// to handle their types, which have no width in bits.
  static bool isComplex(Value value) {
    return isa<ComplexType>(getElementTypeOrSelf(value.getType()));
  }
  static bool isUnsigned(Type type) {
    return getElementTypeOrSelf(type).isUnsignedInteger();
  }
  /// Whether an op computes unsigned integers. Constants may have them: the
  /// casts of constants leave some.
  static bool computesUnsigned(Operation &op) {
    return !isa<arith::ConstantOp>(op) &&
           (llvm::any_of(op.getOperandTypes(), isUnsigned) ||
            llvm::any_of(op.getResultTypes(), isUnsigned));
  }

  static std::string describe(onnx::NodeOp node) {
    std::string domain =
        node.getDomain().empty() ? "" : node.getDomain().str() + ".";
    return domain + node.getOpType().str() + " (opset " +
           std::to_string(node.getOpset()) + ") at '" +
           node.getNodeName().str() + "'";
  }

  void reportProblems() {
    std::string list;
    for (const Problem &problem : problems)
      list += "\n  " + problem.text;
    graph.emitError("has ")
        << problems.size() << " node" << (problems.size() == 1 ? "" : "s")
        << " that cannot be converted:" << list
        << "\ndocs/onnx-operators.md lists what is supported and says how to "
           "add an operator";
    function.erase();
    signalPassFailure();
  }

  onnx::GraphOp graph;
  func::FuncOp function;
  ConversionState state;
  nn::TensorBuilder *builder = nullptr; ///< Of the function.
  DeclaredTypes declaredTypes;
  llvm::DenseMap<Value, Converted> values;
  llvm::DenseSet<Value> failedValues;
  llvm::DenseMap<Attribute, train::VariableOp> variableAt;
  std::optional<InitializerKinds> kinds;
  /// Initializers of one floating-point number that are constants although the
  /// file does not say so.
  SmallVector<StringRef> singleNumbers;
  llvm::StringSet<> symbols; ///< Of the variables and the function.
  struct Problem {
    std::string text;
    onnx::NodeOp node; ///< Null if it is of an initializer.
  };
  SmallVector<Problem> problems;
};

} // namespace
