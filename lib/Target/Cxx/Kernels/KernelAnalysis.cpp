//===- KernelAnalysis.cpp - What is decided before a kernel is printed ----===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/KernelAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;
using namespace gpuopt;

device::LoopOp cxx::enclosingLanesLoop(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (auto loop = dyn_cast<device::LoopOp>(parent);
        loop && loop.getKind() == device::LoopKind::Lanes)
      return loop;
  return {};
}

int64_t cxx::knownMultiple(device::LoopOp loop, int64_t alignment) {
  int64_t multiple =
      loop ? std::gcd<int64_t>(loop.getMultiple(), alignment) : 1;
  return multiple % 16 == 0  ? 16
         : multiple % 8 == 0 ? 8
         : multiple % 4 == 0 ? 4
                             : 1;
}

bool cxx::isFirstOfNeighbours(device::PositionOp op) {
  return op.getPattern() == device::AccessPattern::Contiguous &&
         llvm::all_of(op->getUsers(), llvm::IsaPred<device::RandomOp>);
}

bool cxx::isInRegisters(Value pointer) {
  auto row = pointer.getDefiningOp<device::RowOp>();
  return row && row.getInRegisters();
}

bool cxx::sharesRows(device::LoopOp lanesLoop) {
  return llvm::any_of(lanesLoop.getBody().getOps<device::LoopOp>(),
                      [](device::LoopOp inner) {
                        return inner.getKind() == device::LoopKind::RowGroups;
                      });
}

bool cxx::storesInFirstGroup(device::LoopOp lanesLoop) {
  return sharesRows(lanesLoop) ||
         !lanesLoop.getBody().getOps<device::CombineGroupsOp>().empty();
}

cxx::KernelAnalysis::KernelAnalysis(device::KernelOp kernel) {
  // Visits ops in order, so that operands are known before their uses, and the
  // body of a loop when the walk reaches its yield.
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    findVarying(op);
    countRest(op);
  });
  kernel.walk([&](Block *block) { findInlined(*block); });
}

//===----------------------------------------------------------------------===//
// What varies by lane
//===----------------------------------------------------------------------===//

/// Marks the results of a loop that vary by lane: those of a loop over row
/// groups, which are added up lane by lane, and those of a sequential loop that
/// combines lane by lane.
static void markLoopResults(device::YieldOp yield,
                            llvm::DenseSet<Value> &varying) {
  auto loop = cast<device::LoopOp>(yield->getParentOp());
  if (loop.getKind() == device::LoopKind::Lanes)
    return;
  for (auto [value, result] : llvm::zip(yield.getValues(), loop.getResults()))
    if (loop.getKind() == device::LoopKind::RowGroups ||
        varying.contains(value))
      varying.insert(result);
}

void cxx::KernelAnalysis::findVarying(Operation *op) {
  if (auto loop = dyn_cast<device::LoopOp>(op)) {
    if (loop.getKind() == device::LoopKind::Lanes)
      varying.insert(loop.getBody().getArgument(0));
    return;
  }
  if (auto yield = dyn_cast<device::YieldOp>(op))
    return markLoopResults(yield, varying);
  bool varies = llvm::any_of(
      op->getOperands(), [&](Value value) { return varying.contains(value); });
  if (auto load = dyn_cast<device::LoadOp>(op))
    varies = load.getPattern() != device::AccessPattern::Uniform;
  else if (auto position = dyn_cast<device::PositionOp>(op))
    varies = position.getPattern() != device::AccessPattern::Uniform;
  if (varies)
    varying.insert(op->getResults().begin(), op->getResults().end());
}

void cxx::KernelAnalysis::countRest(Operation *op) {
  device::LoopOp loop = enclosingLanesLoop(op);
  if (!loop)
    return;
  auto asksForRest = [&](auto access) {
    return access.getPattern() != device::AccessPattern::Uniform &&
           !isInRegisters(access.getPointer()) &&
           (access.getPattern() != device::AccessPattern::Contiguous ||
            knownMultiple(loop, access.getAlignment()) < 16);
  };
  if (auto load = dyn_cast<device::LoadOp>(op))
    restUses[loop] += asksForRest(load);
  else if (auto store = dyn_cast<device::StoreOp>(op))
    restUses[loop] += asksForRest(store);
  else if (auto check = dyn_cast<device::InRangeOp>(op))
    restUses[loop] += isVarying(check.getIndex());
  else if (auto yield = dyn_cast<device::YieldOp>(op);
           yield && yield->getParentOp() == loop && knownMultiple(loop) < 16)
    restUses[loop] += yield.getNumOperands();
}

//===----------------------------------------------------------------------===//
// What is written in place
//===----------------------------------------------------------------------===//

static bool writesMemory(Operation *op) {
  return op->walk([](device::StoreOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Whether the text of an op has an operand several times, or runs it in each
/// iteration of a loop.
static bool repeatsOperands(Operation *op) {
  return isa<device::DelinearizeOp, device::LoopOp>(op);
}

void cxx::KernelAnalysis::findInlined(Block &block) {
  // How many ops before each one write memory. Any write may change what a load
  // reads, since pointers may be equal.
  llvm::DenseMap<Operation *, unsigned> writesBefore;
  unsigned writes = 0;
  for (Operation &op : block) {
    writesBefore[&op] = writes;
    writes += writesMemory(&op);
  }
  llvm::DenseSet<Value> holdsLoad;
  for (Operation &op : block) {
    if (op.getNumResults() != 1 || op.getNumRegions() != 0)
      continue;
    Value value = op.getResult(0);
    if (isa<arith::ConstantOp>(op)) {
      inlined.insert(value);
      continue;
    }
    if (isa<device::LoadOp>(op) || llvm::any_of(op.getOperands(), [&](Value v) {
          return holdsLoad.contains(v);
        }))
      holdsLoad.insert(value);
    if (isa<device::BlockIndexOp, device::DelinearizeOp>(op) ||
        !value.hasOneUse())
      continue;
    Operation *user = *value.getUsers().begin();
    if (user->getBlock() != &block || repeatsOperands(user))
      continue;
    if (!holdsLoad.contains(value) || writesBefore[&op] == writesBefore[user])
      inlined.insert(value);
  }
}
