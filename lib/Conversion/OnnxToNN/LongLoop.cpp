//===- LongLoop.cpp - Loops that stay loops -------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The body of a long Loop or Scan is converted once, in the block of an
// nn.scan. Its problems are no problems of the model: the loop is unrolled
// then.
//
// In unrolled iterations the number of each is a constant, by which bodies pick
// entries of tensors. In a loop it is a slice of 0, 1, 2, .... What is computed
// from it alone is evaluated for all iterations while the body is converted, so
// that these entries are slices of the tensors here as well.
//
//===----------------------------------------------------------------------===//

#include "LongLoop.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace gpuopt;

//===----------------------------------------------------------------------===//
// What follows from the number of the iteration
//===----------------------------------------------------------------------===//

/// The most elements, in all iterations, of what is evaluated.
static constexpr int64_t kMostEvaluated = 1 << 20;

/// Returns the constant that an op makes of constants; null if it has no
/// folder.
static Attribute foldOf(Operation *op, ArrayRef<Attribute> operands) {
  SmallVector<OpFoldResult> results;
  // A folder may only swap the operands.
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return {};
  if (auto constant = dyn_cast<Attribute>(results.front()))
    return constant;
  auto same = cast<Value>(results.front());
  for (auto [operand, constant] : llvm::zip(op->getOperands(), operands))
    if (operand == same && same.getType() == op->getResult(0).getType())
      return constant;
  return {};
}

Attribute Iteration::evaluate(Value value, Constants &constants,
                              unsigned depth) const {
  constexpr unsigned kDeepest = 512;
  auto found = constants.find(value);
  if (found != constants.end())
    return found->second;
  if (DenseElementsAttr constant = constantOf(value))
    return constants[value] = constant;
  constants[value] = {};
  Operation *op = value.getDefiningOp();
  if (!op || depth > kDeepest || op->getBlock() != &scan.getIteration() ||
      op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      op->getNumRegions() > 0 || !isMemoryEffectFree(op) ||
      cast<RankedTensorType>(value.getType()).getNumElements() > kMostEvaluated)
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    if (Attribute constant = evaluate(operand, constants, depth + 1))
      operands.push_back(constant);
    else
      return {};
  return constants[value] = foldOf(op, operands);
}

Iteration::Constants Iteration::constantsOf(int64_t iteration) const {
  Constants constants;
  if (number)
    constants[number] = DenseElementsAttr::get(
        cast<RankedTensorType>(number.getType()), iteration);
  for (const auto &[value, values] : known)
    constants[value] = values[iteration];
  return constants;
}

/// Returns the truth of a boolean constant of one element.
static std::optional<bool> truthOf(Attribute constant) {
  auto truth = dyn_cast_or_null<DenseElementsAttr>(constant);
  if (!truth || truth.getNumElements() != 1 ||
      !truth.getElementType().isInteger(1))
    return std::nullopt;
  return *truth.getValues<bool>().begin();
}

std::optional<SmallVector<int64_t>> Iteration::integersOf(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  if (!isa<IntegerType>(type.getElementType()) ||
      type.getNumElements() > kMostEvaluated / count)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (int64_t i = 0; i < count; ++i) {
    Constants constants = constantsOf(i);
    auto all = dyn_cast_or_null<DenseElementsAttr>(evaluate(value, constants));
    if (!all)
      return std::nullopt;
    for (const APInt &number : all.getValues<APInt>())
      numbers.push_back(number.getSExtValue());
  }
  return numbers;
}

/// Moves the ops of the iteration that a value is computed by before the loop.
/// Returns whether that is possible: what each iteration draws anew stays.
bool Iteration::moveBefore(Value value, unsigned depth) {
  constexpr unsigned kDeepest = 64;
  if (value.getParentBlock() != &scan.getIteration())
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || depth > kDeepest || op->getNumRegions() > 0 ||
      !isMemoryEffectFree(op) || !nn::canIterate(op) ||
      llvm::any_of(op->getOperands(), [&](Value operand) {
        return !moveBefore(operand, depth + 1);
      }))
    return false;
  op->moveBefore(before.getInsertionBlock(), before.getInsertionPoint());
  return true;
}

static int64_t numElements(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements();
}

Value Iteration::pick(Value tensor, int64_t dim, ArrayRef<int64_t> indices) {
  // Windows that overlap much would take many times the memory of the tensor,
  // and more than a tensor may have.
  constexpr int64_t kMostCopies = 4;
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  int64_t inEntry = numElements(tensor) / std::max<int64_t>(size, 1);
  int64_t most =
      std::min(kMostElements, std::max(kMostComputedElements,
                                       kMostCopies * numElements(tensor)));
  if ((int64_t)indices.size() > most / std::max<int64_t>(inEntry, 1) ||
      !moveBefore(tensor))
    return {};
  Value &slice = picked[{tensor.getAsOpaquePointer(), dim, indices.vec()}];
  if (slice)
    return slice;
  nn::TensorBuilder b(tensor.getLoc(), before);
  Value all = gpuopt::pick(b, tensor, dim, indices);
  SmallVector<int64_t> shape(b.shape(all)), toFront;
  shape[dim] = count;
  shape.insert(shape.begin() + dim + 1, indices.size() / count);
  for (int64_t i = 0; i < (int64_t)shape.size(); ++i)
    if (i != dim)
      toFront.push_back(i);
  toFront.insert(toFront.begin(), dim);
  return slice = scan.addSlice(b.transpose(b.reshape(all, shape), toFront));
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

bool LongLoop::check() {
  if (c.state.iteration) {
    why = "it is inside of a loop that is not unrolled";
    return false;
  }
  for (const Converted &state : states)
    if (state.isSequence || state.tensors.size() != 1) {
      why = "a state is no tensor";
      return false;
    }
  return true;
}

bool LongLoop::convert() {
  // States that turn out to be known are no states in the next attempt, which
  // may make others known.
  constexpr int kMostAttempts = 8;
  if (!check())
    return false;
  seen.resize(states.size());
  fixNamedStates();
  for (int i = 0; i < kMostAttempts; ++i) {
    ConversionState::Mark mark = c.state.mark();
    Attempt result = attempt();
    if (result == Attempt::Done)
      return true;
    c.state.rollBack(mark);
    if (result == Attempt::Failed)
      return false;
  }
  why = "after its body has been converted " + std::to_string(kMostAttempts) +
        " times, each time with more that is known of it, " + lastFound +
        ": compute that outside of the loop";
  return false;
}

/// Returns why a loop cannot hold what the iteration computes; nothing if it
/// can.
static std::string checkIteration(Block &block) {
  for (Operation &op : block) {
    if (isa<nn::ScanOp>(op))
      return "a layer inside of it is a loop itself";
    if (!nn::canIterate(&op))
      return "its iterations draw random numbers or use statistics of a batch";
  }
  return "";
}

LongLoop::Attempt LongLoop::attempt() {
  finals.clear();
  stacked.clear();
  nn::ScanBuilder scan(c.b.getContext(), count, isReversed);
  OpBuilder outside(c.b.getContext());
  outside.setInsertionPointToEnd(c.b.getBlock());
  Iteration iteration(scan, outside, count);
  SmallVector<Value> results;
  why = convertBody(scan, iteration, results);
  if (!why.empty() || results.empty())
    return Attempt::Failed;
  why = checkTypes(results);
  if (!why.empty())
    return Attempt::Failed;
  auto all = ArrayRef(results).drop_front(hasCondition);
  ArrayRef<Value> next = all.take_front(states.size());
  int64_t before = count;
  if (fixStates(next) || knowStates(iteration, results) || count < before)
    return count > kMostUnrolledSteps ? Attempt::Again : Attempt::Failed;
  why = hasCondition ? checkCondition(iteration, results.front()) : "";
  if (why.empty())
    why = checkIteration(scan.getIteration());
  if (!why.empty())
    return Attempt::Failed;
  build(scan, next, all.drop_front(states.size()));
  return Attempt::Done;
}

/// Adds the arguments of the body.
void LongLoop::addArguments(nn::ScanBuilder &scan, Iteration &iteration,
                            SmallVectorImpl<Converted> &arguments) {
  nn::TensorBuilder &b = c.b;
  if (hasCondition) {
    auto numbers = RankedTensorType::get({count}, b.getI64Type());
    Value number = scan.addSlice(b.create<nn::IotaOp>(numbers, 0));
    iteration.noteNumber(number);
    arguments.push_back({{number}, false});
    auto truth = RankedTensorType::get({}, b.getI1Type());
    arguments.push_back({{b.splat(true, truth)}, false});
  }
  for (auto [initial, state] : llvm::zip(states, seen)) {
    if (!state.known.empty()) {
      state.before = scan.addSlice(stackedKnown(state));
      iteration.note(state.before, ArrayRef(state.known).drop_back());
    } else if (state.isFixed) {
      state.before = initial.tensors.front();
    } else {
      state.before = scan.addState(initial.tensors.front());
    }
    arguments.push_back({{state.before}, false});
  }
  for (Value slice : slices)
    arguments.push_back({{scan.addSlice(slice)}, false});
}

/// Converts the body. Returns the problem, if there is one.
std::string LongLoop::convertBody(nn::ScanBuilder &scan, Iteration &iteration,
                                  SmallVectorImpl<Value> &results) {
  SmallVector<Converted> arguments, converted;
  addArguments(scan, iteration, arguments);
  Region *body = c.node.getSubgraph("body");
  if (!body || body->getNumArguments() != arguments.size())
    return ""; // which is found again when it is unrolled
  size_t writes = c.state.writes.size();
  c.state.unrolledNodes += body->front().getOperations().size();
  c.state.iteration = &iteration;
  ++c.state.uncertainGraphs;
  std::string problem;
  {
    OpBuilder::InsertionGuard guard(c.b);
    c.b.setInsertionPointToEnd(&scan.getIteration());
    problem = c.state.tryGraph(*body, arguments, converted);
  }
  --c.state.uncertainGraphs;
  c.state.iteration = nullptr;
  if (!problem.empty())
    return "its body has a problem that the loop may not have unrolled: " +
           problem;
  if (c.state.writes.size() > writes)
    return "its body changes running statistics";
  for (const Converted &result : converted) {
    if (result.isSequence || result.tensors.size() != 1)
      return "a result of its body is no tensor";
    results.push_back(result.tensors.front());
  }
  if (results.size() < hasCondition + states.size())
    results.clear(); // which is found again when it is unrolled
  return "";
}

/// Returns why the loop may end early, or never; nothing if it does not.
std::string LongLoop::checkCondition(const Iteration &iteration,
                                     Value condition) {
  for (int64_t i = 0; i + 1 < count; ++i) {
    Iteration::Constants constants = iteration.constantsOf(i);
    if (!truthOf(iteration.evaluate(condition, constants)))
      return "its condition depends on data";
  }
  return isBounded ? ""
                   : "it has more than " + std::to_string(kMostLoopSteps) +
                         " iterations";
}

/// Returns why the results of the body cannot be those of a loop's iteration;
/// nothing if they can.
std::string LongLoop::checkTypes(ArrayRef<Value> results) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto [index, initial] : llvm::enumerate(states)) {
    Type before = initial.tensors.front().getType(),
         after = results[hasCondition + index].getType();
    if (before != after) {
      stream << "state " << index << " is " << before
             << " before the first iteration and " << after << " after it";
      return text;
    }
  }
  for (Value result : results) {
    SmallVector<int64_t> shape(c.b.shape(result));
    shape.insert(shape.begin(), count + 1);
    if (!c.isShape(shape))
      return std::exchange(c.problem, "");
  }
  return "";
}

/// Finds states that the body returns as it gets them.
void LongLoop::fixNamedStates() {
  Region *body = c.node.getSubgraph("body");
  if (!body)
    return;
  OperandRange results = body->front().getTerminator()->getOperands();
  size_t firstResult = hasCondition ? 1 : 0,
         firstArgument = hasCondition ? 2 : 0;
  for (auto [index, state] : llvm::enumerate(seen))
    state.isFixed = firstResult + index < results.size() &&
                    firstArgument + index < body->getNumArguments() &&
                    results[firstResult + index] ==
                        body->getArgument(firstArgument + index);
}

/// Finds further states that the iterations do not change. Returns whether
/// there are new ones.
bool LongLoop::fixStates(ArrayRef<Value> next) {
  bool isNew = false;
  for (auto [index, state] : llvm::enumerate(seen))
    if (!state.isFixed && state.known.empty() && next[index] == state.before) {
      isNew = state.isFixed = true;
      lastFound = "state " + std::to_string(index) +
                  " turns out to be the same in all iterations";
    }
  return isNew;
}

/// Evaluates the states `candidates` in all iterations, and shortens the loop
/// if the condition ends it. Returns whether all of them could be evaluated; if
/// not, those that could not are no candidates any more.
bool LongLoop::simulate(const Iteration &iteration, ArrayRef<Value> results,
                        SmallVectorImpl<unsigned> &candidates,
                        SmallVectorImpl<SmallVector<Attribute>> &all) {
  all.clear();
  for (unsigned index : candidates)
    all.push_back({constantOf(states[index].tensors.front())});
  for (int64_t i = 0; i < count; ++i) {
    Iteration::Constants constants = iteration.constantsOf(i);
    for (auto [index, values] : llvm::zip(candidates, all))
      constants[seen[index].before] = values.back();
    size_t known = 0;
    for (unsigned place = 0; place < all.size(); ++place) {
      Value next = results[hasCondition + candidates[place]];
      Attribute after = iteration.evaluate(next, constants);
      if (!after)
        continue;
      all[place].push_back(after);
      candidates[known++] = candidates[place];
    }
    if (known < all.size()) {
      candidates.truncate(known);
      return false;
    }
    std::optional<bool> goesOn;
    if (hasCondition)
      goesOn = truthOf(iteration.evaluate(results.front(), constants));
    if (!goesOn && candidates.empty())
      break; // Nothing is known.
    if (goesOn == false) {
      count = i + 1;
      isBounded = true;
      lastFound = "its condition turns out to end it after " +
                  std::to_string(count) + " iterations";
    }
  }
  return true;
}

/// Finds states that follow from the iteration's number, such as counters, and
/// where the condition ends the loop if that follows from them. Returns whether
/// there are new ones.
bool LongLoop::knowStates(const Iteration &iteration, ArrayRef<Value> results) {
  // Its iterations are numbered by the entries that they read, from the last
  // one on, so no state follows from the number alone as it does in others.
  if (isReversed)
    return false;
  SmallVector<unsigned> candidates;
  for (auto [index, state] : llvm::enumerate(seen)) {
    Value initial = states[index].tensors.front();
    RankedTensorType type = c.b.type(initial);
    if (!state.isFixed && state.known.empty() && constantOf(initial) &&
        isa<IntegerType>(type.getElementType()) &&
        type.getNumElements() <= kMostEvaluated / (count + 1))
      candidates.push_back(index);
  }
  SmallVector<SmallVector<Attribute>> all;
  while (!simulate(iteration, results, candidates, all)) {
  }
  for (auto [place, index] : llvm::enumerate(candidates)) {
    seen[index].known = all[place];
    lastFound = "state " + std::to_string(index) +
                " turns out to follow from the iteration's number";
  }
  // The loop may be shorter than when these were found.
  for (State &state : seen)
    if (!state.known.empty())
      state.known.truncate(count + 1);
  return !candidates.empty();
}

/// Returns what a state is before each iteration, as one constant.
Value LongLoop::stackedKnown(const State &state) {
  auto type = cast<DenseElementsAttr>(state.known.front()).getType();
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), count);
  SmallVector<APInt> elements;
  for (Attribute entry : ArrayRef(state.known).drop_back())
    llvm::append_range(elements,
                       cast<DenseElementsAttr>(entry).getValues<APInt>());
  auto all = RankedTensorType::get(shape, type.getElementType());
  return c.b.create<arith::ConstantOp>(DenseElementsAttr::get(all, elements));
}

/// Builds the op. What the iterations yield twice is stored once.
void LongLoop::build(nn::ScanBuilder &scan, ArrayRef<Value> next,
                     ArrayRef<Value> more) {
  nn::TensorBuilder &b = c.b;
  scan.capture(b);
  SmallVector<Value> after, kept;
  SmallVector<int64_t> historyOf(seen.size(), -1);
  for (auto [index, state] : llvm::enumerate(seen)) {
    if (state.isFixed || !state.known.empty())
      continue;
    historyOf[index] = after.size();
    after.push_back(next[index]);
  }
  for (Value value : more)
    if (!scan.isSlice(value) && !llvm::is_contained(after, value) &&
        !llvm::is_contained(kept, value))
      kept.push_back(value);
  bool isEmpty = after.empty() && kept.empty();
  nn::ScanOp op =
      isEmpty ? nn::ScanOp() : scan.finish(b, b.getLoc(), after, kept);
  for (auto [index, state] : llvm::enumerate(seen)) {
    if (state.isFixed) {
      finals.push_back(states[index].tensors.front());
    } else if (!state.known.empty()) {
      finals.push_back(
          b.create<arith::ConstantOp>(cast<TypedAttr>(state.known.back())));
    } else {
      Value last = partOf(b, op.getHistories()[historyOf[index]], 0,
                          op.getFinalEntry(), 1);
      finals.push_back(b.reshape(last, b.shape(last).drop_front()));
    }
  }
  for (Value value : more) {
    const Value *history = llvm::find(after, value);
    if (scan.isSlice(value))
      stacked.push_back(scan.getOuter(value));
    else if (history != after.end())
      stacked.push_back(partOf(b, op.getHistories()[history - after.begin()], 0,
                               op.getEntryAfter(), count));
    else
      stacked.push_back(
          op.getStacked()[llvm::find(kept, value) - kept.begin()]);
  }
}
