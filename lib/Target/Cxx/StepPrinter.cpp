//===- StepPrinter.cpp - Steps as C++ functions -----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepPrinter.h"

#include "Names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt;

std::string cxx::ShapeTable::lookup(StringRef type, const std::string &stem, const std::string &initialiser) {
  auto [entry, isNew] = entries.insert({{type.str(), initialiser}, {}});
  if (isNew) {
    unsigned count = names[stem]++;
    entry->second = {type.str(), count ? stem + "_" + std::to_string(count + 1) : stem};
  }
  return entry->second.name;
}

void cxx::ShapeTable::print(raw_ostream &stream) const {
  for (auto &[key, entry] : entries)
    stream << "constexpr " << entry.type << " " << entry.name << " = " << key.second << ";\n";
}

static std::string list(ArrayRef<int64_t> numbers) {
  std::string text = "{";
  for (auto [index, number] : llvm::enumerate(numbers))
    text += (index ? ", " : "") + std::to_string(number);
  return text + "}";
}

namespace {

class StepPrinter {
public:
  StepPrinter(device::StepOp step, cxx::ShapeTable &shapes, raw_ostream &stream)
      : step(step), shapes(shapes), stream(stream) {}

  void print(StringRef name) {
    stream << "static void " << name << "(Context &ctx, char *memory) {\n";
    printPrologue();
    for (Operation &op : step.getBody().front())
      printOp(&op);
    bool updates = step.getKind() == train::StepKind::Update;
    if (updates)
      stream << "  end_step(ctx, state);\n";
    stream << "}\n";
  }

private:
  void printPrologue() {
    llvm::SmallSetVector<Type, 4> elements;
    bool usesHyper = step.getKind() == train::StepKind::Micro, usesState = step.getKind() != train::StepKind::Forward;
    step.walk([&](device::AddressOp op) { elements.insert(cast<device::PtrType>(op.getType()).getElement()); });
    step.walk([&](Operation *op) { usesHyper |= isa<device::GradNormOp, device::AdamWOp, device::SgdOp>(op); });
    step.walk([&](device::LaunchOp op) { usesState |= takesState(op); });
    if (usesState)
      stream << "  StepState *const state = at<StepState>(memory, kStepState);\n";
    if (usesHyper)
      stream << "  const Hyperparameters *const hyper = at<Hyperparameters>(memory, kHyperparameters);\n";
    for (Type element : elements)
      stream << "  const auto " << accessorOf(element) << " = [=](size_t offset) { return at<"
             << cxx::memoryType(element) << ">(memory, offset); };\n";
    if (step.getKind() == train::StepKind::Micro)
      stream << "  begin_step(ctx, state, hyper);\n";
  }

  bool takesState(device::LaunchOp op) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<device::KernelOp>(op, op.getKernelAttr());
    return kernel.getBody().getNumArguments() > op.getOperands().size();
  }

  //===--------------------------------------------------------------------===//
  // Pieces of calls
  //===--------------------------------------------------------------------===//

  /// The local function that makes a pointer of an offset: f32, i64, mask, ...
  static std::string accessorOf(Type element) { return element.isInteger(1) ? "mask" : cxx::typeName(element); }

  std::string pointer(Value value) {
    auto address = value.getDefiningOp<device::AddressOp>();
    std::string text = accessorOf(cast<device::PtrType>(address.getType()).getElement()) + "(" +
                       cxx::constantName(address.getBuffer()) + ")";
    return address.getElements() ? text + " + " + std::to_string(address.getElements()) : text;
  }

  void printHeading(Operation *op) {
    auto section = op->getAttrOfType<StringAttr>("section");
    if (section && section != current) {
      current = section;
      if (!section.getValue().empty())
        stream << "\n  // ---- " << section.getValue() << " "
               << std::string(std::max<int>(0, 66 - (int)section.size()), '-') << "\n\n";
    }
    auto comment = op->getAttrOfType<StringAttr>("comment");
    if (comment && !comment.getValue().empty() && comment != lastComment) {
      stream << "  // " << comment.getValue() << "\n";
      lastComment = comment;
    }
  }

  /// "  name(a, b, ...);", wrapped at 110 columns.
  void call(const std::string &name, ArrayRef<std::string> arguments) {
    std::string line = "  " + name + "(";
    size_t indent = line.size();
    for (auto [index, argument] : llvm::enumerate(arguments)) {
      bool isLast = index + 1 == arguments.size();
      std::string text = argument + (isLast ? ");" : ",");
      constexpr size_t kColumns = 110;
      if (index && line.size() + text.size() + 1 > kColumns) {
        stream << line << "\n";
        line = std::string(indent, ' ') + text;
      } else {
        line += (index ? " " : "") + text;
      }
    }
    stream << line << "\n";
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  void printOp(Operation *op) {
    if (isa<device::AddressOp>(op))
      return;
    printHeading(op);
    TypeSwitch<Operation *>(op)
        .Case<device::LaunchOp, device::GemmOp, device::ConvOp, device::PoolOp, device::ScatterAddOp,
              device::ReportLossOp, device::GradNormOp, device::AdamWOp, device::SgdOp, device::CopyOp,
              device::AccumulateOp>([&](auto typed) { emit(typed); });
  }

  void emit(device::LaunchOp op) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<device::KernelOp>(op, op.getKernelAttr());
    SmallVector<std::string> arguments{"ctx", std::to_string(kernel.getBlocks()), std::to_string(kernel.getThreads()),
                                       cxx::identifier(kernel.getSymName())};
    for (Value operand : op.getOperands())
      arguments.push_back(pointer(operand));
    if (takesState(op))
      arguments.push_back("state");
    call("launch", arguments);
  }

  void emit(device::GemmOp op) {
    auto matrix = [](ArrayRef<int64_t> s) {
      return list(s.take_front(2)) + ", " + std::to_string(s[2]) + ", " + std::to_string(s[3]);
    };
    std::string initialiser = "{" + list(op.getBatch()) + ", " + std::to_string(op.getM()) + ", " +
                              std::to_string(op.getN()) + ", " + std::to_string(op.getK()) + ", " +
                              matrix(op.getAStrides()) + ", " + matrix(op.getBStrides()) + ", " +
                              matrix(op.getCStrides()) + "}";
    int64_t batch = op.getBatch()[0] * op.getBatch()[1];
    std::string stem = "kGemm" + (batch > 1 ? std::to_string(batch) + "x" : std::string()) +
                       std::to_string(op.getM()) + "x" + std::to_string(op.getN()) + "x" + std::to_string(op.getK());
    SmallVector<std::string> arguments{"ctx", shapes.lookup("GemmShape", stem, initialiser), pointer(op.getA()),
                                       pointer(op.getB()), pointer(op.getC())};
    double alpha = op.getAlpha().convertToDouble(), beta = op.getBeta().convertToDouble();
    if (alpha != 1 || beta != 0 || op.getBias())
      arguments.push_back("{" + cxx::floatLiteral(op.getAlpha(), Float64Type::get(op.getContext())) + ", " +
                          cxx::floatLiteral(op.getBeta(), Float64Type::get(op.getContext())) +
                          (op.getBias() ? ", " + pointer(op.getBias()) : "") + "}");
    call("gemm", arguments);
  }

  void emit(device::ConvOp op) {
    ArrayRef<int64_t> x = op.getInputShape(), w = op.getWeightShape(), y = op.getOutputShape(), p = op.getPads();
    std::string initialiser = list({x[0], x[1], x[2], x[3], y[1], y[2], y[3], w[2], w[3]});
    initialiser.pop_back();
    initialiser += ", " + list(op.getStrides()) + ", " + list(p.take_front(2)) + ", " + list(p.drop_front(2)) + ", " +
                   list(op.getDilations()) + ", " + std::to_string(op.getGroups()) + "}";
    std::string shape = shapes.lookup("ConvShape", "kConv" + std::to_string(w[2]) + "x" + std::to_string(w[3]) + "_" +
                                      std::to_string(x[3]) + "to" + std::to_string(y[3]), initialiser);
    std::string input = pointer(op.getInput()), weights = pointer(op.getWeights()), output = pointer(op.getOutput());
    std::string type = cxx::memoryType(cast<device::PtrType>(op.getInput().getType()).getElement());
    switch (op.getKind()) {
    case device::ConvKind::Forward:
      return call("conv_forward<" + type + ">", {"ctx", shape, input, weights, "nullptr", output});
    case device::ConvKind::InputGrad:
      return call("conv_backward_data<" + type + ">", {"ctx", shape, output, weights, input});
    case device::ConvKind::WeightGrad:
      return call("conv_backward_weights<" + type + ">", {"ctx", shape, input, output, weights, "0"});
    }
  }

  void emit(device::PoolOp op) {
    ArrayRef<int64_t> x = op.getInputShape(), y = op.getOutputShape(), k = op.getKernel(), p = op.getPads();
    std::string initialiser = list({x[0], x[1], x[2], x[3], y[1], y[2], k[0], k[1]});
    initialiser.pop_back();
    initialiser += ", " + list(op.getStrides()) + ", " + list(p.take_front(2)) + ", " + list(p.drop_front(2)) + ", " +
                   list(op.getDilations()) + ", " + (op.getCountIncludePad() ? "1" : "0") + "}";
    std::string shape = shapes.lookup("PoolShape", "kPool" + std::to_string(k[0]) + "x" + std::to_string(k[1]), initialiser);
    std::string type = cxx::memoryType(cast<device::PtrType>(op.getInput().getType()).getElement());
    std::string input = pointer(op.getInput()), output = pointer(op.getOutput());
    switch (op.getKind()) {
    case device::PoolKind::Max:
      return call("max_pool_forward<" + type + ">", {"ctx", shape, input, output, pointer(op.getArgmax())});
    case device::PoolKind::MaxGrad:
      return call("max_pool_backward<" + type + ">", {"ctx", shape, output, pointer(op.getArgmax()), input});
    case device::PoolKind::Avg: return call("avg_pool_forward<" + type + ">", {"ctx", shape, input, output});
    case device::PoolKind::AvgGrad: return call("avg_pool_backward<" + type + ">", {"ctx", shape, output, input});
    }
  }

  void emit(device::ScatterAddOp op) {
    call("scatter_add_rows", {"ctx", pointer(op.getIndices()), std::to_string(op.getCount()), pointer(op.getUpdates()),
                              std::to_string(op.getRows()), std::to_string(op.getColumns()), pointer(op.getTable()), "0"});
  }

  void emit(device::ReportLossOp op) {
    SmallVector<std::string> arguments{"ctx", "state", pointer(op.getSum()), pointer(op.getWeight()), "1"};
    if (step.getKind() == train::StepKind::Evaluate)
      arguments.push_back("/*evaluating=*/true");
    call("add_loss", arguments);
  }

  void emit(device::GradNormOp op) {
    int64_t partial = 0;
    std::string scratch = pointer(op.getScratch());
    for (auto [gradient, count] : llvm::zip(op.getGradients(), op.getCounts())) {
      std::string target = partial ? scratch + " + " + std::to_string(partial) : scratch;
      call("sum_of_squares", {"ctx", pointer(gradient), std::to_string(count), target});
      constexpr int64_t kSpan = 8192; // of the runtime's sum_of_squares
      partial += llvm::divideCeil(count, kSpan);
    }
    call("finish_grad_norm", {"ctx", "state", "hyper", scratch, std::to_string(partial)});
  }

  void emit(device::AdamWOp op) {
    call("adamw", {"ctx", "state", "hyper", pointer(op.getParameter()), pointer(op.getFirstMoment()),
                   pointer(op.getSecondMoment()), pointer(op.getGradient()), std::to_string(op.getCount()),
                   op.getDecay() ? "/*decay=*/true" : "/*decay=*/false"});
  }

  void emit(device::SgdOp op) {
    std::string type = cxx::memoryType(cast<device::PtrType>(op.getParameter().getType()).getElement());
    std::string gradientType = cxx::memoryType(cast<device::PtrType>(op.getGradient().getType()).getElement());
    call("sgd<" + type + ", " + gradientType + ">",
         {"ctx", "state", "hyper", pointer(op.getParameter()), op.getMomentum() ? pointer(op.getMomentum()) : "nullptr",
          pointer(op.getGradient()), std::to_string(op.getCount()), op.getDecay() ? "/*decay=*/true" : "/*decay=*/false"});
  }

  void emit(device::CopyOp op) {
    std::string type = cxx::memoryType(cast<device::PtrType>(op.getSource().getType()).getElement());
    call("copy", {"ctx", pointer(op.getTarget()), pointer(op.getSource()),
                  std::to_string(op.getCount()) + " * sizeof(" + type + ")"});
  }

  void emit(device::AccumulateOp op) {
    call("accumulate", {"ctx", "state", pointer(op.getTarget()), pointer(op.getValue()), std::to_string(op.getCount())});
  }

  device::StepOp step;
  cxx::ShapeTable &shapes;
  raw_ostream &stream;
  StringAttr current, lastComment;
};

} // namespace

void cxx::printStep(device::StepOp step, StringRef name, ShapeTable &shapes, raw_ostream &stream) {
  StepPrinter(step, shapes, stream).print(name);
}
