//===- KernelBody.cpp - The loops and values of a kernel ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBody.h"
#include "KnownMultiples.h"
#include "LoopBounds.h"

#include "gpuopt/Analysis/Origins.h"
#include <numeric>

using namespace mlir;
using namespace gpuopt;
using device::AccessPattern;
using device::LoopKind;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value KernelBody::constant(int64_t number) {
  return b.create<arith::ConstantIndexOp>(number);
}

void KernelBody::overColumns(llvm::function_ref<void()> inside) {
  loop(LoopKind::Lanes, lane, constant(0), constant(shape.loops[lane].size), {},
       inside);
}

SmallVector<bool> KernelBody::availability(ArrayRef<unsigned> dims) const {
  SmallVector<bool> available(shape.loops.size(), false);
  for (unsigned dim : dims)
    available[dim] = true;
  return available;
}

void KernelBody::setDigits(Value linear, ArrayRef<unsigned> dims) {
  if (dims.size() == 1)
    index[dims[0]] = linear;
  if (dims.size() < 2)
    return;
  SmallVector<int64_t> sizes;
  for (unsigned dim : dims)
    sizes.push_back(shape.loops[dim].size);
  for (auto [dim, digit] : llvm::zip(dims, delinearize(b, linear, sizes)))
    index[dim] = digit;
}

void KernelBody::openScope(SmallVector<bool> available) {
  if (!scopes.empty())
    for (size_t dim = 0; dim < available.size(); ++dim)
      available[dim] = available[dim] || scopes.back().available[dim];
  scopes.push_back({b.saveInsertionPoint(), std::move(available)});
}

device::Combiner KernelBody::combinerOf(nn::ReduceOp reduce) const {
  if (rowWalks && rowWalks->maximumBeside(reduce))
    return device::Combiner::SumExp;
  // The kinds have the same names.
  return *device::symbolizeCombiner(
      nn::stringifyReductionKind(reduce.getKind()));
}

Type KernelBody::elementType(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

device::LoopOp KernelBody::createLoop(LoopKind kind, Value lower, Value upper,
                                      ArrayRef<nn::ReduceOp> reductions,
                                      int64_t multiple, int64_t unroll) {
  SmallVector<Attribute> combiners;
  SmallVector<Type> types;
  for (nn::ReduceOp reduce : reductions) {
    combiners.push_back(
        device::CombinerAttr::get(b.getContext(), combinerOf(reduce)));
    types.push_back(elementType(reduce.getResult()));
  }
  auto loop = b.create<device::LoopOp>(types, kind, lower, upper, multiple,
                                       unroll, b.getArrayAttr(combiners));
  Block &inside = loop.getBody().emplaceBlock();
  inside.addArgument(b.getIndexType(), b.getLoc());
  return loop;
}

SmallVector<Value> KernelBody::loop(LoopKind kind, unsigned dim, Value lower,
                                    Value upper,
                                    ArrayRef<nn::ReduceOp> reductions,
                                    llvm::function_ref<void()> inside) {
  device::LoopOp op = createLoop(kind, lower, upper, reductions, multiple);
  enter(op, dim, [&] {
    inside();
    return llvm::map_to_vector(reductions, [&](nn::ReduceOp reduce) {
      return value(rowWalks ? rowWalks->combinedBy(reduce) : reduce.getInput());
    });
  });
  return llvm::to_vector(ValueRange(op.getResults()));
}

void KernelBody::enter(device::LoopOp op, unsigned dim,
                       llvm::function_ref<SmallVector<Value>()> inside) {
  // Values that turn out not to depend on this loop go before it.
  for (Scope &scope : scopes)
    if (scope.point.getBlock() == op->getBlock())
      scope.point = OpBuilder::InsertPoint(op->getBlock(), op->getIterator());
  Block &block = op.getBody().front();
  b.setInsertionPointToEnd(&block);
  index[dim] = block.getArgument(0);
  openScope(availability(dim));
  SmallVector<Value> values = inside();
  scopes.pop_back();
  b.setInsertionPointToEnd(&block);
  b.create<device::YieldOp>(values);
  b.setInsertionPointAfter(op);
  for (Scope &scope : scopes)
    if (scope.point.getBlock() == op->getBlock())
      scope.point = b.saveInsertionPoint();
}

void KernelBody::plainLoop(LoopKind kind, Value lower, Value upper,
                           llvm::function_ref<void(Value)> inside) {
  device::LoopOp op = createLoop(kind, lower, upper, {});
  b.setInsertionPointToEnd(&op.getBody().front());
  scopes.front().point = b.saveInsertionPoint();
  inside(op.getBody().front().getArgument(0));
  b.setInsertionPointToEnd(&op.getBody().front());
  b.create<device::YieldOp>(ValueRange());
  b.setInsertionPointAfter(op);
}

SmallVector<Value>
KernelBody::nest(ArrayRef<unsigned> dims, ArrayRef<nn::ReduceOp> reductions,
                 llvm::function_ref<SmallVector<Value>()> innermost,
                 LoopKind kind) {
  if (dims.empty())
    return innermost();
  int64_t size = shape.loops[dims[0]].size,
          unroll = dims.size() == 1 ? std::min(launch.rowsInFlight, size) : 1,
          iterations =
              unroll * (kind == LoopKind::RowGroups ? launch.groups : 1);
  device::LoopOp op = createLoop(kind, constant(0), constant(size), reductions,
                                 std::gcd(size, iterations), unroll);
  enter(op, dims[0],
        [&] { return nest(dims.drop_front(), reductions, innermost); });
  return llvm::to_vector(ValueRange(op.getResults()));
}

//===----------------------------------------------------------------------===//
// Values and outputs
//===----------------------------------------------------------------------===//

ValueRange KernelBody::yielded() {
  return cast<nn::YieldOp>(body.getTerminator()).getValues();
}

KernelBody::Scope &KernelBody::scopeOf(Value value) {
  const SmallVector<bool> &varies = shape.varies.find(value)->second;
  for (Scope &scope : scopes) {
    bool fits = true;
    for (auto [needed, available] : llvm::zip(varies, scope.available))
      fits &= !needed || available;
    if (fits)
      return scope;
  }
  llvm_unreachable("the innermost scope knows all indices");
}

Value KernelBody::value(Value tensor) {
  for (Scope &scope : scopes)
    if (auto found = scope.known.find(tensor); found != scope.known.end())
      return found->second;
  Operation *producer = tensor.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<nn::BroadcastOp>(producer))
    return value(broadcast.getInput());
  Scope &scope = scopeOf(tensor);
  auto kept = rows.find(tensor);
  if (kept != rows.end() && kept->second.walk < walk)
    return scope.known[tensor] = loadKept(kept->second.memory);
  SmallVector<Value> operands;
  if (producer && !isa<nn::TakeOp>(producer))
    for (Value operand : producer->getOperands())
      operands.push_back(value(operand));
  OpBuilder::InsertionGuard guard(b);
  if (&scope != &scopes.back())
    b.restoreInsertionPoint(scope.point);
  Value result =
      producer ? compute(producer, operands)
               : load(tensor, shape.arguments.find(tensor)->second, {}, 0);
  if (kept != rows.end())
    storeKept(result, kept->second.memory);
  scope.known[tensor] = result;
  return result;
}

std::pair<SmallVector<Value>, SmallVector<int64_t>>
KernelBody::keptColumn() const {
  if (!firstKept)
    return {{index[lane]}, {1}};
  return {{firstKept, index[lane]}, {-1, 1}};
}

Value KernelBody::loadKept(Value memory) {
  Type type = cast<device::PtrType>(memory.getType()).getElement();
  auto [indices, strides] = keptColumn();
  return b.create<device::LoadOp>(type, memory, indices, strides, 0,
                                  device::AccessPattern::Contiguous,
                                  kMostLanes);
}

void KernelBody::storeKept(Value scalar, Value memory) {
  auto [indices, strides] = keptColumn();
  b.create<device::StoreOp>(scalar, memory, indices, strides, 0,
                            device::AccessPattern::Contiguous, kMostLanes);
}

Value KernelBody::compute(Operation *producer, ArrayRef<Value> operands) {
  Location loc = producer->getLoc();
  Type type = elementType(producer->getResult(0));
  if (auto constant = dyn_cast<arith::ConstantOp>(producer))
    return arith::ConstantOp::create(
        b, loc,
        cast<TypedAttr>(cast<SplatElementsAttr>(constant.getValue())
                            .getSplatValue<Attribute>()));
  if (isa<nn::IotaOp>(producer))
    return position(producer->getResult(0));
  if (auto random = dyn_cast<nn::RandomUniformOp>(producer)) {
    Value state = kernel->getArguments().back();
    return b.create<device::RandomOp>(type, state, position(random.getResult()),
                                      random.getStream());
  }
  if (auto inRange = dyn_cast<nn::InRangeOp>(producer))
    return b.create<device::InRangeOp>(
        b.getI64Type(), kernel->getArguments().back(), operands[0],
        position(inRange.getResult()), inRange.getSize(),
        originOf(inRange.getResult()));
  if (auto take = dyn_cast<nn::TakeOp>(producer)) {
    const Gather &gather = shape.gathers.find(take)->second;
    // The rows of a table that was broadcast are one.
    Value row = gather.rowStride != 0
                    ? load(take.getIndices(), gather.index, {}, 0)
                    : Value();
    return load(take.getTable(), gather.row, row, gather.rowStride);
  }
  OperationState state(loc, producer->getName(), operands, type,
                       producer->getAttrs());
  return folded(b.create(state));
}

// Replaces `op` by its value if it is arithmetic on constants, as in 1 != 0.
// Ops of the math dialect stay, because the runtime's own functions may
// differ from the compiler's in the last bit.
Value KernelBody::folded(Operation *op) {
  SmallVector<Value> values;
  if (!isa<arith::ArithDialect>(op->getDialect()) ||
      failed(b.tryFold(op, values)) || values.empty()) // in place
    return op->getResult(0);
  op->erase();
  return values.front();
}

std::pair<SmallVector<Value>, SmallVector<int64_t>>
KernelBody::indicesOf(const AffineAccess &access) {
  SmallVector<Value> indices;
  SmallVector<int64_t> strides;
  for (auto [dim, stride] : llvm::enumerate(access.strides))
    if (stride != 0) {
      indices.push_back(index[dim]);
      strides.push_back(stride);
    }
  return {indices, strides};
}

Value KernelBody::load(Value tensor, const AffineAccess &access, Value row,
                       int64_t rowStride) {
  auto [indices, strides] = indicesOf(access);
  device::AccessPattern kind =
      isPicking ? AccessPattern::Uniform : patternOf(access.strides[lane]);
  if (row) {
    indices.insert(indices.begin(), row);
    strides.insert(strides.begin(), rowStride);
    auto rowLoad = row.getDefiningOp<device::LoadOp>();
    if (rowLoad && rowLoad.getPattern() != device::AccessPattern::Uniform)
      kind = device::AccessPattern::Indirect;
  }
  unsigned argument = cast<BlockArgument>(tensor).getArgNumber();
  int64_t alignment = kind == AccessPattern::Contiguous
                          ? alignmentOf(shape, argument, access, rowStride)
                          : 1;
  return b.create<device::LoadOp>(elementType(tensor),
                                  kernel->getArgument(argument), indices,
                                  strides, access.offset, kind, alignment);
}

Value KernelBody::position(Value tensor) {
  const AffineAccess &access = shape.positions.find(tensor)->second;
  auto [indices, strides] = indicesOf(access);
  device::AccessPattern kind = patternOf(access.strides[lane]);
  int64_t alignment =
      kind == AccessPattern::Contiguous ? commonFactor(access) : 1;
  return b.create<device::PositionOp>(b.getI64Type(), indices, strides,
                                      access.offset, kind, alignment);
}

void KernelBody::store(unsigned output, Value scalar) {
  const AffineAccess &access = shape.results[output];
  auto [indices, strides] = indicesOf(access);
  if (access.partStride != 0) {
    indices.insert(indices.begin(), block);
    strides.insert(strides.begin(), access.partStride);
  }
  unsigned argument = body.getNumArguments() + output;
  b.create<device::StoreOp>(
      scalar, kernel->getArgument(argument), indices, strides, access.offset,
      patternOf(access.strides[lane]),
      alignmentOf(shape, argument, access, access.partStride));
}

void KernelBody::storeOutputs(bool ofRows) {
  for (auto [output, tensor] : llvm::enumerate(yielded()))
    if (variesAlongReduced(shape, tensor) == ofRows)
      store(output, value(tensor));
}
