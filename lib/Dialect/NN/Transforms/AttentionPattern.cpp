//===- AttentionPattern.cpp - Attention spelled out in ops ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionPattern.h"

#include "gpuopt/Dialect/NN/IR/HiddenScores.h"
#include "gpuopt/Dialect/NN/IR/RepeatedElements.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gpuopt::nn;
using Part = AttentionOp::Part;

//===----------------------------------------------------------------------===//
// What ops amount to
//===----------------------------------------------------------------------===//

static Value withoutBroadcast(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return broadcast ? broadcast.getInput() : value;
}

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {

/// A constant that is broadcast to scores, and the same for the whole batch.
struct ConstantMatrix {
  DenseElementsAttr value;
  int64_t rows, keys; ///< Of the constant; 1 if there is one for all.

  static std::optional<ConstantMatrix> of(Value value) {
    DenseElementsAttr constant;
    if (!matchPattern(value, m_Constant(&constant)))
      return std::nullopt;
    constant = withoutRepeats(constant);
    ArrayRef<int64_t> shape = constant.getType().getShape();
    if (shape.size() < 2 || llvm::any_of(shape.drop_back(2), [](int64_t size) {
          return size != 1;
        }))
      return std::nullopt;
    return ConstantMatrix{constant, shape.take_back(2)[0], shape.back()};
  }

  size_t index(int64_t row, int64_t key) const {
    return (rows == 1 ? 0 : row) * keys + (keys == 1 ? 0 : key);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// Whether `value` comes from a product, with only such ops between as may
/// stand between the product and a softmax.
static bool leadsToProduct(Value value) {
  llvm::SmallPtrSet<Operation *, 8> seen; // several paths may lead to one op
  SmallVector<Value> above{value};
  while (!above.empty()) {
    Operation *op = above.pop_back_val().getDefiningOp();
    if (isa_and_nonnull<ContractOp>(op))
      return true;
    if (isa_and_nonnull<arith::AddFOp, arith::MulFOp, arith::DivFOp,
                        arith::SelectOp, math::TanhOp, ReshapeOp>(op) &&
        seen.insert(op).second)
      llvm::append_range(above, op->getOperands());
  }
  return false;
}

/// Returns the product that reads a value, directly or through dropout and
/// reshapes.
static ContractOp productBelow(Value value) {
  for (Operation *user : value.getUsers()) {
    if (auto product = dyn_cast<ContractOp>(user))
      return product;
    if (isa<DropoutOp, ReshapeOp>(user))
      if (ContractOp product = productBelow(user->getResult(0)))
        return product;
  }
  return {};
}

namespace {

class Matcher {
public:
  explicit Matcher(SoftmaxOp softmax) : softmax(softmax) {}

  AttentionMatch run() {
    match.isBetweenProducts =
        leadsToProduct(softmax.getInput()) && productBelow(softmax.getResult());
    if (match.isBetweenProducts && succeeded(matchSoftmax()) &&
        succeeded(walkUp()) && succeeded(matchScores()) &&
        succeeded(walkDown()) && succeeded(matchProduct()))
      chooseScaling();
    return std::move(match);
  }

private:
  LogicalResult fail(const Twine &why) {
    match.problem = why.str();
    return failure();
  }
  LogicalResult wantOneReader(Value value, StringRef what) {
    return value.hasOneUse() ? success()
                             : fail(what + " are read by other work, too");
  }

  LogicalResult matchSoftmax() {
    if ((int64_t)softmax.getDim() != softmax.getType().getRank() - 1 ||
        softmax.getType().getRank() < 2)
      return fail("the softmax is not along the last dimension");
    match.zeroesEmpty = softmax.getZeroesEmpty();
    match.leading = llvm::to_vector(softmax.getType().getShape().drop_back(2));
    match.parts.push_back({Part::Softmax, softmax.getLoc()});
    return success();
  }

  //===--------------------------------------------------------------------===//
  // From the softmax up to the product of queries and keys
  //===--------------------------------------------------------------------===//

  LogicalResult walkUp() {
    Value value = softmax.getInput();
    while (!(scores = value.getDefiningOp<ContractOp>())) {
      if (failed(wantOneReader(value, "the scores")))
        return failure();
      if (failed(step(value)))
        return failure();
    }
    match.parts.push_back({Part::Scores, scores.getLoc()});
    return wantOneReader(value, "the scores");
  }

  /// Goes one op up from `value`, which becomes that op's operand with the
  /// scores.
  LogicalResult step(Value &value) {
    Operation *op = value.getDefiningOp();
    if (auto scaling = scalingOf(op)) {
      match.parts.push_back({Part::Scale, op->getLoc()});
      value = scaling->first;
      match.scale *= scaling->second;
      return success();
    }
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      value = reshape.getInput();
      return regroups(reshape)
                 ? success()
                 : fail("a reshape changes the rows or columns of the scores");
    }
    if (isa<math::TanhOp>(op))
      return matchSoftcap(op, value);
    if (op->getNumOperands() == 1)
      return fail("the scores go through '" + op->getName().getStringRef() +
                  "'");
    if (!isa<arith::AddFOp, arith::SelectOp>(op))
      return fail("the scores are an operand of '" +
                  op->getName().getStringRef() +
                  "', whose other operand is no constant");
    if (match.softcap)
      return fail("the scores are masked or biased before their soft cap");
    if (match.scale != 1)
      return fail("the scores are scaled after the mask");
    if (match.mask)
      return isa<arith::SelectOp>(op) && !match.bias && !match.innerMask
                 ? matchInnerMask(op, value)
                 : matchBias(op, value);
    match.leading = llvm::to_vector(TensorBuilder::shape(value).drop_back(2));
    match.parts.push_back({Part::Mask, op->getLoc()});
    return matchOuterMask(op, value);
  }

  /// Matches c tanh(f x): x scaled by c f, with a soft cap of |c|.
  LogicalResult matchSoftcap(Operation *tanh, Value &value) {
    if (match.softcap || match.scale == 0)
      return fail("the scores go through 'math.tanh', which is no soft cap");
    match.softcap = std::abs(match.scale);
    for (auto &[part, loc] : match.parts)
      if (part == Part::Scale)
        part = Part::Softcap;
    match.parts.push_back({Part::Softcap, tanh->getLoc()});
    value = tanh->getOperand(0);
    Operation *inner = value.getDefiningOp();
    if (auto scaling = scalingOf(inner); scaling && value.hasOneUse()) {
      value = scaling->first;
      match.scale *= scaling->second;
      // c and 1 / c were rounded to the element type.
      if (std::abs(match.scale - 1) < 1e-6)
        match.scale = 1;
    }
    return success();
  }

  /// Returns what an addition adds to the scores; `value` becomes the scores.
  static Value addedTo(Operation *add, Value &value) {
    unsigned index = leadsToProduct(add->getOperand(0)) ? 0 : 1;
    value = add->getOperand(index);
    return withoutBroadcast(add->getOperand(1 - index));
  }

  /// Matches what is added to the scores before they are masked.
  LogicalResult matchBias(Operation *op, Value &value) {
    if (match.bias || match.innerMask || !isa<arith::AddFOp>(op))
      return fail("the scores have more than a bias and then a mask");
    ArrayRef<int64_t> own = TensorBuilder::shape(value).drop_back(2);
    match.parts.push_back({Part::Bias, op->getLoc()});
    match.bias = addedTo(op, value);
    if (isBroadcastLike(match.bias, own, match.leading))
      return success();
    if (isBroadcastLike(match.mask, match.leading, own)) {
      match.leading = llvm::to_vector(own);
      return success();
    }
    // A bias that is not broadcast can be reshaped as the scores are.
    ArrayRef<int64_t> shape = TensorBuilder::shape(match.bias);
    if (shape.size() < 2 || shape.drop_back(2) != own)
      return fail("a bias and a mask are broadcast to different shapes");
    match.biasShape = match.leading;
    llvm::append_range(match.biasShape, shape.take_back(2));
    return success();
  }

  /// Matches a selection below another mask, if the two can be one mask.
  LogicalResult matchInnerMask(Operation *op, Value &value) {
    if (TensorBuilder::shape(value).drop_back(2) != ArrayRef(match.leading))
      return fail("two masks are applied to scores of different shapes");
    ScoreSelection inner;
    if (failed(matchSelection(op, value, inner)))
      return failure();
    bool isOuterBoolean =
        TensorBuilder::type(match.mask).getElementType().isInteger(1);
    bool isOne = isOuterBoolean
                     ? inner.hidden == match.maskedValue.value_or(-kInfinity)
                     : inner.hidden == -kInfinity || eachQuerySeesAKey(inner);
    if (!isOne)
      return fail("two masks hide keys by different numbers");
    match.innerMask = inner;
    match.parts.push_back({Part::Mask, op->getLoc()});
    return success();
  }

  /// Whether the added mask and `inner` hide keys, but leave one to each query:
  /// then the probabilities of hidden keys are 0, whatever hides them. Both
  /// have to be constants, the same ones for the whole batch, and the mask must
  /// add nothing above 0.
  bool eachQuerySeesAKey(const ScoreSelection &inner) {
    std::optional<ConstantMatrix> added = ConstantMatrix::of(match.mask),
                                  condition =
                                      ConstantMatrix::of(inner.condition);
    if (!(inner.hidden <= kHiddenScore) || !added || !condition)
      return false;
    auto numbers = llvm::to_vector(added->value.getValues<APFloat>());
    auto flags = llvm::to_vector(condition->value.getValues<bool>());
    if (!llvm::all_of(numbers, [](const APFloat &number) {
          return number.isZero() || hidesKeys(number);
        }))
      return false;
    ArrayRef<int64_t> scores = matrixOf(softmax.getInput());
    return llvm::all_of(llvm::seq<int64_t>(0, scores[0]), [&](int64_t row) {
      return llvm::any_of(llvm::seq<int64_t>(0, scores[1]), [&](int64_t key) {
        return numbers[added->index(row, key)].isZero() &&
               flags[condition->index(row, key)] != inner.isInverted;
      });
    });
  }

  /// Whether a mask or bias of scores with the leading dimensions `own` is
  /// broadcast in the same way to those of `other`, which are reshaped: it is
  /// if it does not distinguish elements in the dimensions that differ.
  static bool isBroadcastLike(Value value, ArrayRef<int64_t> own,
                              ArrayRef<int64_t> other) {
    size_t common = 2; // rows and columns
    for (auto [one, two] :
         llvm::zip(llvm::reverse(own), llvm::reverse(other))) {
      if (one != two)
        break;
      ++common;
    }
    ArrayRef<int64_t> shape = TensorBuilder::shape(value);
    return llvm::all_of(shape.drop_back(std::min(common, shape.size())),
                        [](int64_t size) { return size == 1; });
  }

  LogicalResult matchSelection(Operation *op, Value &value,
                               ScoreSelection &selection) {
    auto select = cast<arith::SelectOp>(op);
    auto hidden = splatOf(select.getFalseValue());
    selection.isInverted = !hidden;
    value = hidden ? select.getTrueValue() : select.getFalseValue();
    if (!hidden)
      hidden = splatOf(select.getTrueValue());
    if (!hidden)
      return fail("a mask replaces scores by something other than a constant");
    if (!isa<RankedTensorType>(select.getCondition().getType()))
      return fail("a mask is a single number");
    selection.hidden = *hidden;
    selection.condition = withoutBroadcast(select.getCondition());
    return success();
  }

  /// Matches the mask that is applied last.
  LogicalResult matchOuterMask(Operation *op, Value &value) {
    if (isa<arith::AddFOp>(op)) {
      match.mask = addedTo(op, value);
      return success();
    }
    ScoreSelection selection;
    if (failed(matchSelection(op, value, selection)))
      return failure();
    match.mask = selection.condition;
    match.isMaskInverted = selection.isInverted;
    if (selection.hidden != -kInfinity)
      match.maskedValue = selection.hidden;
    return success();
  }

  /// Matches Q K^T by its letters: the result is batch, rows, columns.
  LogicalResult matchScores() {
    if (scores.getAccumulator() || scores.getResultElementType())
      return fail("the product of queries and keys adds to a tensor or widens");
    // The result has at least two letters, like the softmax: no op between them
    // changes the rows.
    StringRef result = scores.getResultLetters();
    StringRef batch = result.drop_back(2);
    char row = result[result.size() - 2], column = result.back();
    std::string lhs = scores.getLhsLetters().str(),
                rhs = scores.getRhsLetters().str();
    Value query = scores.getLhs(), key = scores.getRhs();
    if (StringRef(lhs).contains(column)) {
      std::swap(lhs, rhs);
      std::swap(query, key);
    }
    char inner = innerLetter(lhs, result);
    if (!setOperand(match.query, query, lhs, batch, {row, inner}) ||
        !setOperand(match.key, key, rhs, batch, {column, inner}))
      return fail("the product '" + scores.getSpec() +
                  "' does not multiply queries by keys of the same batch");
    return success();
  }

  static char innerLetter(StringRef letters, StringRef result) {
    for (char letter : letters)
      if (!result.contains(letter))
        return letter;
    return '?';
  }

  /// Sets the operand if its letters are `batch` and then `own`; returns
  /// whether they are.
  static bool setOperand(AttentionOperand &operand, Value value,
                         StringRef letters, StringRef batch,
                         std::array<char, 2> own) {
    std::string wanted = batch.str() + own[0] + own[1];
    if (wanted.size() != letters.size())
      return false;
    operand.value = value;
    for (char letter : wanted) {
      size_t position = letters.find(letter);
      if (position == StringRef::npos)
        return false;
      operand.permutation.push_back(position);
    }
    return true;
  }

  //===--------------------------------------------------------------------===//
  // From the softmax down to the product with the values
  //===--------------------------------------------------------------------===//

  LogicalResult walkDown() {
    Value value = softmax.getResult();
    while (true) {
      if (failed(wantOneReader(value, "the probabilities")))
        return failure();
      Operation *user = *value.user_begin();
      if ((match.product = dyn_cast<ContractOp>(user))) {
        probabilities = value;
        match.parts.push_back({Part::Product, user->getLoc()});
        return success();
      }
      if (auto dropout = dyn_cast<DropoutOp>(user);
          dropout && !match.dropoutRatio) {
        match.dropoutRatio = dropout.getRatio().convertToDouble();
        match.stream = dropout.getStream();
        match.parts.push_back({Part::Dropout, user->getLoc()});
      } else if (!regroups(dyn_cast<ReshapeOp>(user))) {
        return fail("the probabilities go through '" +
                    user->getName().getStringRef() + "'");
      }
      value = user->getResult(0);
    }
  }

  /// Matches P V by its letters: the probabilities are batch, rows, columns.
  LogicalResult matchProduct() {
    ContractOp product = match.product;
    bool isLeft = product.getLhs() == probabilities;
    StringRef letters =
        isLeft ? product.getLhsLetters() : product.getRhsLetters();
    StringRef ofValue =
        isLeft ? product.getRhsLetters() : product.getLhsLetters();
    StringRef result = product.getResultLetters(), batch = letters.drop_back(2);
    char row = letters[letters.size() - 2], column = letters.back();
    if (result.contains(column))
      return fail("the product after the softmax does not sum over its "
                  "dimension");
    char own = '?';
    for (char letter : result)
      if (!letters.contains(letter))
        own = letter;
    AttentionOperand ofResult;
    if (product.getAccumulator() || product.getResultElementType() ||
        !setOperand(match.value, isLeft ? product.getRhs() : product.getLhs(),
                    ofValue, batch, {column, own}) ||
        !setOperand(ofResult, product, result, batch, {row, own}))
      return fail(
          "the product '" + product.getSpec() +
          "' does not multiply probabilities by values of the same batch");
    ArrayRef<int64_t> shape = TensorBuilder::shape(product.getResult());
    match.productPermutation.resize(shape.size());
    for (auto [index, dim] : llvm::enumerate(ofResult.permutation)) {
      match.productShape.push_back(shape[dim]);
      match.productPermutation[dim] = index;
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Scales of the operands
  //===--------------------------------------------------------------------===//

  /// Finds the multiplication that an operand comes from, through layout
  /// changes.
  static void findScaling(AttentionOperand &operand) {
    Value value = operand.value;
    while (value.hasOneUse()) {
      Operation *op = value.getDefiningOp();
      if (auto scaling = scalingOf(op)) {
        operand.scaling = op;
        operand.factor = scaling->second;
        return;
      }
      if (!isa_and_nonnull<TransposeOp, ReshapeOp>(op))
        return;
      value = op->getOperand(0);
    }
  }

  /// If the scores have a scale, the scales of queries and keys stay where they
  /// are, as ops before the attention.
  void chooseScaling() {
    if (match.scale != 1)
      return;
    findScaling(match.query);
    findScaling(match.key);
    bool isBoth = match.query.scaling && match.key.scaling &&
                  match.query.factor == match.key.factor &&
                  match.query.factor > 0;
    if (!isBoth)
      match.key.scaling = nullptr;
    if (!match.query.scaling)
      return;
    match.parts.push_back({Part::Scale, match.query.scaling->getLoc()});
    match.scaling = isBoth ? AttentionScaling::Both : AttentionScaling::Query;
    match.scale = match.query.factor * (isBoth ? match.key.factor : 1);
  }

  SoftmaxOp softmax;
  ContractOp scores;
  Value probabilities;
  AttentionMatch match;
};

} // namespace

AttentionMatch gpuopt::nn::matchAttention(SoftmaxOp softmax) {
  return Matcher(softmax).run();
}
