//===- StepPrinter.cpp - Steps as C++ functions ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Step/StepPrinter.h"

#include "Step/LayerTables.h"
#include "Step/MultiTensorTables.h"
#include "Step/StepComments.h"
#include "Step/StepPieces.h"
#include "Text.h"
#include "Types.h"
#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace gpuopt;

namespace {

class StepPrinter {
public:
  StepPrinter(device::StepOp step, cxx::ProgramNames &names,
              cxx::ShapeTable &shapes, std::vector<cxx::OpCalls> &calls,
              cxx::LineMarks &marks, raw_ostream &tables, raw_ostream &stream,
              bool allowsTf32)
      : step(step), symbols(step->getParentOfType<ModuleOp>()), names(names),
        shapes(shapes), calls(calls), marks(marks), tables(&tables),
        stream(&stream), layers(names), multiTensor(names, symbols, tables),
        comments(names, symbols), isTimed(cxx::isTimed(step)),
        allowsTf32(allowsTf32) {}

  LogicalResult print(StringRef name, unsigned callsPerFunction) {
    layers.print(step, symbols, *tables);
    SmallVector<cxx::StepPiece> pieces = cxx::piecesOf(step, callsPerFunction);
    raw_ostream *program = stream;
    std::string text;
    llvm::raw_string_ostream functions(text);
    stream = &functions;
    if (failed(pieces.size() == 1 ? printWhole(name, pieces.front().ops)
                                  : printInPieces(name, pieces)))
      return failure();
    *program << loopFunctions << text;
    if (!isTimed)
      calls.clear();
    return success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Functions
  //===--------------------------------------------------------------------===//

  LogicalResult printWhole(StringRef name, ArrayRef<Operation *> ops) {
    printBeginning(name, usesOf(ops));
    // "evaluate" or "prepare" says enough where there is one section.
    std::optional<StringRef> section = cxx::onlySectionOf(ops);
    if (section && step.getKind() != train::StepKind::Micro)
      current = section->str();
    if (failed(printOps(ops)))
      return failure();
    printEnd();
    return success();
  }

  /// Prints a function for each piece, and one that calls them.
  LogicalResult printInPieces(StringRef name, ArrayRef<cxx::StepPiece> pieces) {
    raw_ostream *functions = stream;
    std::string text;
    llvm::raw_string_ostream whole(text);
    stream = &whole;
    Uses all;
    all.memory = true;
    for (const cxx::StepPiece &piece : pieces)
      all.host |= usesOf(piece.ops).host;
    printBeginning(name, all);
    *stream << "\n";
    for (const cxx::StepPiece &piece : pieces) {
      std::string function = names.unique(piece.name);
      Uses uses = usesOf(piece.ops);
      whole << "  " << function
            << (uses.host ? "(ctx, m, host);\n" : "(ctx, m);\n");
      stream = functions;
      *stream << "static void " << function << "("
              << (isTimed ? "const Calls &" : "Context &")
              << "ctx, const Memory m"
              << (uses.host ? ", const Memory host) {\n" : ") {\n");
      uses.host = false;
      printPointers(uses);
      lastComment = {};
      current = piece.section; // the function's name says it
      if (failed(printOps(piece.ops)))
        return failure();
      *stream << "}\n\n";
      stream = &whole;
    }
    *stream << "\n";
    printEnd();
    stream = functions;
    *stream << text;
    return success();
  }

  LogicalResult printOps(ArrayRef<Operation *> ops) {
    for (Operation *op : ops) {
      if (auto repeat = dyn_cast<device::RepeatOp>(op)) {
        if (failed(printLoop(repeat)))
          return failure();
        continue;
      }
      if (auto merged = dyn_cast<device::MultiTensorOp>(op)) {
        if (failed(printMultiTensor(merged)))
          return failure();
        continue;
      }
      if (!isa<device::AddressOp, device::ColumnOp>(op))
        calls.push_back(cxx::callsOf(op));
      if (failed(printOp(op)))
        return failure();
    }
    return success();
  }

  /// Prints the calls of the body once. The table of timed calls gets those of
  /// all iterations.
  LogicalResult printLoop(device::RepeatOp repeat) {
    Block &body = repeat.getBody().front();
    auto first = llvm::find_if(body, [](Operation &op) {
      return !isa<device::AddressOp, device::ColumnOp>(op);
    });
    if (first != body.end())
      printSection(&*first);
    comments.printWhyLayers(repeat, *stream, indent.size());
    layers.printLoopHead(repeat, *stream);
    size_t begin = calls.size();
    if (failed(printBody(repeat)))
      return failure();
    *stream << "  }\n";
    cxx::addIterations(repeat, begin, calls);
    return success();
  }

  /// Prints the calls of a loop's body or, if loops share a function, a call of
  /// the function, which has them.
  LogicalResult printBody(device::RepeatOp repeat) {
    raw_ostream *loop = stream;
    size_t begin = calls.size();
    std::string text;
    llvm::raw_string_ostream body(text);
    stream = &body;
    indent = repeat.getFunction() ? "  " : "    ";
    lastComment = {};
    auto ops = llvm::to_vector(llvm::make_pointer_range(repeat.getOps()));
    if (failed(printUnderConditions(ops)))
      return failure();
    indent = "  ";
    lastComment = {};
    stream = loop;
    if (!repeat.getFunction()) {
      *stream << text;
      return success();
    }
    auto [parameter, argument] = layers.rowOf(repeat);
    std::string &function = functionOf[*repeat.getFunction()];
    if (function.empty()) { // the first of its loops
      function = names.unique(*repeat.getFunction());
      llvm::raw_string_ostream functions(loopFunctions);
      functions << "static void " << function << "("
                << (isTimed ? "const Calls &" : "Context &")
                << "ctx, const Memory m, " << parameter << ") {\n";
      stream = &functions;
      Uses uses = usesOf(ops);
      uses.host = false; // no loop has transfers
      printPointers(uses);
      functions << text << "}\n\n";
      stream = loop;
      firstCalls[function].assign(calls.begin() + begin, calls.end());
    }
    for (auto [call, first] : llvm::zip(
             MutableArrayRef(calls).drop_front(begin), firstCalls[function]))
      call.mark = first.mark;
    *stream << "    " << function << "(ctx, m, " << argument << ");\n";
    return success();
  }

  /// Prints the calls of a loop. Those that not all iterations make stand in an
  /// if for each condition.
  LogicalResult printUnderConditions(ArrayRef<Operation *> ops) {
    StringRef condition;
    auto close = [&] {
      if (condition.empty())
        return;
      indent.resize(indent.size() - 2);
      *stream << indent << "}\n";
    };
    for (Operation *op : ops) {
      if (isa<device::AddressOp, device::ColumnOp>(op)) {
        if (failed(printOps(op)))
          return failure();
        continue;
      }
      if (StringRef next = device::conditionOf(op); next != condition) {
        close();
        condition = next;
        if (!condition.empty()) {
          *stream << indent << "if (" << layers.conditionOf(op) << ") {\n";
          indent += "  ";
        }
      }
      if (failed(printOps(op)))
        return failure();
    }
    close();
    return success();
  }

  /// One call for all calls of the body; the rows of its table say which.
  LogicalResult printMultiTensor(device::MultiTensorOp merged) {
    for (auto address : merged.getBody().getOps<device::AddressOp>())
      if (failed(check(address)))
        return failure();
    printSection(merged.getCalls().front());
    lastComment = {};
    auto [function, arguments] = multiTensor.print(merged);
    calls.emplace_back();
    call(function, arguments);
    cxx::OpCalls shared = calls.back();
    calls.pop_back();
    for (cxx::OpCalls &op : cxx::callsOf(merged, shared.count))
      calls.push_back(op), calls.back().mark = shared.mark;
    return success();
  }

  /// The name of the function's Context. Where calls are timed, `ctx` is the
  /// Calls object that they go through.
  StringRef contextName() const { return isTimed ? "context" : "ctx"; }

  /// Which variables the calls of a function use.
  struct Uses : device::StepVariables {
    bool memory = false;
  };

  Uses usesOf(ArrayRef<Operation *> ops) {
    Uses uses;
    auto note = [&](Operation *op) {
      uses.memory |= isa<device::AddressOp, device::ColumnOp>(op);
      auto repeat = dyn_cast<device::RepeatOp>(op->getParentOp());
      if (repeat && repeat.getFunction() && !llvm::is_contained(ops, op))
        return; // the function of the loop has variables of its own
      if (auto call = dyn_cast<device::StepCall>(op)) {
        device::StepVariables taken = call.getVariables(symbols);
        uses.state |= taken.state;
        uses.hyper |= taken.hyper;
        uses.host |= taken.host;
      }
    };
    for (Operation *op : ops)
      op->walk(note);
    return uses;
  }

  void printPointers(Uses uses) {
    if (uses.host)
      *stream << "  const Memory host{" << contextName() << ".host_memory};\n";
    if (uses.state)
      *stream << "  StepState *const state = m[kStepState];\n";
    if (uses.hyper)
      *stream << "  const Hyperparameters *const hyper = "
                 "m[kHyperparameters];\n";
  }

  void printBeginning(StringRef name, Uses uses) {
    *stream << "static void " << name << "(Context &" << contextName()
            << ", char *memory) {\n";
    bool begins = step.getKind() == train::StepKind::Micro,
         ends = step.getKind() == train::StepKind::Update;
    uses.state |= begins || ends;
    uses.hyper |= begins;
    if (isTimed)
      *stream << "  const Calls ctx{context};\n";
    if (uses.memory || uses.state || uses.hyper)
      *stream << "  const Memory m{memory};\n";
    else
      *stream << "  (void)" << contextName() << ", (void)memory;\n";
    printPointers(uses);
    if (begins) {
      calls.push_back(cxx::runtimeCall("begin_step", "forward"));
      call("begin_step", {"ctx", "state", "hyper"});
    }
  }

  void printEnd() {
    if (step.getKind() == train::StepKind::Update) {
      calls.push_back(cxx::runtimeCall("end_step", "optimizer"));
      call("end_step", {"ctx", "state"});
    }
    *stream << "}\n";
  }

  device::KernelOp kernelOf(device::LaunchOp op) {
    return symbols.lookup<device::KernelOp>(op.getKernel());
  }

  //===--------------------------------------------------------------------===//
  // Pieces of calls
  //===--------------------------------------------------------------------===//

  std::string pointer(Value value, int64_t more = 0) {
    if (auto column = value.getDefiningOp<device::ColumnOp>()) {
      cxx::ColumnAddress at = layers.addressOf(column);
      std::string text = "m[" + at.buffer + "]" + addedText(at.elements + more);
      return at.perIteration == 0
                 ? text
                 : text + (at.perIteration < 0 ? " - " : " + ") + at.iteration +
                       " * " + std::to_string(std::abs(at.perIteration));
    }
    auto address = value.getDefiningOp<device::AddressOp>();
    return (isOnHost(address) ? "host[" : "m[") +
           names.ofBuffer(address.getBuffer()) + "]" +
           addedText(address.getElements() + more);
  }
  static std::string addedText(int64_t elements) {
    return elements ? " + " + std::to_string(elements) : "";
  }
  bool isOnHost(device::AddressOp op) {
    auto buffer = symbols.lookup<device::BufferOp>(op.getBuffer());
    return buffer && buffer.getKind() == device::BufferKind::Host;
  }

  void call(StringRef function, ArrayRef<std::string> arguments) {
    if (isTimed && calls.back().count == 0)
      calls.back().mark = marks.add(*stream);
    cxx::printLine(*stream, indent + cxx::callText(function, arguments) + ";");
    ++calls.back().count;
  }

  /// Prints a heading where a section begins, and a comment where the calls for
  /// another tensor begin.
  void printHeading(Operation *op) {
    printSection(op);
    std::string comment = cxx::commonPattern(cxx::commentsOf(op));
    if (!comment.empty() && comment != lastComment) {
      cxx::printComment(*stream, comment, indent.size());
      lastComment = comment;
    }
    comments.print(op, *stream, indent.size());
  }

  void printSection(Operation *op) {
    StringRef section = device::sectionOf(op);
    if (!section.empty() && section != current) {
      current = section;
      *stream << "\n  // ---- " << section << " "
              << std::string(66 - section.size(), '-') << "\n\n";
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
    if (auto launch = dyn_cast<device::LaunchOp>(op))
      return emit(launch);
    if (auto call = dyn_cast<device::CallOp>(op)) {
      emit(call);
      return success();
    }
    if (auto norm = dyn_cast<device::GradNormOp>(op)) {
      emit(norm);
      return success();
    }
    auto printed = dyn_cast<device::StepCall>(op);
    if (!printed)
      return op->emitOpError("cannot be written as C++");
    emit(*printed.getPrintedCall());
    return success();
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

  static std::string numberText(Attribute number) {
    if (auto real = dyn_cast<FloatAttr>(number))
      return cxx::floatLiteral(real.getValue(), real.getType());
    return std::to_string(cast<IntegerAttr>(number).getInt());
  }

  LogicalResult emit(device::LaunchOp op) {
    device::KernelOp kernel = kernelOf(op);
    if (!kernel)
      return op.emitOpError("expects a kernel, but '")
             << op.getKernel() << "' is none";
    int64_t blocks = op.getBlocks().value_or(kernel.getBlocks()),
            threads = op.getThreads().value_or(kernel.getThreads());
    SmallVector<std::string> arguments{"ctx", std::to_string(blocks),
                                       std::to_string(threads),
                                       names.ofKernel(kernel.getSymName())};
    for (Value operand : op.getOperands())
      arguments.push_back(pointer(operand));
    if (ArrayAttr numbers = op.getNumbersAttr())
      for (Attribute number : numbers)
        arguments.push_back(numberText(number));
    if (op.getVariables(symbols).state)
      arguments.push_back("state");
    call("launch", arguments);
    return success();
  }

  static std::string templateArgumentText(Attribute argument) {
    if (auto type = dyn_cast<TypeAttr>(argument))
      return cxx::memoryType(type.getValue());
    if (auto constant = dyn_cast<StringAttr>(argument))
      return constant.str();
    return std::to_string(cast<IntegerAttr>(argument).getInt());
  }

  /// Prints an argument, taking the operands that it stands for from
  /// `operands`.
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

  /// Returns such as {.beta = 1.0, .bias = m[kBias]}.
  std::string optionsText(ArrayAttr options, OperandRange &operands) {
    SmallVector<std::string> fields;
    for (auto option : options.getAsRange<device::NamedArgumentAttr>())
      fields.push_back("." + option.getName().str() + " = " +
                       argumentText(option.getValue(), operands));
    return "{" + llvm::join(fields, ", ") + "}";
  }

  std::string textOf(const device::PrintedArgument &argument) {
    using device::PrintedArgument;
    if (auto *tensor = std::get_if<Value>(&argument.value))
      return *tensor ? pointer(*tensor) : "nullptr";
    if (auto *bytes = std::get_if<PrintedArgument::Bytes>(&argument.value))
      return std::to_string(bytes->count) + " * sizeof(" +
             cxx::memoryType(bytes->element) + ")";
    if (auto *text = std::get_if<std::string>(&argument.value))
      return *text;
    return "state";
  }

  /// Prints an op that says itself which call it is.
  void emit(const device::PrintedCall &printed) {
    SmallVector<std::string> arguments{"ctx"};
    for (const device::PrintedArgument &argument : printed.arguments)
      arguments.push_back(textOf(argument));
    call(printed.function, arguments);
  }

  /// Calls of libraries are told at run time that products of floats may be in
  /// TF32. The kernels of attention are compiled for it, so the call names it
  /// (Runtime/gpuopt/ops/attention.h).
  bool multipliesInTf32(device::CallOp op) const {
    StringRef function = op.getFunction();
    if (!allowsTf32 || op.getOperands().empty() ||
        (function != "attention" && function != "attention_backward"))
      return false;
    return cast<device::PtrType>(op.getOperands().front().getType())
        .getElement()
        .isF32();
  }

  void emit(device::CallOp op) {
    std::string function = op.getFunction().str();
    SmallVector<std::string> ofTemplate;
    if (std::optional<ArrayAttr> arguments = op.getTemplateArguments())
      llvm::append_range(ofTemplate,
                         llvm::map_range(*arguments, templateArgumentText));
    if (multipliesInTf32(op))
      ofTemplate.push_back("tf32");
    if (!ofTemplate.empty())
      function += "<" + llvm::join(ofTemplate, ", ") + ">";
    SmallVector<std::string> arguments{"ctx"};
    OperandRange operands = op.getOperands();
    for (Attribute argument : op.getArguments())
      arguments.push_back(argumentText(argument, operands));
    call(function, arguments);
  }

  /// Prints sum_of_squares for all gradients; returns the number of sums.
  int64_t emitSums(device::GradNormOp op) {
    bool isTable = cxx::MultiTensorTables::areTabular(op);
    int64_t partials = 0;
    for (auto [gradient, count] :
         llvm::zip(op.getGradients(), op.getCounts())) {
      if (!isTable)
        call("sum_of_squares", {"ctx", pointer(gradient), std::to_string(count),
                                pointer(op.getScratch(), partials)});
      partials += sum_of_squares_partials(count);
    }
    if (isTable)
      call("sum_of_squares",
           {"ctx", "m", multiTensor.print(op), std::to_string(partials),
            pointer(op.getScratch())});
    return partials;
  }

  void emit(device::GradNormOp op) {
    int64_t partials = emitSums(op);
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

  device::StepOp step;
  const SymbolTable symbols; ///< Built once for thousands of lookups.
  cxx::ProgramNames &names;
  cxx::ShapeTable &shapes;
  std::vector<cxx::OpCalls> &calls;
  cxx::LineMarks &marks;
  raw_ostream *tables;
  raw_ostream *stream; ///< Gets the function that is being printed.
  cxx::LayerTables layers;
  cxx::MultiTensorTables multiTensor;
  cxx::StepComments comments;
  const bool isTimed;
  const bool allowsTf32;
  std::string indent = "  ";
  std::string loopFunctions;               ///< The functions that loops share.
  llvm::StringMap<std::string> functionOf; ///< Their names, by those in the IR.
  llvm::StringMap<std::vector<cxx::OpCalls>> firstCalls; ///< By these names.
  std::string current; ///< The section whose heading was printed last.
  std::string lastComment;
};

} // namespace

LogicalResult cxx::printStep(device::StepOp step, StringRef name,
                             ProgramNames &names, ShapeTable &shapes,
                             std::vector<OpCalls> &calls, LineMarks &marks,
                             raw_ostream &tables, raw_ostream &stream,
                             unsigned callsPerFunction, bool allowsTf32) {
  return StepPrinter(step, names, shapes, calls, marks, tables, stream,
                     allowsTf32)
      .print(name, callsPerFunction);
}
