//===- Einsum.cpp - Einstein notation as transposes, sums and products ----===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operands are multiplied from left to right. A dimension that only one operand
// of a product has, and that nothing later needs, is summed before the product.
// A product that sums over dimensions is an nn.contract, any other one
// elementwise work. Dimensions of size 1 are left out, which makes them
// broadcast, and are put back into the result.
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace gpuopt;

namespace {

/// The name of a dimension: a letter of the equation, or kEllipsis + i for the
/// dimension of the ellipsis that is followed by i others.
using Label = unsigned;
using Labels = SmallVector<Label>;
constexpr Label kEllipsis = 256;

/// A tensor and its dimensions' labels.
struct Term {
  Value value;
  Labels labels;
};

class Einsum {
public:
  explicit Einsum(NodeConversion &c) : c(c), b(c.b) {}

  LogicalResult convert() {
    if (failed(parse()))
      return failure();
    Term product = terms.front();
    for (unsigned next = 1; next < terms.size(); ++next)
      if (failed(multiply(product, terms[next], neededAfter(next))))
        return failure();
    return finish(product);
  }

private:
  //===--------------------------------------------------------------------===//
  // The equation
  //===--------------------------------------------------------------------===//

  LogicalResult parse() {
    std::string equation = c.node.getString("equation", "").str();
    llvm::erase(equation, ' ');
    auto [left, right] = StringRef(equation).split("->");
    SmallVector<StringRef> texts;
    left.split(texts, ',');
    if (texts.size() != c.inputCount())
      return c.fail("the equation has " + Twine(texts.size()) + " terms for " +
                    Twine(c.inputCount()) + " operands");
    for (auto [index, text] : llvm::enumerate(texts))
      if (failed(addTerm(index, text)))
        return failure();
    bool isExplicit = StringRef(equation).contains("->");
    return isExplicit ? parseResult(right) : implyResult();
  }

  /// Returns the labels of `text`; the ellipsis stands for `covered`
  /// dimensions.
  FailureOr<Labels> labelsOf(StringRef text, int64_t covered) {
    auto [before, after] = text.split("...");
    Labels labels(before.begin(), before.end());
    if (text.contains("..."))
      for (int64_t i = covered; i-- > 0;)
        labels.push_back(kEllipsis + i);
    labels.append(after.begin(), after.end());
    for (Label label : labels)
      if (label < kEllipsis && !llvm::isAlpha(label))
        return c.fail("the equation's term '" + text + "' is malformed");
    return labels;
  }

  LogicalResult addTerm(unsigned index, StringRef text) {
    int64_t rank = c.type(index).getRank();
    int64_t written = llvm::count_if(text, llvm::isAlpha);
    FailureOr<Labels> labels =
        labelsOf(text, std::max<int64_t>(0, rank - written));
    if (failed(labels))
      return failure();
    if ((int64_t)labels->size() != rank)
      return c.fail("the equation's term '" + text +
                    "' does not fit the rank " + Twine(rank) + " of operand " +
                    Twine(index));
    if (text.contains("..."))
      ellipsisRank = std::max(ellipsisRank, rank - written);
    Term term{c.input(index), {}};
    SmallVector<int64_t> shape;
    for (auto [label, size] : llvm::zip(*labels, c.type(index).getShape())) {
      int64_t &known = sizes.insert({label, 1}).first->second;
      if (size != 1 && known != 1 && size != known)
        return c.fail("a letter of the equation has the sizes " + Twine(known) +
                      " and " + Twine(size));
      if (size != 1) {
        known = size;
        term.labels.push_back(label);
        shape.push_back(size);
      }
    }
    term.value = b.reshape(term.value, shape);
    takeDiagonals(term);
    terms.push_back(std::move(term));
    return success();
  }

  LogicalResult parseResult(StringRef text) {
    FailureOr<Labels> labels = labelsOf(text, ellipsisRank);
    if (failed(labels))
      return failure();
    result = *labels;
    for (auto [position, label] : llvm::enumerate(result))
      if (!sizes.count(label) ||
          llvm::is_contained(ArrayRef(result).take_front(position), label))
        return c.fail("the equation's result '" + text + "' is malformed");
    return success();
  }

  /// Without "->": the ellipsis, then the letters that stand once.
  LogicalResult implyResult() {
    for (int64_t i = ellipsisRank; i-- > 0;)
      result.push_back(kEllipsis + i);
    StringRef equation = c.node.getString("equation", "");
    for (Label letter = 'A'; letter <= 'z'; ++letter)
      if (llvm::isAlpha(letter) && equation.count((char)letter) == 1)
        result.push_back(letter);
    return success();
  }

  //===--------------------------------------------------------------------===//
  // One tensor
  //===--------------------------------------------------------------------===//

  /// Removes repeated labels: keeps the elements whose two indices are equal.
  void takeDiagonals(Term &term) {
    for (unsigned second = 1; second < term.labels.size(); ++second) {
      auto *first = llvm::find(term.labels, term.labels[second]);
      if (first == &term.labels[second])
        continue;
      RankedTensorType type = b.type(term.value).clone(b.getI64Type());
      Value isEqual =
          b.compare(arith::CmpIPredicate::eq,
                    b.create<nn::IotaOp>(type, first - term.labels.begin()),
                    b.create<nn::IotaOp>(type, second));
      term.value =
          b.select(isEqual, term.value, b.splat(0, b.type(term.value)));
      sumOver(term, {second--});
    }
  }

  /// Sums over the dimensions at these positions.
  void sumOver(Term &term, ArrayRef<int64_t> dims) {
    Value sum = b.sum(term.value, dims);
    SmallVector<int64_t> shape;
    Labels left;
    for (auto [dim, label] : llvm::enumerate(term.labels)) {
      if (llvm::is_contained(dims, (int64_t)dim))
        continue;
      left.push_back(label);
      shape.push_back(b.shape(sum)[dim]);
    }
    term = {b.reshape(sum, shape), left};
  }

  /// Sums over the labels that are in neither of two sets.
  void sumUnneeded(Term &term, ArrayRef<Label> other, ArrayRef<Label> needed) {
    SmallVector<int64_t> dims;
    for (auto [dim, label] : llvm::enumerate(term.labels))
      if (!llvm::is_contained(other, label) &&
          !llvm::is_contained(needed, label))
        dims.push_back(dim);
    sumOver(term, dims);
  }

  /// Returns the tensor with its dimensions in the order of `labels`, and size
  /// 1 for labels that it does not have.
  Value arrange(const Term &term, ArrayRef<Label> labels) {
    SmallVector<int64_t> permutation, shape;
    for (Label label : labels) {
      auto *found = llvm::find(term.labels, label);
      if (found != term.labels.end())
        permutation.push_back(found - term.labels.begin());
      shape.push_back(found == term.labels.end() ? 1 : sizes[label]);
    }
    return b.reshape(b.transpose(term.value, permutation), shape);
  }

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  /// Returns the labels of the result and of the operands after number `index`.
  Labels neededAfter(unsigned index) const {
    Labels needed = result;
    for (const Term &term : ArrayRef(terms).drop_front(index + 1))
      llvm::append_range(needed, term.labels);
    return needed;
  }

  LogicalResult multiply(Term &product, Term &next, ArrayRef<Label> needed) {
    sumUnneeded(product, next.labels, needed);
    sumUnneeded(next, product.labels, needed);
    Labels kept;
    bool sums = false;
    for (Label label : product.labels) {
      bool isKept = llvm::is_contained(needed, label);
      if (isKept)
        kept.push_back(label);
      sums |= !isKept;
    }
    for (Label label : next.labels)
      if (llvm::is_contained(needed, label) &&
          !llvm::is_contained(product.labels, label))
        kept.push_back(label);
    if (!sums) {
      product = {b.mul(arrange(product, kept), arrange(next, kept)), kept};
      return success();
    }
    FailureOr<std::string> spec = specOf(product.labels, next.labels, kept);
    if (failed(spec))
      return failure();
    product = {b.create<nn::ContractOp>(*spec, product.value, next.value),
               kept};
    return success();
  }

  FailureOr<std::string> specOf(ArrayRef<Label> lhs, ArrayRef<Label> rhs,
                                ArrayRef<Label> out) {
    llvm::SmallMapVector<Label, char, 8> letters;
    auto spell = [&](ArrayRef<Label> labels) {
      std::string text;
      for (Label label : labels)
        text += letters.insert({label, 'a' + letters.size()}).first->second;
      return text;
    };
    std::string spec = spell(lhs) + "," + spell(rhs) + "->" + spell(out);
    if (letters.size() > 26)
      return c.fail("a product of more than 26 dimensions is not supported");
    return spec;
  }

  LogicalResult finish(Term product) {
    sumUnneeded(product, {}, result);
    return c.yield(arrange(product, result));
  }

  NodeConversion &c;
  nn::TensorBuilder &b;
  SmallVector<Term> terms;
  Labels result;
  llvm::DenseMap<Label, int64_t> sizes;
  int64_t ellipsisRank = 0;
};

} // namespace

static LogicalResult einsum(NodeConversion &c) { return Einsum(c).convert(); }

ArrayRef<OperatorEntry> gpuopt::einsumOperators() {
  static const OperatorEntry entries[] = {
      {"Einsum", einsum, "floating-point operands"}};
  return entries;
}
