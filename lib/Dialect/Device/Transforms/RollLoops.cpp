//===- RollLoops.cpp - Writes repeated calls as a loop --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The layers of a model make the same calls on different buffers, and work that
// is done in chunks makes them on different parts of the same buffers. This
// pass writes such calls once, as the body of a loop. Here, a call is an op of
// a step together with the addresses before it that are its operands. Two calls
// are equal if they differ in nothing but where these addresses point to, and
// in the names of where they come from. Within a memory budget, layers differ
// in what they compute again; such calls may stand in the loop under a
// condition. Assumes what convert-to-device leaves: each address has one reader
// and stands before it. The calls that are made, their order and what they read
// and write are the same afterwards, which device-unroll-loops shows.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/Transforms/Passes.h"

#include "CallSequence.h"
#include "ColumnNames.h"
#include "LoopWriter.h"
#include "OptionalCalls.h"
#include "RepeatedRuns.h"
#include <map>
#include <set>

namespace gpuopt::device {
#define GEN_PASS_DEF_ROLLLOOPS
#include "gpuopt/Dialect/Device/Transforms/Passes.h.inc"
} // namespace gpuopt::device

using namespace mlir;
using namespace gpuopt::device;

/// A loop has at least 3 iterations and saves at least 8 calls, because its
/// table of buffers takes lines, too.
static constexpr unsigned kLeastIterations = 3, kLeastSaved = 8;

//===----------------------------------------------------------------------===//
// Runs of equal calls
//===----------------------------------------------------------------------===//

namespace {

/// The calls of a sequence in which runs are looked for: all, or only those
/// that are not optional.
struct Selection {
  Selection(const CallSequence &sequence, bool withOptional) {
    for (unsigned i = 0; i < sequence.calls.size(); ++i)
      if (withOptional || !sequence.isOptional[i]) {
        indices.push_back(i);
        numbers.push_back(sequence.numbers[i]);
        calls.push_back(&sequence.calls[i]);
      }
  }

  std::vector<unsigned> indices, numbers;
  std::vector<const Call *> calls;
};

} // namespace

/// Returns the part by which the node names of two iterations differ first: the
/// number of the layer.
static StringRef layerOf(Operation *call, Operation *next) {
  auto comment = call->getAttrOfType<StringAttr>("comment"),
       other = next->getAttrOfType<StringAttr>("comment");
  if (!comment || !other)
    return "";
  for (auto [part, otherPart] : llvm::zip(partsOf(comment), partsOf(other)))
    if (part.first != otherPart.first)
      return part.first;
  return "";
}

/// Returns by how many calls the start of a run should move so that one
/// iteration contains calls of as few layers as possible.
static unsigned alignToLayers(ArrayRef<const Call *> calls,
                              const RepeatedRun &run) {
  unsigned best = 0;
  size_t fewest = SIZE_MAX;
  for (unsigned shift = 0; shift <= run.slack; ++shift) {
    llvm::StringSet<> layers;
    for (unsigned i = run.first + shift; i < run.first + shift + run.period;
         ++i)
      layers.insert(layerOf(calls[i]->op, calls[i + run.period]->op));
    if (layers.size() < fewest) {
      fewest = layers.size();
      best = shift;
    }
  }
  return best;
}

/// Returns the runs that become loops. A run that may begin at several calls
/// begins where its iterations are those of a run that may not, so that the
/// loops can share a function.
static std::vector<RepeatedRun> findRuns(const Selection &selection) {
  auto iterationAt = [&](unsigned first, unsigned period) {
    return ArrayRef(selection.numbers).slice(first, period).vec();
  };
  std::set<std::vector<unsigned>> fixed;
  auto align = [&](const RepeatedRun &run) {
    for (unsigned shift = 0; shift <= run.slack; ++shift)
      if (fixed.count(iterationAt(run.first + shift, run.period)))
        return shift;
    return alignToLayers(selection.calls, run);
  };
  auto find = [&] {
    return findRepeatedRuns(selection.numbers, kLeastIterations, kLeastSaved,
                            align);
  };
  for (const RepeatedRun &run : find())
    if (run.slack == 0)
      fixed.insert(iterationAt(run.first, run.period));
  return find();
}

/// Whether the iterations of a loop are chunks of the same work rather than
/// layers: all have the same names, and an operand moves on within a buffer.
static bool isOverChunks(ArrayRef<const Call *> calls, unsigned period) {
  for (size_t i = period; i < calls.size(); ++i)
    if (calls[i]->op->getAttr("comment") !=
        calls[i % period]->op->getAttr("comment"))
      return false;
  auto movesOn = [&](unsigned index, unsigned number) {
    auto addressIn = [&](size_t i) {
      return cast<AddressOp>(calls[i]->addresses[number]);
    };
    bool isElsewhere = false;
    for (size_t i = index + period; i < calls.size(); i += period) {
      if (addressIn(i).getBuffer() != addressIn(index).getBuffer())
        return false;
      isElsewhere |=
          addressIn(i).getElements() != addressIn(index).getElements();
    }
    return isElsewhere;
  };
  for (unsigned index = 0; index < period; ++index)
    for (unsigned i = 0; i < calls[index]->addresses.size(); ++i)
      if (movesOn(index, i))
        return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Loops with optional calls
//===----------------------------------------------------------------------===//

namespace {

/// Loops of equal calls, in the order of the step.
struct LoopGroup {
  std::vector<Loop> loops;
  unsigned places = 0, conditions = 0;
  bool areChunks = false;
};

/// Finds the loops of a step.
class LoopFinder {
public:
  /// With `withConditions`, the calls that compute something again need not be
  /// made by all iterations of a loop.
  LoopFinder(const CallSequence &sequence, bool withConditions)
      : sequence(sequence), selection(sequence, !withConditions) {
    std::map<std::vector<unsigned>, std::vector<RepeatedRun>> equal;
    for (const RepeatedRun &run : findRuns(selection)) {
      auto calls = ArrayRef(selection.calls).slice(run.first, run.size());
      if (isOverChunks(calls, run.period)) {
        groups.push_back(groupOf({run}));
        groups.back().areChunks = true;
        continue;
      }
      equal[ArrayRef(selection.numbers).slice(run.first, run.period).vec()]
          .push_back(run);
    }
    for (const auto &[numbers, runs] : equal)
      groups.push_back(groupOf(runs));
  }

  /// Returns how many calls and conditions there are to read in all.
  unsigned length() const {
    unsigned length = sequence.calls.size();
    for (const LoopGroup &group : groups) {
      length += group.places + group.conditions;
      for (const Loop &loop : group.loops)
        length -= countCalls(loop);
    }
    return length;
  }

  static unsigned countCalls(const Loop &loop) {
    unsigned count = 0;
    for (const Iteration &iteration : loop.iterations)
      count += llvm::count_if(iteration, [](const Call *call) { return call; });
    return count;
  }

  std::vector<LoopGroup> groups;

private:
  /// A call that an iteration must make, and the optional calls before it, by
  /// their indices in the sequence.
  struct RequiredCall {
    std::vector<unsigned> optional;
    unsigned index;
  };

  /// Returns the calls of a run, with all optional calls before each of them.
  std::vector<RequiredCall> requiredCallsOf(const RepeatedRun &run) const {
    std::vector<RequiredCall> required;
    for (unsigned i = run.first; i < run.first + run.size(); ++i) {
      unsigned begin = i == 0 ? 0 : selection.indices[i - 1] + 1;
      required.push_back({{}, selection.indices[i]});
      for (unsigned index = begin; index < selection.indices[i]; ++index)
        required.back().optional.push_back(index);
    }
    return required;
  }

  std::vector<unsigned> numbersOf(ArrayRef<unsigned> calls) const {
    std::vector<unsigned> numbers;
    for (unsigned call : calls)
      numbers.push_back(sequence.numbers[call]);
    return numbers;
  }

  LoopGroup groupOf(ArrayRef<RepeatedRun> runs) const {
    const unsigned period = runs.front().period;
    std::vector<std::vector<RequiredCall>> required;
    for (const RepeatedRun &run : runs)
      required.push_back(requiredCallsOf(run));
    // What stands before the first call of a loop is not within it, and belongs
    // to it only if other iterations have the same at that place.
    std::vector<std::vector<unsigned>> merged(period);
    for (const std::vector<RequiredCall> &ofRun : required)
      for (size_t i = 1; i < ofRun.size(); ++i)
        merged[i % period] =
            mergeSequences(merged[i % period], numbersOf(ofRun[i].optional));
    LoopGroup group;
    for (std::vector<RequiredCall> &ofRun : required) {
      std::vector<unsigned> &before = ofRun.front().optional;
      unsigned count = countLastWithin(numbersOf(before), merged[0]);
      before.erase(before.begin(), before.end() - count);
      Loop &loop = group.loops.emplace_back();
      for (size_t i = 0; i < ofRun.size(); i += period)
        loop.iterations.push_back(
            iterationOf(ArrayRef(ofRun).slice(i, period), merged));
    }
    group.places = group.loops.front().iterations.front().size();
    for (unsigned place = 0; place < group.places; ++place)
      group.conditions += llvm::any_of(group.loops, [&](const Loop &loop) {
        return llvm::any_of(loop.iterations, [&](const Iteration &iteration) {
          return !iteration[place];
        });
      });
    return group;
  }

  Iteration iterationOf(ArrayRef<RequiredCall> required,
                        ArrayRef<std::vector<unsigned>> merged) const {
    Iteration iteration;
    for (auto [call, numbers] : llvm::zip(required, merged)) {
      for (std::optional<unsigned> index :
           findPart(numbersOf(call.optional), numbers))
        iteration.push_back(index ? &sequence.calls[call.optional[*index]]
                                  : nullptr);
      iteration.push_back(&sequence.calls[call.index]);
    }
    return iteration;
  }

  const CallSequence &sequence;
  Selection selection;
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

class RollLoops : public gpuopt::device::impl::RollLoopsBase<RollLoops> {
  void runOnOperation() override {
    const SymbolTable symbols(getOperation());
    llvm::StringMap<unsigned> names;
    for (StepOp step : getOperation().getOps<StepOp>())
      rollStep(step, symbols, names);
  }

  /// Rolls the calls of a step. `names` counts the loops by their names.
  void rollStep(StepOp step, const SymbolTable &symbols,
                llvm::StringMap<unsigned> &names) {
    CallSequence sequence(step, symbols);
    LoopFinder plain(sequence, /*withConditions=*/false);
    std::vector<LoopGroup> groups = plain.groups;
    if (llvm::is_contained(sequence.isOptional, true)) {
      LoopFinder other(sequence, /*withConditions=*/true);
      if (other.length() < plain.length())
        groups = std::move(other.groups);
    }
    nameLoops(step, groups, names);
    for (LoopGroup &group : groups) {
      loopCount += group.loops.size();
      for (const Loop &loop : group.loops)
        callCount += LoopFinder::countCalls(loop);
      LoopWriter(std::move(group.loops), symbols).write();
    }
    shareFunctions(step);
  }

  /// Names loops after the section of the step that they are in, in their
  /// order: "forward_layers", and for the second loop "forward_layers_2".
  static void nameLoops(StepOp step, std::vector<LoopGroup> &groups,
                        llvm::StringMap<unsigned> &names) {
    std::map<const Call *, std::pair<Loop *, bool>> inOrder;
    for (LoopGroup &group : groups)
      for (Loop &loop : group.loops) // its last call is one that it must make
        inOrder[loop.iterations.front().back()] = {&loop, group.areChunks};
    for (auto &[call, found] : inOrder) {
      auto [loop, areChunks] = found;
      std::string name = sectionName(step, call->op).str() +
                         (areChunks ? "_chunks" : "_layers");
      unsigned count = ++names[name];
      loop->name = count == 1 ? name : name + "_" + std::to_string(count);
    }
  }

  /// Gives loops that have the same calls a function: "backward_layer" where
  /// the first of them is "backward_layers".
  static void shareFunctions(StepOp step) {
    auto loops = llvm::to_vector(step.getBody().getOps<RepeatOp>());
    for (size_t i = 0; i < loops.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        RepeatOp first = loops[j];
        if (!first.canShareFunction(loops[i]))
          continue;
        std::string name = first.getName().str();
        name.erase(name.rfind('s'), 1);
        auto function = StringAttr::get(step.getContext(), name);
        first.setFunctionAttr(function);
        loops[i].setFunctionAttr(function);
        break;
      }
  }

  /// Returns the part of the step that a call is in: "forward".
  static StringRef sectionName(StepOp step, Operation *call) {
    if (step.getKind() == gpuopt::train::StepKind::Evaluate)
      return "evaluation";
    StringRef section = sectionOf(call);
    return section.empty() ? step.getSymName() : section;
  }
};

} // namespace
