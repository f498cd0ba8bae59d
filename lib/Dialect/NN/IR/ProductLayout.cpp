//===- ProductLayout.cpp - Contractions as batched matrix products --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/ProductLayout.h"

using namespace mlir;
using namespace gpuopt;

ProductLetters gpuopt::classifyLetters(nn::ContractOp op) {
  ProductLetters letters;
  StringRef lhs = op.getLhsLetters(), rhs = op.getRhsLetters(),
            result = op.getResultLetters();
  for (char letter : result)
    (lhs.contains(letter) ? rhs.contains(letter) ? letters.batch : letters.rows
                          : letters.columns) += letter;
  for (char letter : lhs)
    if (!result.contains(letter))
      letters.inner += letter;
  return letters;
}

namespace {

/// Some letters as one dimension of all three matrices. The stride is 0 in a
/// matrix that does not have these letters.
struct Dimension {
  int64_t size = 1;
  int64_t a = 0, b = 0, c = 0;
};

class LayoutBuilder {
public:
  LayoutBuilder(nn::ContractOp op, const StridedView &lhs,
                const StridedView &rhs, const StridedView &result)
      : op(op), lhs(lhs), rhs(rhs), result(result) {}

  std::optional<ProductLayout> build() {
    ProductLetters letters = classifyLetters(op);
    SmallVector<Dimension> batch = merge(letters.batch),
                           rows = merge(letters.rows),
                           columns = merge(letters.columns),
                           inner = merge(letters.inner);
    if (inner.size() > 1)
      return std::nullopt;
    // If there are several runs of rows or columns, the last one stays; the
    // others become batches, which repeat the other operand.
    for (SmallVector<Dimension> *group : {&rows, &columns})
      while (group->size() > 1) {
        batch.push_back(group->front());
        group->erase(group->begin());
      }
    if (batch.size() > 2)
      return std::nullopt;
    return assemble(batch, rows.empty() ? Dimension() : rows[0],
                    columns.empty() ? Dimension() : columns[0],
                    inner.empty() ? Dimension() : inner[0]);
  }

private:
  static int64_t strideOf(const StridedView &view, StringRef letters,
                          char letter) {
    size_t dim = letters.find(letter);
    return dim == StringRef::npos ? 0 : view.strides[dim];
  }

  Dimension dimensionOf(char letter) {
    StringRef lhsLetters = op.getLhsLetters(), rhsLetters = op.getRhsLetters();
    size_t inLhs = lhsLetters.find(letter), inRhs = rhsLetters.find(letter);
    int64_t size =
        inLhs != StringRef::npos ? lhs.sizes[inLhs] : rhs.sizes[inRhs];
    return {size, strideOf(lhs, lhsLetters, letter),
            strideOf(rhs, rhsLetters, letter),
            strideOf(result, op.getResultLetters(), letter)};
  }

  /// Merges neighbouring letters that follow one another in all three matrices
  /// into one dimension.
  SmallVector<Dimension> merge(StringRef letters) {
    SmallVector<Dimension> merged;
    for (char letter : letters) {
      Dimension next = dimensionOf(letter);
      if (next.size == 1)
        continue;
      Dimension *last = merged.empty() ? nullptr : &merged.back();
      if (last && last->a == next.a * next.size &&
          last->b == next.b * next.size && last->c == next.c * next.size)
        *last = {last->size * next.size, next.a, next.b, next.c};
      else
        merged.push_back(next);
    }
    return merged;
  }

  std::optional<ProductLayout> assemble(ArrayRef<Dimension> batch,
                                        const Dimension &row,
                                        const Dimension &column,
                                        const Dimension &inner) const {
    ProductLayout layout;
    size_t first = 2 - batch.size();
    for (auto [index, dim] : llvm::enumerate(batch)) {
      layout.batch[first + index] = dim.size;
      layout.a[first + index] = dim.a;
      layout.b[first + index] = dim.b;
      layout.c[first + index] = dim.c;
    }
    layout.m = row.size;
    layout.n = column.size;
    layout.k = inner.size;
    setMatrix(layout.a, {row.size, row.a}, {inner.size, inner.a});
    setMatrix(layout.b, {inner.size, inner.b}, {column.size, column.b});
    setMatrix(layout.c, {row.size, row.c}, {column.size, column.c});
    for (const auto &strides : {layout.a, layout.b, layout.c})
      if (strides[2] != 1 && strides[3] != 1)
        return std::nullopt;
    return layout;
  }

  /// Sets the strides of rows and columns; a dimension of size 1 gets the
  /// stride that keeps the matrix dense.
  static void setMatrix(std::array<int64_t, 4> &strides,
                        std::pair<int64_t, int64_t> row,
                        std::pair<int64_t, int64_t> column) {
    strides[2] = row.second;
    strides[3] = column.second;
    if (column.first == 1)
      strides[3] = row.second == 1 && row.first != 1 ? row.first : 1;
    if (row.first == 1)
      strides[2] = strides[3] == 1 ? column.first : 1;
  }

  nn::ContractOp op;
  const StridedView &lhs, &rhs, &result;
};

} // namespace

std::optional<ProductLayout> gpuopt::productLayout(nn::ContractOp op,
                                                   const StridedView &lhs,
                                                   const StridedView &rhs,
                                                   const StridedView &result) {
  return LayoutBuilder(op, lhs, rhs, result).build();
}
