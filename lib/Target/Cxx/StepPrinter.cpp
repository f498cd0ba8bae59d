//===- StepPrinter.cpp - Steps as C++ functions ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepPrinter.h"

#include "LayerTables.h"
#include "Text.h"
#include "Types.h"
#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt;

namespace {

class StepPrinter {
public:
  StepPrinter(device::StepOp step, cxx::ProgramNames &names,
              cxx::ShapeTable &shapes, std::vector<cxx::OpCalls> &calls,
              raw_ostream &stream)
      : step(step), symbols(step->getParentOfType<ModuleOp>()), names(names),
        shapes(shapes), calls(calls), stream(stream), layers(names),
        isTimed(cxx::isTimed(step)) {}

  LogicalResult print(StringRef name) {
    layers.print(step, symbols, stream);
    stream << "static void " << name << "(Context &" << contextName()
           << ", char *memory) {\n";
    printPrologue();
    if (failed(printOps(step.getBody().front())))
      return failure();
    if (step.getKind() == train::StepKind::Update) {
      calls.push_back({"", "end_step"});
      call("end_step", {"ctx", "state"});
    }
    stream << "}\n";
    if (!isTimed)
      calls.clear();
    return success();
  }

private:
  LogicalResult printOps(Block &block) {
    for (Operation &op : block) {
      if (auto repeat = dyn_cast<device::RepeatOp>(op)) {
        if (failed(printLoop(repeat)))
          return failure();
        continue;
      }
      if (!isa<device::AddressOp, device::ColumnOp>(op))
        calls.push_back(cxx::callsOf(&op));
      if (failed(printOp(&op)))
        return failure();
    }
    return success();
  }

  /// The calls of the body once; in the table of calls, those of all turns.
  LogicalResult printLoop(device::RepeatOp repeat) {
    Block &body = repeat.getBody().front();
    auto first = llvm::find_if(body, [](Operation &op) {
      return !isa<device::AddressOp, device::ColumnOp>(op);
    });
    if (first != body.end())
      printSection(&*first);
    stream << "  " << layers.loopHead(repeat) << "\n";
    size_t begin = calls.size();
    indent = "    ";
    lastComment = {};
    if (failed(printOps(body)))
      return failure();
    indent = "  ";
    lastComment = {};
    stream << "  }\n";
    std::vector<cxx::OpCalls> ofTurn(calls.begin() + begin, calls.end());
    for (unsigned turn = 0; turn < repeat.getNumTurns(); ++turn) {
      size_t index = 0;
      for (Operation &op : body)
        if (!isa<device::AddressOp, device::ColumnOp>(op)) {
          cxx::OpCalls call = cxx::callsOf(&op, turn);
          call.count = ofTurn[index++].count;
          if (turn == 0)
            calls[begin + index - 1] = call;
          else
            calls.push_back(call);
        }
    }
    return success();
  }

  /// Where calls are timed, `ctx` is what they go through.
  StringRef contextName() const { return isTimed ? "context" : "ctx"; }

  void printPrologue() {
    bool usesMemory = false, usesState = false, usesHyper = false,
         usesHost = false;
    step.walk([&](Operation *op) {
      usesHost |= isa<device::OffloadOp, device::ReloadOp>(op);
      bool updates = isa<device::GradNormOp, device::UpdateOp>(op);
      auto launch = dyn_cast<device::LaunchOp>(op);
      auto runtimeCall = dyn_cast<device::CallOp>(op);
      usesMemory |= isa<device::AddressOp, device::ColumnOp>(op);
      usesHyper |= isa<device::GradNormOp>(op);
      usesState |=
          updates ||
          isa<device::AccumulateOp, device::ReportLossOp, device::KeepOp,
              device::RestoreOp, device::CheckFiniteOp>(op) ||
          (launch && takesState(launch)) ||
          (runtimeCall && takesState(runtimeCall));
    });
    bool begins = step.getKind() == train::StepKind::Micro,
         ends = step.getKind() == train::StepKind::Update;
    if (isTimed)
      stream << "  const Calls ctx{context};\n";
    if (usesMemory || usesState || usesHyper || begins || ends)
      stream << "  const Memory m{memory};\n";
    else
      stream << "  (void)" << contextName() << ", (void)memory;\n";
    if (usesHost)
      stream << "  const Memory host{" << contextName() << ".host_memory};\n";
    if (usesState || begins || ends)
      stream << "  StepState *const state = m[kStepState];\n";
    if (usesHyper || begins)
      stream << "  const Hyperparameters *const hyper = m[kHyperparameters];\n";
    if (begins) {
      calls.push_back({"", "begin_step"});
      call("begin_step", {"ctx", "state", "hyper"});
    }
  }

  device::KernelOp kernelOf(device::LaunchOp op) {
    return symbols.lookup<device::KernelOp>(op.getKernel());
  }
  bool takesState(device::LaunchOp op) {
    device::KernelOp kernel = kernelOf(op);
    return kernel &&
           kernel.getBody().getNumArguments() > op.getOperands().size();
  }

  static bool takesState(device::CallOp op) {
    return llvm::is_contained(
        op.getArguments(),
        device::WordAttr::get(op.getContext(), device::Word::State));
  }

  //===--------------------------------------------------------------------===//
  // Pieces of calls
  //===--------------------------------------------------------------------===//

  std::string pointer(Value value, int64_t more = 0) {
    std::string buffer, space = "m[";
    int64_t elements = more;
    if (auto column = value.getDefiningOp<device::ColumnOp>()) {
      buffer = layers.buffer(column);
      elements += column.getElements();
    } else {
      auto address = value.getDefiningOp<device::AddressOp>();
      buffer = names.ofBuffer(address.getBuffer());
      elements += address.getElements();
      if (isOnHost(address))
        space = "host[";
    }
    std::string text = space + buffer + "]";
    return elements ? text + " + " + std::to_string(elements) : text;
  }
  bool isOnHost(device::AddressOp op) {
    auto buffer = symbols.lookup<device::BufferOp>(op.getBuffer());
    return buffer && buffer.getKind() == device::BufferKind::Host;
  }
  std::string pointerOrNull(Value value) {
    return value ? pointer(value) : "nullptr";
  }

  static std::string memoryType(Value pointer) {
    return cxx::memoryType(
        cast<device::PtrType>(pointer.getType()).getElement());
  }

  void call(StringRef function, ArrayRef<std::string> arguments) {
    cxx::printLine(stream, indent + cxx::callText(function, arguments) + ";");
    ++calls.back().count;
  }

  /// A heading where a section begins, a comment where another tensor does.
  void printHeading(Operation *op) {
    printSection(op);
    std::string comment = cxx::commonPattern(cxx::commentsOf(op));
    if (!comment.empty() && comment != lastComment) {
      cxx::printComment(stream, comment, indent.size());
      lastComment = comment;
    }
  }
  void printSection(Operation *op) {
    auto section = op->getAttrOfType<StringAttr>("section");
    if (section && section != current) {
      current = section;
      size_t width = section.size();
      if (width)
        stream << "\n  // ---- " << section.getValue() << " "
               << std::string(width < 66 ? 66 - width : 0, '-') << "\n\n";
    }
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  LogicalResult printOp(Operation *op) {
    if (auto address = dyn_cast<device::AddressOp>(op))
      return check(address);
    if (isa<device::ColumnOp>(op))
      return success(); // its verifier has checked it
    for (Value operand : op->getOperands())
      if (!operand.getDefiningOp<device::AddressOp>() &&
          !operand.getDefiningOp<device::ColumnOp>())
        return op->emitOpError("expects operands that come from "
                               "'device.address' or 'device.column'");
    printHeading(op);
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<device::LaunchOp>([&](auto typed) { return emit(typed); })
        .Case<device::CallOp, device::ReportLossOp, device::GradNormOp,
              device::UpdateOp, device::CopyOp,
              device::AccumulateOp, device::KeepOp, device::RestoreOp,
              device::RefreshOp, device::CheckFiniteOp, device::OffloadOp,
              device::ReloadOp, device::AwaitOp>([&](auto typed) {
          emit(typed);
          return success();
        })
        .Default([](Operation *other) {
          return other->emitOpError("has no form in emitted code");
        });
  }

  LogicalResult check(device::AddressOp op) {
    auto buffer = symbols.lookup<device::BufferOp>(op.getBuffer());
    if (!buffer)
      return op.emitOpError("expects a buffer, but '")
             << op.getBuffer() << "' is none";
    Type held = cast<RankedTensorType>(buffer.getType()).getElementType();
    Type element = cast<device::PtrType>(op.getType()).getElement();
    if (held != element)
      return op.emitOpError("expects elements of type ")
             << held << ", but got " << element;
    return success();
  }

  LogicalResult emit(device::LaunchOp op) {
    device::KernelOp kernel = kernelOf(op);
    if (!kernel)
      return op.emitOpError("expects a kernel, but '")
             << op.getKernel() << "' is none";
    SmallVector<std::string> arguments{"ctx",
                                       std::to_string(kernel.getBlocks()),
                                       std::to_string(kernel.getThreads()),
                                       names.ofKernel(kernel.getSymName())};
    for (Value operand : op.getOperands())
      arguments.push_back(pointer(operand));
    if (takesState(op))
      arguments.push_back("state");
    call("launch", arguments);
    return success();
  }

  /// Takes from `operands` those that the argument stands for.
  std::string argumentText(Attribute argument, OperandRange &operands) {
    if (auto named = dyn_cast<device::NamedArgumentAttr>(argument))
      return "/*" + named.getName().str() + "=*/" +
             argumentText(named.getValue(), operands);
    if (auto options = dyn_cast<ArrayAttr>(argument))
      return optionsText(options, operands);
    if (auto number = dyn_cast<IntegerAttr>(argument))
      return std::to_string(number.getInt());
    if (auto number = dyn_cast<FloatAttr>(argument))
      return cxx::doubleLiteral(number.getValueAsDouble());
    if (auto shape = dyn_cast<device::StructAttr>(argument))
      return shapes.of(shape);
    if (auto word = dyn_cast<device::WordAttr>(argument))
      return word.getValue() == device::Word::Null ? "nullptr" : "state";
    Value operand = operands.front();
    operands = operands.drop_front();
    return pointer(operand);
  }

  /// {.beta = 1.0, .bias = m[kBias]}
  std::string optionsText(ArrayAttr options, OperandRange &operands) {
    SmallVector<std::string> fields;
    for (auto option : options.getAsRange<device::NamedArgumentAttr>())
      fields.push_back("." + option.getName().str() + " = " +
                       argumentText(option.getValue(), operands));
    return "{" + llvm::join(fields, ", ") + "}";
  }

  void emit(device::CallOp op) {
    std::string function = op.getFunction().str();
    if (op.getElementType())
      function += "<" + cxx::memoryType(*op.getElementType()) + ">";
    SmallVector<std::string> arguments{"ctx"};
    OperandRange operands = op.getOperands();
    for (Attribute argument : op.getArguments())
      arguments.push_back(argumentText(argument, operands));
    call(function, arguments);
  }

  void emit(device::ReportLossOp op) {
    SmallVector<std::string> arguments{"ctx", "state", pointer(op.getSum()),
                                       pointer(op.getWeight()), "1"};
    if (step.getKind() == train::StepKind::Evaluate)
      arguments.push_back("/*evaluating=*/true");
    call("add_loss", arguments);
  }

  void emit(device::GradNormOp op) {
    int64_t partials = 0;
    for (auto [gradient, count] :
         llvm::zip(op.getGradients(), op.getCounts())) {
      call("sum_of_squares", {"ctx", pointer(gradient), std::to_string(count),
                              pointer(op.getScratch(), partials)});
      partials += device::sumOfSquaresPartials(count);
    }
    SmallVector<std::string> arguments{"ctx", "state", "hyper",
                                       pointer(op.getScratch()),
                                       std::to_string(partials)};
    if (op.getLossScale())
      llvm::append_values(arguments, pointer(op.getLossScale()),
                          std::to_string(op.getTargets()));
    call("finish_grad_norm", arguments);
    llvm::SetVector<StringRef> optimizers;
    step.walk([&](device::UpdateOp update) {
      optimizers.insert(update.getOptimizer());
    });
    for (StringRef optimizer : optimizers)
      call(("begin_" + optimizer).str(), {"ctx", "state", "hyper"});
  }

  /// The tensors that the optimizer declares, in their order; null where the
  /// parameter has none.
  void appendStates(device::UpdateOp op, SmallVector<std::string> &arguments) {
    llvm::StringMap<Value> states;
    if (op.getStateNames())
      for (auto [name, state] : llvm::zip(
               op.getStateNames()->getAsRange<StringAttr>(), op.getStates()))
        states[name] = state;
    for (const OptimizerState &state :
         find_optimizer(op.getOptimizer())->states)
      if (!state.name.empty())
        arguments.push_back(pointerOrNull(states.lookup(state.name)));
  }

  void emit(device::UpdateOp op) {
    SmallVector<std::string> arguments{"ctx", "state",
                                       pointer(op.getParameter())};
    appendStates(op, arguments);
    arguments.push_back(pointer(op.getGradient()));
    bool needsScratch = op.getScratch() != nullptr;
    arguments.push_back(needsScratch ? matrixText(op.getShape())
                                     : std::to_string(elements(op.getShape())));
    arguments.push_back(op.getDecay() ? "/*decay=*/true" : "/*decay=*/false");
    if (needsScratch)
      arguments.push_back(pointer(op.getScratch()));
    if (op.getCopy())
      arguments.push_back(pointer(op.getCopy()));
    call(op.getOptimizer(), arguments);
  }

  static int64_t elements(ArrayRef<int64_t> shape) {
    return ShapedType::getNumElements(shape);
  }

  /// {matrices, rows, columns} of the last two dimensions; a vector is one row.
  static std::string matrixText(ArrayRef<int64_t> shape) {
    int64_t columns = shape.empty() ? 1 : shape.back(),
            rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
    int64_t matrices = shape.size() < 2 ? 1 : elements(shape.drop_back(2));
    return "{" + std::to_string(matrices) + ", " + std::to_string(rows) + ", " +
           std::to_string(columns) + "}";
  }

  void emit(device::CheckFiniteOp op) {
    call("check_finite",
         {"ctx", "state", pointer(op.getValue()), std::to_string(op.getCount()),
          std::to_string(op.getIndex())});
  }
  void emit(device::KeepOp op) {
    call("keep", {"ctx", "state", pointer(op.getKept()), pointer(op.getValue()),
                  std::to_string(op.getCount())});
  }
  void emit(device::RestoreOp op) {
    call("restore", {"ctx", "state", pointer(op.getValue()),
                     pointer(op.getKept()), std::to_string(op.getCount())});
  }
  void emit(device::RefreshOp op) {
    call("refresh", {"ctx", pointer(op.getCopy()), pointer(op.getValue()),
                     std::to_string(op.getCount())});
  }

  void emit(device::CopyOp op) {
    call("copy", {"ctx", pointer(op.getTarget()), pointer(op.getSource()),
                  std::to_string(op.getCount()) + " * sizeof(" +
                      memoryType(op.getSource()) + ")"});
  }

  template <typename OpT>
  void transfer(StringRef function, OpT op) {
    call(function, {"ctx", std::to_string(op.getEvent()),
                    pointer(op.getTarget()), pointer(op.getSource()),
                    std::to_string(op.getCount()) + " * sizeof(" +
                        memoryType(op.getSource()) + ")"});
  }
  void emit(device::OffloadOp op) { transfer("offload", op); }
  void emit(device::ReloadOp op) { transfer("reload", op); }
  void emit(device::AwaitOp op) {
    call("await", {"ctx", std::to_string(op.getEvent())});
  }

  void emit(device::AccumulateOp op) {
    call("accumulate", {"ctx", "state", pointer(op.getTarget()),
                        pointer(op.getValue()), std::to_string(op.getCount())});
  }

  device::StepOp step;
  const SymbolTable symbols; ///< Once: a step has thousands of addresses.
  const cxx::ProgramNames &names;
  cxx::ShapeTable &shapes;
  std::vector<cxx::OpCalls> &calls;
  raw_ostream &stream;
  cxx::LayerTables layers;
  const bool isTimed;
  std::string indent = "  ";
  StringAttr current;
  std::string lastComment;
};

} // namespace

LogicalResult cxx::printStep(device::StepOp step, StringRef name,
                             ProgramNames &names, ShapeTable &shapes,
                             std::vector<OpCalls> &calls, raw_ostream &stream) {
  return StepPrinter(step, names, shapes, calls, stream).print(name);
}
