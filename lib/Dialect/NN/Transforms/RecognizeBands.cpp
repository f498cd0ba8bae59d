//===- RecognizeBands.cpp - Masks of attention that are bands -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters write causal attention and sliding windows as constants of queries
// x keys. This pass replaces such a mask by two numbers, a band. These take no
// memory, and kernels can skip the scores that are hidden.
//
// This is only correct if hidden keys have a probability of exactly 0. They do
// if their scores are minus infinity, or so far below all others that their
// exponentials are 0 in f32. Therefore each row must have a key that is seen.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/HiddenScores.h"
#include "gpuopt/Dialect/NN/IR/RepeatedElements.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_RECOGNIZEBANDS
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

namespace {

/// Which keys a mask hides. It is the same for the whole batch.
struct Visibility {
  int64_t rows, keys;
  /// A stored size of 1 says that all rows, or all keys, are alike: a mask of
  /// few elements may describe very many scores.
  int64_t storedRows, storedKeys;
  SmallVector<bool> seen; ///< [storedRows, storedKeys]
};

/// Query i sees the keys from i + first to i + last.
struct Band {
  int64_t first, last;
};

} // namespace

/// Returns for each element of a constant mask whether the key is seen. Returns
/// nothing if an added number is neither 0 nor low enough to hide a key.
static std::optional<SmallVector<bool>> seenIn(DenseElementsAttr mask) {
  SmallVector<bool> seen;
  if (mask.getElementType().isInteger(1))
    return llvm::to_vector(mask.getValues<bool>());
  for (const APFloat &number : mask.getValues<APFloat>()) {
    if (!number.isZero() && !hidesKeys(number))
      return std::nullopt;
    seen.push_back(number.isZero());
  }
  return seen;
}

/// Returns the constant of a mask, and whether the mask is its negation.
static std::pair<DenseElementsAttr, bool> constantOf(Value mask) {
  bool isNegated = false;
  if (auto negation = mask.getDefiningOp<arith::XOrIOp>();
      negation && matchPattern(negation.getRhs(), m_One())) {
    isNegated = true;
    mask = negation.getLhs();
  }
  if (auto broadcast = mask.getDefiningOp<BroadcastOp>())
    mask = broadcast.getInput();
  DenseElementsAttr value;
  matchPattern(mask, m_Constant(&value));
  return {value, isNegated};
}

static std::optional<Visibility> visibilityOf(AttentionOp op) {
  auto [constant, isNegated] = constantOf(op.getMask());
  if (!constant)
    return std::nullopt;
  DenseElementsAttr small = withoutRepeats(constant);
  SmallVector<int64_t> shape(small.getType().getShape());
  while (shape.size() < 2)
    shape.insert(shape.begin(), 1);
  if (llvm::any_of(ArrayRef(shape).drop_back(2),
                   [](int64_t size) { return size != 1; }))
    return std::nullopt;
  std::optional<SmallVector<bool>> seen = seenIn(small);
  if (!seen)
    return std::nullopt;
  ArrayRef<int64_t> scores = op.getScoresType().getShape().take_back(2);
  ArrayRef<int64_t> stored = ArrayRef(shape).take_back(2);
  Visibility result{scores[0], scores[1], stored[0], stored[1],
                    std::move(*seen)};
  for (bool &isSeen : result.seen)
    isSeen = isSeen != isNegated;
  return result;
}

/// Returns the first and the last key that a stored row sees. Returns nothing
/// if it sees none, or not all in between.
static std::optional<std::pair<int64_t, int64_t>> endsOf(const Visibility &mask,
                                                         int64_t storedRow) {
  auto seen =
      ArrayRef(mask.seen).slice(storedRow * mask.storedKeys, mask.storedKeys);
  int64_t first = llvm::find(seen, true) - seen.begin(),
          last = mask.storedKeys - 1;
  while (last >= 0 && !seen[last])
    --last;
  if (mask.keys == 0 || first > last ||
      llvm::is_contained(seen.slice(first, last - first + 1), false))
    return std::nullopt;
  return std::pair(first, mask.storedKeys == 1 ? mask.keys - 1 : last);
}

static std::optional<Band> bandOf(const Visibility &mask) {
  // Without a limit, the band reaches beyond all keys.
  int64_t far = std::max(mask.rows, mask.keys);
  Band band{-far, far};
  SmallVector<std::pair<int64_t, int64_t>> ends;
  for (int64_t row = 0; row < mask.storedRows; ++row) {
    auto seen = endsOf(mask, row);
    if (!seen)
      return std::nullopt;
    ends.push_back(*seen);
  }
  auto endsAt = [&](int64_t row) {
    return ends[mask.storedRows == 1 ? 0 : row];
  };
  for (int64_t row = 0; row < mask.rows; ++row) {
    auto [first, last] = endsAt(row);
    if (first > 0)
      band.first = first - row;
    if (last < mask.keys - 1)
      band.last = last - row;
  }
  for (int64_t row = 0; row < mask.rows; ++row) {
    auto [first, last] = endsAt(row);
    if (std::max<int64_t>(0, row + band.first) != first ||
        std::min<int64_t>(mask.keys - 1, row + band.last) != last)
      return std::nullopt;
  }
  return band;
}

namespace {

class RecognizeBands : public nn::impl::RecognizeBandsBase<RecognizeBands> {
  void runOnOperation() override {
    getOperation()->walk([&](AttentionOp op) {
      if (!op.getMask() ||
          (op.getMaskedValue() &&
           !(op.getMaskedValue()->convertToDouble() <= kHiddenScore)))
        return;
      std::optional<Visibility> mask = visibilityOf(op);
      std::optional<Band> band = mask ? bandOf(*mask) : std::nullopt;
      if (!band)
        return;
      ++recognizedCount;
      op.getMaskMutable().clear();
      op.removeMaskedValueAttr();
      auto remark = remark::passed(
          op.getLoc(),
          remark::RemarkOpts::name("band").category("recognize-bands"));
      // A mask that hides no key is removed.
      int64_t far = std::max(mask->rows, mask->keys);
      if (band->first == -far && band->last == far) {
        remark << "the mask hides no key";
        return;
      }
      op.setBand(ArrayRef<int64_t>{band->first, band->last});
      remark << llvm::formatv("the mask is a band: query i sees the keys "
                              "i + {0} to i + {1}",
                              band->first, band->last)
                    .str();
    });
  }
};

} // namespace
