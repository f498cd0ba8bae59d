//===- ProductLayout.cpp - Contractions as batched matrix products --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/ProductLayout.h"

#include "gpuopt/Interfaces/RuntimeCallOpInterface.h"
#include <limits>

using namespace mlir;
using namespace gpuopt;

ProductSpec ProductSpec::parse(StringRef text) {
  auto [operands, result] = text.split("->");
  auto [lhs, rhs] = operands.split(',');
  return {lhs, rhs, result};
}

std::optional<ProductSpec> gpuopt::productSpecOf(Operation *op) {
  auto call = dyn_cast<RuntimeCallOpInterface>(op);
  StringRef letters = call ? call.getProductLetters() : StringRef();
  if (letters.empty())
    return std::nullopt;
  return ProductSpec::parse(letters);
}

double gpuopt::productOperations(const ProductSpec &spec, RankedTensorType lhs,
                                 RankedTensorType rhs) {
  llvm::SmallDenseMap<char, int64_t> sizes;
  for (auto [letters, type] :
       {std::pair(spec.lhs, lhs), std::pair(spec.rhs, rhs)})
    for (auto [letter, size] : llvm::zip(letters, type.getShape()))
      sizes[letter] = size;
  double count = 2;
  for (auto &[letter, size] : sizes)
    count *= size;
  return count;
}

/// This is what NVIDIA recommends for cuBLASLt on its newer GPUs.
int64_t gpuopt::productWorkspaceInBytes() { return int64_t(32) << 20; }

ProductLetters gpuopt::classifyLetters(const ProductSpec &spec) {
  ProductLetters letters;
  const auto &[lhs, rhs, result] = spec;
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
/// matrix that does not have these letters. The extent is how far a product may
/// go on behind the last element.
struct Dimension {
  int64_t size = 1, extent = 1;
  int64_t a = 0, b = 0, c = 0;
};

class LayoutBuilder {
public:
  LayoutBuilder(const ProductSpec &spec, const StridedView &lhs,
                const StridedView &rhs, const StridedView &result)
      : spec(spec), lhs(lhs), rhs(rhs), result(result) {}

  std::optional<ProductLayout> build() {
    ProductLetters letters = classifyLetters(spec);
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
    size_t inLhs = spec.lhs.find(letter), inRhs = spec.rhs.find(letter);
    int64_t size =
        inLhs != StringRef::npos ? lhs.sizes[inLhs] : rhs.sizes[inRhs];
    return {size, extentOf(letter, size), strideOf(lhs, spec.lhs, letter),
            strideOf(rhs, spec.rhs, letter),
            strideOf(result, spec.result, letter)};
  }

  /// Returns how far a dimension goes on in all matrices that have it. What is
  /// added up has to be zero in both operands, since a zero times a NaN is one.
  /// Elsewhere, what lies there stays in pads of the result.
  int64_t extentOf(char letter, int64_t size) const {
    bool isSummed = !spec.result.contains(letter);
    int64_t extent = std::numeric_limits<int64_t>::max();
    for (auto [view, letters] :
         {std::pair(&lhs, spec.lhs), std::pair(&rhs, spec.rhs),
          std::pair(&result, spec.result)}) {
      size_t dim = letters.find(letter);
      if (dim == StringRef::npos)
        continue;
      if (view->extents.empty() || (isSummed && !view->hasZeroPads))
        return size;
      extent = std::min(extent, view->extents[dim]);
    }
    return extent;
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
        *last = {last->size * next.size, last->size * next.size, next.a, next.b,
                 next.c};
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
    layout.m = row.extent;
    layout.n = column.extent;
    layout.k = inner.extent;
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

  const ProductSpec &spec;
  const StridedView &lhs, &rhs, &result;
};

} // namespace

std::optional<ProductLayout> gpuopt::productLayout(const ProductSpec &spec,
                                                   const StridedView &lhs,
                                                   const StridedView &rhs,
                                                   const StridedView &result) {
  return LayoutBuilder(spec, lhs, rhs, result).build();
}

std::optional<ProductLayout>
gpuopt::productLayoutOf(Operation *op, const CallLayouts &layouts) {
  StridedView result = layouts.results[0];
  auto contract = dyn_cast<nn::ContractOp>(op);
  if (contract && contract.getBias())
    result.extents.clear();
  return productLayout(*productSpecOf(op), layouts.operands[0],
                       layouts.operands[1], result);
}

/// Returns kGemm64x10x32_tn for a product of 64 x 10 with 32 inner elements
/// whose first operand lies transposed (t) and whose second does not (n), in
/// the letters of BLAS.
static std::string nameOf(const ProductLayout &layout) {
  auto letter = [](const std::array<int64_t, 4> &strides) {
    return strides[3] != 1 && strides[2] == 1 ? "t" : "n";
  };
  int64_t batch = layout.batch[0] * layout.batch[1];
  std::string letters = std::string(letter(layout.a)) + letter(layout.b);
  return "kGemm" + (batch != 1 ? std::to_string(batch) + "x" : "") +
         std::to_string(layout.m) + "x" + std::to_string(layout.n) + "x" +
         std::to_string(layout.k) + (letters == "nn" ? "" : "_" + letters);
}

StructConstant gpuopt::gemmShapeOf(const ProductLayout &layout) {
  StructConstant shape("GemmShape", nameOf(layout));
  shape.pair("batch", layout.batch[0], layout.batch[1], 1);
  shape.field("m", layout.m);
  shape.field("n", layout.n);
  shape.field("k", layout.k);
  shape.pair("a_batch", layout.a[0], layout.a[1], 0);
  shape.field("a_m", layout.a[2], 1);
  shape.field("a_k", layout.a[3], 1);
  shape.pair("b_batch", layout.b[0], layout.b[1], 0);
  shape.field("b_k", layout.b[2], 1);
  shape.field("b_n", layout.b[3], 1);
  shape.pair("c_batch", layout.c[0], layout.c[1], 0);
  shape.field("c_m", layout.c[2], 1);
  shape.field("c_n", layout.c[3], 1);
  return shape;
}
