//===- KernelBuilder.cpp - Lowers nn.fused to a kernel --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "KnownMultiples.h"
#include "LoopBounds.h"
#include "RowTotals.h"

#include "gpuopt/Analysis/Kernels/LeastValues.h"
#include "gpuopt/Analysis/Kernels/RowWalks.h"
#include "gpuopt/Analysis/Origins.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <numeric>

using namespace mlir;
using namespace gpuopt;
using device::AccessPattern;
using device::LoopKind;

namespace {

/// The block into which ops go, and the values that have been computed there.
struct Scope {
  OpBuilder::InsertPoint point;
  SmallVector<bool> available; ///< Loops whose index is known here.
  llvm::DenseMap<Value, Value> known{};
};

class KernelBody {
public:
  KernelBody(ImplicitLocOpBuilder &b, nn::FusedOp op, const KernelShape &shape,
             const LaunchShape &launch, Block *kernel)
      : b(b), op(op), body(op.getBody().front()), shape(shape), launch(launch),
        kernel(kernel), totals(b, body), index(shape.loops.size()),
        lane(shape.loops.size() - 1) {}

  void emit() {
    b.setInsertionPointToEnd(kernel);
    block = b.create<device::BlockIndexOp>(b.getIndexType());
    switch (launch.form) {
    case KernelForm::Flat:
      return emitFlat();
    case KernelForm::Rows:
      return emitRows();
    case KernelForm::RowReduction:
      return emitRowReduction();
    case KernelForm::ColumnReduction:
      return emitColumnReduction();
    }
  }

private:
  //===--------------------------------------------------------------------===//
  // The four forms
  //===--------------------------------------------------------------------===//

  void emitFlat() {
    auto [lower, upper] =
        spanOf(b, block, launch.span, shape.loops[lane].size, launch.blocks);
    multiple = multipleOf(shape.loops[lane].size, launch.span, launch.blocks);
    openScope(SmallVector<bool>(shape.loops.size(), false));
    loop(LoopKind::Lanes, lane, lower, upper, {}, [&] { storeOutputs(); });
  }

  void emitRows() {
    SmallVector<unsigned> outer = llvm::to_vector(llvm::seq<unsigned>(0, lane));
    multiple = multipleOf(shape.loops[lane].size);
    openScope(SmallVector<bool>(shape.loops.size(), false));
    auto emitRow = [&](Value row) {
      setDigits(row, outer);
      openScope(availability(outer));
      overColumns([&] { storeOutputs(); });
      scopes.pop_back();
    };
    if (launch.span == 1)
      return emitRow(block);
    const bool hasGroups = launch.groups > 1;
    if (hasGroups)
      multiple = multipleOfIterations(shape.loops[lane].size, launch);
    auto [lower, upper] =
        spanOf(b, block, launch.span, iterationsOf(shape, /*isReduced=*/false),
               launch.blocks);
    plainLoop(hasGroups ? LoopKind::RowGroups : LoopKind::Sequential, lower,
              upper, emitRow);
  }

  void emitRowReduction() {
    SmallVector<unsigned> kept, nested;
    for (unsigned dim = 0; dim < lane; ++dim)
      (shape.loops[dim].isReduced ? nested : kept).push_back(dim);
    const int64_t columns = shape.loops[lane].size;
    multiple = launch.rowStorage == RowStorage::Registers
                   ? multipleOfIterations(columns, launch)
                   : multipleOf(columns);
    openScope(SmallVector<bool>(shape.loops.size(), false));
    if (launch.groups == 1)
      return emitRow(block, kept, nested);
    totals.declare(columns);
    if (!totals.empty())
      overColumns([&] { totals.clear(index[lane]); });
    auto [lower, upper] =
        spanOf(b, block, launch.span, iterationsOf(shape, /*isReduced=*/false),
               launch.blocks);
    plainLoop(LoopKind::RowGroups, lower, upper,
              [&](Value row) { emitRow(row, kept, nested); });
    if (!totals.empty())
      overColumns([&] { storeTotals(); });
  }

  void storeTotals() {
    for (nn::PartialSumOp sum : totals.all()) {
      Value total = totals.ofGroups(sum, index[lane]);
      for (auto [output, tensor] : llvm::enumerate(yielded()))
        if (tensor == sum.getResult())
          store(output, total);
    }
  }

  void emitRow(Value row, ArrayRef<unsigned> kept, ArrayRef<unsigned> nested) {
    setDigits(row, kept);
    openScope(availability(kept));
    RowWalks walks(body, shape, launch);
    rowWalks = &walks;
    for (auto &[value, walk] : walks.kept())
      rows[value] = {
          b.create<device::RowOp>(device::PtrType::get(elementType(value)),
                                  shape.loops[lane].size,
                                  launch.rowStorage == RowStorage::Registers),
          walk};
    for (const RowWalks::Pick &pick : walks.picks())
      scopes.back().known[pick.sum->getResult(0)] = emitPick(pick);
    for (walk = 0; walk < walks.count(); ++walk)
      emitWalk(walks[walk], nested);
    storeOutputs();
    rowWalks = nullptr;
    scopes.pop_back();
  }

  /// Loads the element before anything of the row is written.
  Value emitPick(const RowWalks::Pick &pick) {
    auto integer = [&](int64_t number) {
      return arith::ConstantOp::create(b, b.getI64IntegerAttr(number));
    };
    Value label = value(pick.label), first = integer(0),
          end = integer(shape.loops[lane].size);
    Value isInRow = b.create<arith::AndIOp>(
        b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, label, first),
        b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, label, end));
    index[lane] = b.create<arith::SelectOp>(isInRow, label, first);
    openScope(availability(lane));
    isPicking = true;
    Value element = value(pick.row);
    isPicking = false;
    scopes.pop_back();
    Value zero =
        b.create<arith::ConstantOp>(b.getFloatAttr(element.getType(), 0));
    return b.create<arith::SelectOp>(isInRow, element, zero);
  }

  void emitWalk(const RowWalks::Walk &walk, ArrayRef<unsigned> nested) {
    if (walk.isEmpty())
      return;
    SmallVector<Value> results = nest(
        nested, walk.reductions, [&](ArrayRef<device::Combiner> combiners) {
          return loop(LoopKind::Lanes, lane, constant(0),
                      constant(shape.loops[lane].size), walk.reductions, [&] {
                        // A result may be written over what a sum reads.
                        for (nn::PartialSumOp sum : walk.sums)
                          totals.add(sum, value(sum.getInput()), index[lane]);
                        for (unsigned output : walk.outputs)
                          store(output, value(yielded()[output]));
                      });
        });
    for (auto [reduce, result] : llvm::zip(walk.reductions, results))
      scopes.back().known[reduce->getResult(0)] = result;
  }

  void emitColumnReduction() {
    SmallVector<unsigned> kept, reduced;
    for (unsigned dim = 0; dim < lane; ++dim)
      (shape.loops[dim].isReduced ? reduced : kept).push_back(dim);
    int64_t columns = shape.loops[lane].size,
            tiles = llvm::divideCeil(columns, launch.span);
    Value tile = block; // each block is one where no loop is kept
    if (!kept.empty() && tiles == 1) {
      setDigits(block, kept);
      tile = constant(0);
    } else if (!kept.empty()) {
      SmallVector<int64_t> sizes;
      for (unsigned dim : kept)
        sizes.push_back(shape.loops[dim].size);
      sizes.push_back(tiles);
      auto digits = delinearize(b, block, sizes);
      for (auto [dim, digit] : llvm::zip(kept, digits))
        index[dim] = digit;
      tile = digits.back();
    }
    auto [lower, upper] = spanOf(b, tile, launch.span, columns, tiles);
    multiple = multipleOf(columns, launch.span, tiles);
    if (launch.groups > 1) {
      // Each thread takes part in the sum of the groups, those behind the last
      // column too.
      if (columns % launch.span != 0)
        multiple = std::min(multiple, kMostLanes / 2);
      llvm::stable_sort(reduced, [&](unsigned a, unsigned b) {
        return shape.loops[a].size > shape.loops[b].size;
      });
    }
    openScope(availability(kept));
    loop(LoopKind::Lanes, lane, lower, upper, {}, [&] {
      SmallVector<nn::ReduceOp> reductions(body.getOps<nn::ReduceOp>());
      auto inputs = [&](ArrayRef<device::Combiner>) {
        auto values = llvm::map_to_vector(reductions, [&](nn::ReduceOp reduce) {
          return value(reduce.getInput());
        });
        storeOutputs(/*ofRows=*/true); // maybe over what the values are made of
        return values;
      };
      SmallVector<Value> results =
          nest(reduced, reductions, inputs,
               launch.groups > 1 ? LoopKind::RowGroups : LoopKind::Sequential);
      for (auto [reduce, result] : llvm::zip(reductions, results))
        scopes.back().known[reduce.getResult()] = result;
      storeOutputs();
    });
  }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  Value constant(int64_t number) {
    return b.create<arith::ConstantIndexOp>(number);
  }

  template <typename Inside>
  void overColumns(Inside inside) {
    loop(LoopKind::Lanes, lane, constant(0), constant(shape.loops[lane].size),
         {}, inside);
  }

  SmallVector<bool> availability(ArrayRef<unsigned> dims) const {
    SmallVector<bool> available(shape.loops.size(), false);
    for (unsigned dim : dims)
      available[dim] = true;
    return available;
  }

  void setDigits(Value linear, ArrayRef<unsigned> dims) {
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

  void openScope(SmallVector<bool> available) {
    if (!scopes.empty())
      for (size_t dim = 0; dim < available.size(); ++dim)
        available[dim] = available[dim] || scopes.back().available[dim];
    scopes.push_back({b.saveInsertionPoint(), std::move(available)});
  }

  device::Combiner combinerOf(nn::ReduceOp reduce) const {
    if (rowWalks && rowWalks->maximumBeside(reduce))
      return device::Combiner::SumExp;
    // The kinds have the same names.
    return *device::symbolizeCombiner(
        nn::stringifyReductionKind(reduce.getKind()));
  }

  static Type elementType(Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  }

  device::LoopOp createLoop(LoopKind kind, Value lower, Value upper,
                            ArrayRef<nn::ReduceOp> reductions,
                            int64_t multiple = 1, int64_t unroll = 1) {
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

  /// Builds a loop over dimension `dim`. Each iteration runs `inside` and
  /// contributes to the reductions, whose results it returns.
  template <typename Inside>
  SmallVector<Value> loop(LoopKind kind, unsigned dim, Value lower, Value upper,
                          ArrayRef<nn::ReduceOp> reductions, Inside inside) {
    device::LoopOp op = createLoop(kind, lower, upper, reductions, multiple);
    enter(op, dim, [&] {
      inside();
      return llvm::map_to_vector(reductions, [&](nn::ReduceOp reduce) {
        return value(rowWalks ? rowWalks->combinedBy(reduce)
                              : reduce.getInput());
      });
    });
    return llvm::to_vector(ValueRange(op.getResults()));
  }

  /// Runs `inside` within a loop's body and yields what it returns.
  template <typename Inside>
  void enter(device::LoopOp op, unsigned dim, Inside inside) {
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

  template <typename Inside>
  void plainLoop(LoopKind kind, Value lower, Value upper, Inside inside) {
    device::LoopOp op = createLoop(kind, lower, upper, {});
    b.setInsertionPointToEnd(&op.getBody().front());
    scopes.front().point = b.saveInsertionPoint();
    inside(op.getBody().front().getArgument(0));
    b.setInsertionPointToEnd(&op.getBody().front());
    b.create<device::YieldOp>(ValueRange());
    b.setInsertionPointAfter(op);
  }

  /// Builds loops over `dims` around `innermost`, which returns what each
  /// iteration contributes. The first loop is of `kind`, the others are
  /// sequential.
  template <typename Innermost>
  SmallVector<Value>
  nest(ArrayRef<unsigned> dims, ArrayRef<nn::ReduceOp> reductions,
       Innermost innermost, LoopKind kind = LoopKind::Sequential) {
    if (dims.empty())
      return innermost({});
    int64_t size = shape.loops[dims[0]].size,
            unroll = dims.size() == 1 ? std::min(launch.rowsInFlight, size) : 1,
            iterations =
                unroll * (kind == LoopKind::RowGroups ? launch.groups : 1);
    device::LoopOp op =
        createLoop(kind, constant(0), constant(size), reductions,
                   std::gcd(size, iterations), unroll);
    enter(op, dims[0],
          [&] { return nest(dims.drop_front(), reductions, innermost); });
    return llvm::to_vector(ValueRange(op.getResults()));
  }

  //===--------------------------------------------------------------------===//
  // Values and outputs
  //===--------------------------------------------------------------------===//

  ValueRange yielded() {
    return cast<nn::YieldOp>(body.getTerminator()).getValues();
  }

  /// Returns the outermost scope in which all indices are known that `value`
  /// depends on.
  Scope &scopeOf(Value value) {
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

  Value value(Value tensor) {
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
      b.create<device::StoreOp>(result, kept->second.memory, index[lane],
                                ArrayRef<int64_t>{1}, 0,
                                device::AccessPattern::Contiguous, kMostLanes);
    scope.known[tensor] = result;
    return result;
  }

  Value loadKept(Value memory) {
    Type type = cast<device::PtrType>(memory.getType()).getElement();
    return b.create<device::LoadOp>(
        type, memory, index[lane], ArrayRef<int64_t>{1}, 0,
        device::AccessPattern::Contiguous, kMostLanes);
  }

  Value compute(Operation *producer, ArrayRef<Value> operands) {
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
      return b.create<device::RandomOp>(
          type, state, position(random.getResult()), random.getStream());
    }
    if (auto inRange = dyn_cast<nn::InRangeOp>(producer))
      return b.create<device::InRangeOp>(
          b.getI64Type(), kernel->getArguments().back(), operands[0],
          position(inRange.getResult()), inRange.getSize(),
          originOf(inRange.getResult()));
    if (auto take = dyn_cast<nn::TakeOp>(producer)) {
      const Gather &gather = shape.gathers.find(take)->second;
      Value row = load(take.getIndices(), gather.index, {}, 0);
      return load(take.getTable(), gather.row, row, gather.rowStride);
    }
    OperationState state(loc, producer->getName(), operands, type,
                         producer->getAttrs());
    Operation *made = b.create(state);
    if (auto quotient = dyn_cast<arith::DivFOp>(producer);
        quotient && dividesByNormalNumber(quotient))
      cast<arith::DivFOp>(made).setFastmath(arith::FastMathFlags::arcp);
    return folded(made);
  }

  /// Replaces `op` by its value if it is arithmetic on constants, as in 1 != 0.
  /// Ops of the math dialect stay, because the runtime's own functions may
  /// differ from the compiler's in the last bit.
  Value folded(Operation *op) {
    SmallVector<Value> values;
    if (!isa<arith::ArithDialect>(op->getDialect()) ||
        failed(b.tryFold(op, values)))
      return op->getResult(0);
    op->erase();
    return values.front();
  }

  /// Returns the indices that the access depends on, and their strides.
  std::pair<SmallVector<Value>, SmallVector<int64_t>>
  indicesOf(const AffineAccess &access) {
    SmallVector<Value> indices;
    SmallVector<int64_t> strides;
    for (auto [dim, stride] : llvm::enumerate(access.strides))
      if (stride != 0) {
        indices.push_back(index[dim]);
        strides.push_back(stride);
      }
    return {indices, strides};
  }

  Value load(Value tensor, const AffineAccess &access, Value row,
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

  Value position(Value tensor) {
    const AffineAccess &access = shape.positions.find(tensor)->second;
    auto [indices, strides] = indicesOf(access);
    device::AccessPattern kind = patternOf(access.strides[lane]);
    int64_t alignment =
        kind == AccessPattern::Contiguous ? commonFactor(access) : 1;
    return b.create<device::PositionOp>(b.getI64Type(), indices, strides,
                                        access.offset, kind, alignment);
  }

  void store(unsigned output, Value scalar) {
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

  /// Stores the results that vary along reduced loops, or those that do not.
  void storeOutputs(bool ofRows = false) {
    for (auto [output, tensor] : llvm::enumerate(yielded()))
      if (variesAlongReduced(shape, tensor) == ofRows)
        store(output, value(tensor));
  }

  ImplicitLocOpBuilder &b;
  nn::FusedOp op;
  Block &body;
  const KernelShape &shape;
  const LaunchShape &launch;
  Block *kernel;
  RowTotals totals; ///< Of a row reduction.
  SmallVector<Value> index;
  unsigned lane;
  Value block;
  std::vector<Scope> scopes;

  /// A value of a row reduction that later walks read from memory.
  struct KeptRow {
    Value memory;
    unsigned walk; ///< The walk that computes it.
  };
  llvm::DenseMap<Value, KeptRow> rows;
  unsigned walk = 0;                  ///< The walk that is being emitted.
  const RowWalks *rowWalks = nullptr; ///< Of the row that is being emitted.
  bool isPicking = false; ///< All lanes load the element at index[lane].
  /// The numbers that the bounds of the loops over lanes are multiples of.
  int64_t multiple = 1;
};

} // namespace

device::KernelOp gpuopt::buildKernel(OpBuilder &builder, nn::FusedOp op,
                                     const KernelShape &shape,
                                     const LaunchShape &launch, StringRef name,
                                     ArrayRef<int64_t> aliased) {
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  SmallVector<Attribute> names;
  auto kernel = b.create<device::KernelOp>(
      name, launch.blocks, launch.threads, launch.groups, launch.residentBlocks,
      b.getArrayAttr(names), aliased, op.getLabel());
  Block *body = &kernel.getBody().emplaceBlock();
  auto addPointers = [&](ValueRange values, StringRef prefix) {
    for (auto [number, value] : llvm::enumerate(values)) {
      Type element = cast<RankedTensorType>(value.getType()).getElementType();
      body->addArgument(device::PtrType::get(element), b.getLoc());
      std::string suffix = values.size() > 1 ? std::to_string(number) : "";
      names.push_back(b.getStringAttr(prefix + suffix));
    }
  };
  addPointers(op.getInputs(), "x");
  addPointers(op.getResults(), "y");
  if (llvm::any_of(op.getBody().front(), [](Operation &inner) {
        return isa<nn::InRangeOp, nn::RandomUniformOp>(inner);
      })) {
    body->addArgument(device::StepStateType::get(b.getContext()), b.getLoc());
    names.push_back(b.getStringAttr("state"));
  }
  kernel.setArgumentNamesAttr(b.getArrayAttr(names));
  KernelBody(b, op, shape, launch, body).emit();
  builder.setInsertionPointAfter(kernel);
  return kernel;
}
