//===- KernelBuilder.cpp - Lowers nn.fused to a kernel --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "ColumnValues.h"
#include "KernelBody.h"
#include "KnownMultiples.h"
#include "LoopBounds.h"
#include <numeric>

using namespace mlir;
using namespace gpuopt;
using device::LoopKind;

namespace {

/// The forms of kernels, each with its loops from the outside in.
class KernelForms : public KernelBody {
public:
  using KernelBody::KernelBody;

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
  void emitFlat() {
    auto [lower, upper] =
        spanOf(b, block, launch.span, shape.loops[lane].size, launch.blocks);
    multiple = multipleOf(shape.loops[lane].size, launch.span, launch.blocks);
    openScope(SmallVector<bool>(shape.loops.size(), false));
    loop(LoopKind::Lanes, lane, lower, upper, {}, [&] { storeOutputs(); });
  }

  /// Goes along the columns and, within each vector of them, along the rows.
  void emitTiles() {
    const unsigned row = lane - 1;
    const int64_t rowCount = shape.loops[row].size,
                  tiles = llvm::divideCeil(rowCount, launch.span);
    SmallVector<unsigned> outer = llvm::to_vector(llvm::seq<unsigned>(0, row));
    SmallVector<int64_t> sizes;
    for (unsigned dim : outer)
      sizes.push_back(shape.loops[dim].size);
    sizes.push_back(tiles);
    SmallVector<Value> digits{block};
    if (sizes.size() > 1)
      digits = delinearize(b, block, sizes);
    for (auto [dim, digit] : llvm::zip(outer, digits))
      index[dim] = digit;
    auto [lower, upper] =
        spanOf(b, digits.back(), launch.span, rowCount, tiles);
    multiple = multipleOf(shape.loops[lane].size);
    openScope(availability(outer));
    overColumns([&, lower = lower, upper = upper] {
      device::LoopOp rows =
          createLoop(LoopKind::Sequential, lower, upper, {},
                     multipleOf(rowCount, launch.span, tiles), kTileRows);
      enter(rows, row, [&] {
        storeOutputs();
        return SmallVector<Value>();
      });
    });
  }

  /// Goes down each vector of columns, in batches of the block's rows.
  void emitRowsInBatches() {
    const int64_t rows = shape.loops.front().size;
    auto [lower, upper] = spanOf(b, block, launch.span, rows, launch.blocks);
    multiple = multipleOf(shape.loops[lane].size);
    openScope(SmallVector<bool>(shape.loops.size(), false));
    overColumns([&, lower = lower, upper = upper] {
      device::LoopOp loop =
          createLoop(LoopKind::RowGroups, lower, upper, {},
                     std::gcd(rows, launch.span), launch.rowsInFlight);
      enter(loop, /*dim=*/0, [&] {
        storeOutputs();
        return SmallVector<Value>();
      });
    });
  }

  void emitRows() {
    if (launch.readsTiles)
      return emitTiles();
    if (launch.rowsInFlight > 1)
      return emitRowsInBatches();
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
    SmallVector<Value> results = nest(nested, walk.reductions, [&] {
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
    SmallVector<nn::ReduceOp> reductions(body.getOps<nn::ReduceOp>());
    if (launch.sumsInMemory)
      if (auto columns = columnValuesOf(body, shape))
        return emitAlongRows(lower, upper, tiles, reduced, *columns);
    loop(LoopKind::Lanes, lane, lower, upper, {}, [&] {
      auto inputs = [&] {
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

  /// Adds up columns row by row, as they lie in memory. The sums, and what all
  /// rows need of a column, are in memory of the block.
  void emitAlongRows(Value lower, Value upper, int64_t tiles,
                     ArrayRef<unsigned> reduced, ArrayRef<Value> columns) {
    SmallVector<nn::ReduceOp> reductions(body.getOps<nn::ReduceOp>());
    auto addRow = [&](Value tensor) -> Value {
      return b.create<device::RowOp>(device::PtrType::get(elementType(tensor)),
                                     launch.span, /*inRegisters=*/false);
    };
    auto sums = llvm::map_to_vector(
        reductions, [&](nn::ReduceOp sum) { return addRow(sum.getResult()); });
    for (Value column : columns)
      rows[column] = {addRow(column), /*walk=*/0};
    firstKept = tiles > 1 ? lower : Value();
    loop(LoopKind::Lanes, lane, lower, upper, {}, [&] {
      for (Value sum : sums) {
        Type type = cast<device::PtrType>(sum.getType()).getElement();
        storeKept(b.create<arith::ConstantOp>(b.getFloatAttr(type, 0)), sum);
      }
      for (Value column : columns)
        value(column);
    });
    walk = 1;
    nest(reduced, {}, [&] {
      loop(LoopKind::Lanes, lane, lower, upper, {}, [&] {
        for (auto [reduce, sum] : llvm::zip(reductions, sums))
          storeKept(
              b.create<arith::AddFOp>(loadKept(sum), value(reduce.getInput())),
              sum);
        storeOutputs(/*ofRows=*/true); // maybe over what was added
      });
      return SmallVector<Value>();
    });
    loop(LoopKind::Lanes, lane, lower, upper, {}, [&] {
      for (auto [reduce, sum] : llvm::zip(reductions, sums))
        scopes.back().known[reduce.getResult()] = loadKept(sum);
      storeOutputs();
    });
  }
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
  KernelForms(b, op, shape, launch, body).emit();
  builder.setInsertionPointAfter(kernel);
  return kernel;
}
