//===- Clusters.cpp - What will be one kernel each ------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/Clusters.h"

#include "gpuopt/Analysis/Kernels/ShiftedExp.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include <queue>

using namespace mlir;
using namespace gpuopt;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}
static int64_t elementsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

bool gpuopt::isFusible(Operation *op) {
  if (!op || op->getNumResults() != 1 ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  if (isa<nn::ReduceOp, nn::InRangeOp, nn::IotaOp, nn::RandomUniformOp,
          nn::TakeOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return OpTrait::hasElementwiseMappableTraits(op);
}

bool IterationSpace::isColumnReduction() const {
  if (reducedDims.empty())
    return false;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim)
    if (shape[dim] != 1)
      return !llvm::is_contained(reducedDims, dim);
  return false;
}

SmallVector<int64_t> IterationSpace::keptShape() const {
  SmallVector<int64_t> kept(shape);
  for (int64_t dim : reducedDims)
    kept[dim] = 1;
  return kept;
}

static IterationSpace spaceOf(Value value) {
  if (auto reduce = value.getDefiningOp<nn::ReduceOp>())
    return {llvm::to_vector(shapeOf(reduce.getInput())),
            llvm::to_vector(reduce.getDims())};
  return {llvm::to_vector(shapeOf(value)), {}};
}

static bool isConstant(Value value) {
  return value.getDefiningOp<arith::ConstantOp>() != nullptr;
}

namespace {

/// Limits the parameters of a kernel, for readers, and because a launch can
/// pass only so many.
constexpr unsigned kMaxReads = 24;
/// A value with more ops than this between it and memory is not computed twice.
constexpr unsigned kMaxChain = 48;

//===----------------------------------------------------------------------===//
// Decision 1: which values are stored
//===----------------------------------------------------------------------===//

class StorageDecision {
public:
  explicit StorageDecision(Block &block) : block(block) {}

  /// Returns the results of fusible ops that kernels write, in program order.
  llvm::SetVector<Value> run() {
    collectRequired();
    numberDepths();
    collectReaders();
    for (Operation &op : block)
      if (isFusible(&op) && !isConstant(op.getResult(0)))
        decide(op.getResult(0));
    llvm::SetVector<Value> ordered;
    for (Operation &op : block)
      if (isFusible(&op) && stored.contains(op.getResult(0)))
        ordered.insert(op.getResult(0));
    return ordered;
  }

private:
  /// The facts that are known of a kernel before clusters are formed: how many
  /// products deep it lies, its shape, and whether it reduces columns.
  using Reader = std::tuple<unsigned, SmallVector<int64_t>, bool>;

  void require(Value value) {
    value = sourceOf(value);
    if (isFusible(value.getDefiningOp()))
      stored.insert(value);
  }

  void collectRequired() {
    for (Operation &op : block) {
      if (isViewOp(&op))
        continue;
      for (Value operand : op.getOperands()) {
        bool onTheFly = isFusible(&op) && !isa<nn::TakeOp>(op);
        Value source = onTheFly ? skipBroadcasts(operand) : operand;
        if (!onTheFly || isViewOp(source.getDefiningOp()))
          require(source);
      }
      if (isa<nn::ReduceOp>(op))
        stored.insert(op.getResult(0));
    }
  }

  void numberDepths() {
    for (Operation &op : block) {
      unsigned deepest = 0;
      for (Value operand : op.getOperands())
        if (Operation *producer = operand.getDefiningOp())
          deepest = std::max(deepest, depth[producer]);
      depth[&op] = deepest + (!isFusible(&op) && !isViewOp(&op));
    }
  }

  /// Finds out which kernels would read each value if only what must be stored
  /// were stored.
  void collectReaders() {
    for (Operation &op : llvm::reverse(block)) {
      if (!isFusible(&op))
        continue;
      Value value = op.getResult(0);
      llvm::SetVector<unsigned> &own = readers[value];
      if (stored.contains(value)) {
        IterationSpace space = spaceOf(value);
        Reader reader{depth[&op], space.shape, space.isColumnReduction()};
        own.clear();
        own.insert(readerNumbers.try_emplace(reader, readerNumbers.size())
                       .first->second);
      }
      SmallVector<unsigned> all(own.begin(), own.end());
      for (Value operand : op.getOperands())
        readers[skipBroadcasts(operand)].insert(all.begin(), all.end());
    }
  }

  void decide(Value value) {
    Operation *op = value.getDefiningOp();
    llvm::SetVector<Value> read;
    unsigned length = 1;
    for (Value operand : op->getOperands()) {
      Value source = skipBroadcasts(operand);
      bool isLeaf =
          stored.contains(source) || !isFusible(source.getDefiningOp());
      if (!isLeaf)
        length += chain.lookup(source);
      if (isConstant(source) || elementsOf(source) * 4 < elementsOf(value))
        continue;
      if (isLeaf)
        read.insert(source);
      else
        read.insert_range(leaves.lookup(source));
    }
    chain[value] = length;
    leaves[value] = read;
    if (stored.contains(value))
      return;
    size_t kernels = readers[value].size();
    bool costly = kernels >= 2 &&
                  ((kernels - 1) * (read.size() - (read.empty() ? 0 : 1)) > 1 ||
                   length > kMaxChain);
    if (costly || feedsWideBroadcast(value))
      stored.insert(value);
  }

  /// Whether a value is a vector along the lanes that is repeated many times:
  /// it is computed once.
  bool feedsWideBroadcast(Value value) {
    ArrayRef<int64_t> shape = shapeOf(value);
    if (isa<nn::IotaOp, nn::RandomUniformOp>(value.getDefiningOp()) ||
        shape.empty() || shape.back() == 1)
      return false;
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return isa<nn::BroadcastOp>(user) &&
             elementsOf(user->getResult(0)) >= 8 * elementsOf(value);
    });
  }

  Block &block;
  llvm::DenseSet<Value> stored;
  llvm::DenseMap<Operation *, unsigned> depth;
  std::map<Reader, unsigned> readerNumbers;
  llvm::DenseMap<Value, llvm::SetVector<unsigned>> readers;
  llvm::DenseMap<Value, llvm::SetVector<Value>> leaves;
  llvm::DenseMap<Value, unsigned> chain;
};

//===----------------------------------------------------------------------===//
// Decision 2: which values one kernel writes
//===----------------------------------------------------------------------===//

class Grouping {
public:
  Grouping(Block &block, const llvm::SetVector<Value> &stored)
      : block(block), stored(stored) {
    for (auto [index, op] : llvm::enumerate(block))
      position[&op] = index;
  }

  Clustering run() {
    for (Operation &op : block) {
      if (isViewOp(&op))
        continue;
      if (!isFusible(&op))
        addOp(&op);
      else if (stored.contains(op.getResult(0)))
        addValue(op.getResult(0));
    }
    orderUnits();
    return std::move(result);
  }

private:
  /// A node of the graph that must stay free of cycles.
  struct Unit {
    Operation *op = nullptr;
    unsigned cluster = 0;
    unsigned first = 0;               ///< Position of its first op.
    llvm::SetVector<unsigned> reads;  ///< Units that it depends on.
    llvm::SetVector<unsigned> viewed; ///< Those of them that it reads through
                                      ///< other views than broadcasts, or
                                      ///< gathers from or by.
    llvm::SetVector<Value> memory;    ///< Values in memory that it reads.
  };

  void addOp(Operation *op) {
    Unit unit;
    unit.op = op;
    unit.first = position[op];
    for (Value operand : op->getOperands())
      readMemory(unit, sourceOf(operand));
    // Ops with effects stay in order.
    if (!isMemoryEffectFree(op)) {
      if (lastEffect)
        unit.reads.insert(*lastEffect);
      lastEffect = units.size();
      orderAfterReaders(op, unit);
    }
    unitOf[op] = units.size();
    noteVariableReaders(units.size(), unit);
    append(std::move(unit));
  }

  void noteVariableReaders(unsigned index, const Unit &unit) {
    for (Value value : unit.memory)
      if (auto read = sourceOf(value).getDefiningOp<train::ReadOp>())
        readersOfVariable[read.getVariableAttr()].insert(index);
  }

  /// Orders an op that changes a variable after all ops that read the old
  /// value.
  void orderAfterReaders(Operation *op, Unit &unit) {
    if (isa<train::ReadOp>(op))
      return;
    for (NamedAttribute attribute : op->getAttrs())
      if (auto name = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
        if (auto found = readersOfVariable.find(name);
            found != readersOfVariable.end())
          unit.reads.insert(found->second.begin(), found->second.end());
  }

  /// Notes that `unit` reads `source`, and which unit writes it, in `reads`.
  void readMemory(Unit &unit, Value source,
                  llvm::SetVector<unsigned> *reads = nullptr) {
    if (!reads)
      reads = &unit.reads;
    unit.memory.insert(sourceUpToSlice(source));
    Value value = sourceOf(source);
    if (Operation *producer = value.getDefiningOp()) {
      auto found = result.clusterOf.find(value);
      if (found != result.clusterOf.end())
        reads->insert(unitOfCluster[found->second]);
      else if (auto other = unitOf.find(producer); other != unitOf.end())
        reads->insert(other->second);
    }
  }

  /// Collects everything in memory that computing `value` reads.
  void collectReads(Value value, Unit &unit, llvm::DenseSet<Value> &seen) {
    bool isGather = isa<nn::TakeOp>(value.getDefiningOp());
    for (Value operand : value.getDefiningOp()->getOperands()) {
      Value source = skipBroadcasts(operand);
      bool isComputed = !isGather && isFusible(source.getDefiningOp());
      if (isComputed && isConstant(source))
        continue; // a number in the kernel's text
      if (isComputed && !stored.contains(source)) {
        if (seen.insert(source).second)
          collectReads(source, unit, seen);
      } else {
        readMemory(unit, source);
        if (isGather || isViewOp(source.getDefiningOp()))
          readMemory(unit, source, &unit.viewed);
      }
    }
  }

  void addValue(Value value) {
    Unit unit;
    llvm::DenseSet<Value> seen;
    collectReads(value, unit, seen);
    unit.first = position[value.getDefiningOp()];
    IterationSpace space = spaceOf(value);
    if (std::optional<unsigned> home = findHome(unit, space)) {
      join(*home, value, unit, space);
      return;
    }
    unit.cluster = result.clusters.size();
    result.clusters.push_back({space, {value}});
    result.clusterOf[value] = unit.cluster;
    unitOfCluster.push_back(units.size());
    noteReaders(units.size(), unit);
    append(std::move(unit));
  }

  void noteReaders(unsigned index, const Unit &unit) {
    noteVariableReaders(index, unit);
    for (Value value : unit.memory)
      if (!isSmall(value))
        readersOf[value].insert(index);
  }
  static bool isSmall(Value value) { return elementsOf(value) < 64; }

  /// Returns the latest cluster that a new value can join, or nothing.
  std::optional<unsigned> findHome(const Unit &unit,
                                   const IterationSpace &space) {
    llvm::SmallSet<unsigned, 8, std::greater<unsigned>> candidates;
    for (unsigned producer : unit.reads)
      if (!units[producer].op)
        candidates.insert(producer);
    for (Value value : unit.memory)
      if (auto found = readersOf.find(value); found != readersOf.end())
        candidates.insert(found->second.begin(), found->second.end());
    for (unsigned candidate : candidates)
      if (canJoin(candidate, unit, space))
        return candidate;
    return std::nullopt;
  }

  bool canJoin(unsigned candidate, const Unit &unit,
               const IterationSpace &space) {
    const Unit &home = units[candidate];
    std::optional<IterationSpace> joint =
        jointSpace(result.clusters[home.cluster].space, space);
    if (!joint)
      return false;
    if (unit.viewed.contains(candidate))
      return false; // reads other elements than the one being computed
    bool dependsDirectly = unit.reads.contains(candidate);
    if (joint->isColumnReduction() &&
        (dependsDirectly || space.reducedDims.empty() ||
         result.clusters[home.cluster].space.reducedDims.empty()))
      return false;
    llvm::SetVector<Value> memory = home.memory;
    memory.insert(unit.memory.begin(), unit.memory.end());
    if (memory.size() > kMaxReads)
      return false;
    return !closesCycle(candidate, unit);
  }

  /// Returns the iteration space that two kernels could share, or nothing.
  static std::optional<IterationSpace> jointSpace(const IterationSpace &a,
                                                  const IterationSpace &b) {
    if (a.shape == b.shape) {
      if (a.reducedDims.empty() || b.reducedDims.empty() ||
          a.reducedDims == b.reducedDims)
        return a.reducedDims.empty() ? b : a;
      return std::nullopt;
    }
    if (b.reducedDims.empty() && !a.reducedDims.empty() &&
        a.keptShape() == b.shape)
      return a;
    if (a.reducedDims.empty() && !b.reducedDims.empty() &&
        b.keptShape() == a.shape)
      return b;
    return std::nullopt;
  }

  /// Whether something that `unit` reads depends on `home`. If the two were
  /// one, it would have to run both before and after it.
  bool closesCycle(unsigned home, const Unit &unit) const {
    return ancestorsAbove(home, unit).contains(home);
  }

  /// Returns the units at or above `home` in `rank` that `unit` needs, directly
  /// or not; `home` is among them only where the path to it leads over another
  /// unit. A unit depends on lower ranks alone, so none
  /// below `home` needs to be visited.
  llvm::DenseSet<unsigned> ancestorsAbove(unsigned home,
                                          const Unit &unit) const {
    llvm::DenseSet<unsigned> seen;
    SmallVector<unsigned> stack;
    auto visit = [&](unsigned next) {
      if (rank[next] >= rank[home] && seen.insert(next).second)
        stack.push_back(next);
    };
    for (unsigned read : unit.reads)
      if (read != home)
        visit(read);
    while (!stack.empty())
      for (unsigned next : units[stack.pop_back_val()].reads)
        visit(next);
    return seen;
  }

  void append(Unit unit) {
    rank.push_back(units.size());
    byRank.push_back(units.size());
    units.push_back(std::move(unit));
  }

  /// Moves what `unit` needs to before `home`, which takes `unit` in. All other
  /// units in between keep their order: they may read what is moved, but
  /// nothing that is moved reads them.
  void raiseAncestors(unsigned home, const Unit &unit) {
    llvm::DenseSet<unsigned> ancestors = ancestorsAbove(home, unit);
    if (ancestors.empty())
      return;
    unsigned end = 0;
    for (unsigned ancestor : ancestors)
      end = std::max(end, rank[ancestor] + 1);
    std::stable_partition(
        byRank.begin() + rank[home], byRank.begin() + end,
        [&](unsigned other) { return ancestors.contains(other); });
    for (unsigned place = rank[home]; place < end; ++place)
      rank[byRank[place]] = place;
  }

  void join(unsigned home, Value value, const Unit &unit,
            const IterationSpace &space) {
    raiseAncestors(home, unit);
    Unit &target = units[home];
    Cluster &cluster = result.clusters[target.cluster];
    cluster.space = *jointSpace(cluster.space, space);
    cluster.outputs.push_back(value);
    result.clusterOf[value] = target.cluster;
    target.memory.insert(unit.memory.begin(), unit.memory.end());
    for (unsigned read : unit.reads)
      if (read != home)
        target.reads.insert(read);
    noteReaders(home, unit);
  }

  /// Computes a topological order that is as near to the program's order as
  /// possible.
  void orderUnits() {
    std::vector<unsigned> waiting(units.size(), 0);
    std::vector<SmallVector<unsigned>> readersOfUnit(units.size());
    using Entry = std::pair<unsigned, unsigned>; // first position, unit
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
    for (auto [index, unit] : llvm::enumerate(units)) {
      waiting[index] = unit.reads.size();
      for (unsigned read : unit.reads)
        readersOfUnit[read].push_back(index);
      if (unit.reads.empty())
        ready.push({unit.first, index});
    }
    while (!ready.empty()) {
      unsigned index = ready.top().second;
      ready.pop();
      result.order.push_back({units[index].op, units[index].cluster});
      for (unsigned reader : readersOfUnit[index])
        if (--waiting[reader] == 0)
          ready.push({units[reader].first, reader});
    }
    assert(result.order.size() == units.size() && "clusters form a cycle");
  }

  Block &block;
  const llvm::SetVector<Value> &stored;
  Clustering result;
  std::vector<Unit> units;
  /// A topological order of the units: a position for each unit, and the unit
  /// at each position. It is kept up to date, so that a cycle is found before
  /// it exists.
  std::vector<unsigned> rank, byRank;
  std::vector<unsigned> unitOfCluster;
  std::optional<unsigned> lastEffect;
  llvm::DenseMap<Operation *, unsigned> position, unitOf;
  llvm::DenseMap<Value, llvm::SetVector<unsigned>> readersOf;
  llvm::DenseMap<Attribute, llvm::SetVector<unsigned>> readersOfVariable;
};

} // namespace

Clustering gpuopt::findClusters(Block &block) {
  llvm::SetVector<Value> stored = StorageDecision(block).run();
  return Grouping(block, stored).run();
}
