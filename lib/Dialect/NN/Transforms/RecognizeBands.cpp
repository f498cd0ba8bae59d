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
  SmallVector<bool> seen; ///< [rows, keys]
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
  Visibility result{scores[0], scores[1], {}};
  for (int64_t row = 0; row < scores[0]; ++row)
    for (int64_t key = 0; key < scores[1]; ++key) {
      int64_t at =
          (stored[0] == 1 ? 0 : row) * stored[1] + (stored[1] == 1 ? 0 : key);
      result.seen.push_back((*seen)[at] != isNegated);
    }
  return result;
}

static std::optional<Band> bandOf(const Visibility &mask) {
  // Without a limit, the band reaches beyond all keys.
  int64_t far = std::max(mask.rows, mask.keys);
  Band band{-far, far};
  SmallVector<std::pair<int64_t, int64_t>> ends;
  for (int64_t row = 0; row < mask.rows; ++row) {
    auto seen = ArrayRef(mask.seen).slice(row * mask.keys, mask.keys);
    int64_t first = llvm::find(seen, true) - seen.begin(), last = mask.keys - 1;
    while (last >= 0 && !seen[last])
      --last;
    if (first > last ||
        llvm::is_contained(seen.slice(first, last - first + 1), false))
      return std::nullopt;
    if (first > 0)
      band.first = first - row;
    if (last < mask.keys - 1)
      band.last = last - row;
    ends.push_back({first, last});
  }
  for (auto [row, seen] : llvm::enumerate(ends))
    if (std::max<int64_t>(0, row + band.first) != seen.first ||
        std::min<int64_t>(mask.keys - 1, row + band.last) != seen.second)
      return std::nullopt;
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
