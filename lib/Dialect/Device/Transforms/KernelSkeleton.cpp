//===- KernelSkeleton.cpp - A kernel without its numbers ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSkeleton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gpuopt::device;

namespace {

class FormBuilder {
public:
  FormBuilder(int64_t leastColumns) : leastColumns(leastColumns) {}

  KernelSkeleton build(KernelOp kernel) {
    stream << kernel.getComment() << " groups " << kernel.getGroups();
    // Their width is part of the text, and so are loops over rows that are in
    // registers, which are unrolled.
    bool isFixed = kernel.getGroups() > 1 || kernel.hasRowsInRegisters();
    if (isFixed)
      stream << " of " << kernel.getWidth();
    llvm::interleaveComma(kernel.getAliased(), stream << " aliased ");
    leastColumns = isFixed ? INT64_MAX : leastColumns;
    describe(kernel.getBody().front());
    return std::move(form);
  }

private:
  void describe(Block &block) {
    stream << "(";
    for (BlockArgument argument : block.getArguments()) {
      names.try_emplace(argument, names.size());
      stream << argument.getType() << ",";
    }
    stream << "){\n";
    for (Operation &op : block)
      describe(&op);
    stream << "}";
  }

  void describe(Operation *op) {
    stream << op->getName();
    for (Value operand : op->getOperands())
      stream << " %" << names.lookup(operand);
    for (Value result : op->getResults()) {
      names.try_emplace(result, names.size());
      stream << " -> " << result.getType();
    }
    describeAttributes(op);
    for (Region &region : op->getRegions())
      describe(region.front());
    stream << "\n";
  }

  void describeAttributes(Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return describeConstant(constant);
    for (NamedAttribute attribute : op->getAttrs())
      if (attribute.getName() == "strides")
        describeStrides(op, cast<DenseI64ArrayAttr>(attribute.getValue()));
      else if (attribute.getName() == "offset")
        describeOffset(op, cast<IntegerAttr>(attribute.getValue()));
      else
        stream << " " << attribute.getName().getValue() << "="
               << attribute.getValue();
  }

  //===--------------------------------------------------------------------===//
  // Numbers
  //===--------------------------------------------------------------------===//

  void add(Operation *op, KernelNumber::Kind kind, unsigned index,
           TypedAttr value, StringRef role) {
    form.numbers.push_back({op, kind, index, value, role.str()});
    stream << " #";
  }

  /// Returns the role of a constant, from how its users use it.
  static StringRef roleOf(arith::ConstantOp constant) {
    for (Operation *user : constant->getUsers()) {
      if (auto loop = dyn_cast<LoopOp>(user))
        return loop.getLower() == constant.getResult() ? "first"
               : loop.getKind() == LoopKind::Lanes     ? "columns"
                                                       : "rows";
      if (isa<arith::MinSIOp>(user))
        return "size";
      if (isa<arith::MulFOp>(user))
        return "factor";
      if (isa<arith::DivFOp>(user))
        return "divisor";
      if (isa<arith::AddFOp, arith::SubFOp>(user))
        return "term";
    }
    return isa<IndexType>(constant.getType()) ? "span" : "value";
  }

  void describeConstant(arith::ConstantOp constant) {
    Type type = constant.getType();
    StringRef role = roleOf(constant);
    auto size = dyn_cast<IntegerAttr>(constant.getValue());
    bool isNumber = isa<IndexType>(type)
                        ? size.getInt() != 0 && (role != "columns" ||
                                                 size.getInt() >= leastColumns)
                        : type.isF32() || type.isF64();
    if (isNumber)
      add(constant, KernelNumber::Kind::Constant, 0, constant.getValue(), role);
    else
      stream << " " << constant.getValue();
  }

  /// The index of a loop over lanes goes up by the same stride in all kernels.
  static bool isLaneIndex(Value index) {
    auto argument = dyn_cast<BlockArgument>(index);
    auto loop = argument ? dyn_cast<LoopOp>(argument.getOwner()->getParentOp())
                         : nullptr;
    return loop && loop.getKind() == LoopKind::Lanes;
  }
  static bool isLoopIndex(Value index) { return isa<BlockArgument>(index); }

  static OperandRange indicesOf(Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      return load.getIndices();
    if (auto store = dyn_cast<StoreOp>(op))
      return store.getIndices();
    return cast<PositionOp>(op).getIndices();
  }

  void describeStrides(Operation *op, DenseI64ArrayAttr strides) {
    stream << " strides";
    for (auto [index, stride] : llvm::enumerate(strides.asArrayRef())) {
      Value value = indicesOf(op)[index];
      if (stride <= 0 || isLaneIndex(value) || !value.getType().isIndex())
        stream << " " << stride;
      else
        add(op, KernelNumber::Kind::Stride, index,
            IntegerAttr::get(IndexType::get(op->getContext()), stride),
            isLoopIndex(value) ? "row_stride" : "block_stride");
    }
  }

  void describeOffset(Operation *op, IntegerAttr offset) {
    if (offset.getInt() <= 0)
      stream << " offset " << offset.getInt();
    else
      add(op, KernelNumber::Kind::Offset, 0,
          IntegerAttr::get(IndexType::get(op->getContext()), offset.getInt()),
          "offset");
  }

  int64_t leastColumns;
  KernelSkeleton form;
  llvm::raw_string_ostream stream{form.text};
  llvm::DenseMap<Value, unsigned> names;
};

/// Calls `change` with the op cast to its class of access.
template <typename Function>
void withAccess(Operation *op, Function change) {
  if (auto load = dyn_cast<LoadOp>(op))
    change(load);
  else if (auto store = dyn_cast<StoreOp>(op))
    change(store);
  else
    change(cast<PositionOp>(op));
}

} // namespace

KernelSkeleton gpuopt::device::skeletonOf(KernelOp kernel,
                                          int64_t leastColumns) {
  return FormBuilder(leastColumns).build(kernel);
}

/// Replaces a stride by an argument: the index is multiplied by it and gets
/// stride 1.
static void replaceStride(Operation *op, unsigned index, Value argument) {
  OpBuilder builder(op);
  withAccess(op, [&](auto access) {
    OpOperand &operand = access.getIndicesMutable()[index];
    operand.set(
        arith::MulIOp::create(builder, op->getLoc(), operand.get(), argument));
    auto strides = llvm::to_vector(access.getStrides());
    strides[index] = 1;
    access.setStrides(strides);
  });
}

static void replaceOffset(Operation *op, Value argument) {
  withAccess(op, [&](auto access) {
    access.getIndicesMutable().append(argument);
    auto strides = llvm::to_vector(access.getStrides());
    strides.push_back(1);
    access.setStrides(strides);
    access.setOffset(0);
  });
}

void gpuopt::device::replaceNumber(const KernelNumber &number, Value argument) {
  switch (number.kind) {
  case KernelNumber::Kind::Constant:
    number.op->getResult(0).replaceAllUsesWith(argument);
    number.op->erase();
    return;
  case KernelNumber::Kind::Stride:
    return replaceStride(number.op, number.index, argument);
  case KernelNumber::Kind::Offset:
    return replaceOffset(number.op, argument);
  }
}
