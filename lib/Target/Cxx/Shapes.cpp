//===- Shapes.cpp - Shapes of library calls as constants ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

#include "Text.h"

using namespace mlir;
using namespace gpuopt;

namespace {

/// {.m = 4, .n = 8}: fields in the order of the struct's declaration.
class Initialiser {
public:
  void field(StringRef name, int64_t value) {
    add(name, std::to_string(value));
  }
  /// Left out where it is the struct's default.
  void field(StringRef name, int64_t value, int64_t standard) {
    if (value != standard)
      field(name, value);
  }
  void pair(StringRef name, int64_t first, int64_t second, int64_t standard) {
    if (first != standard || second != standard)
      add(name,
          "{" + std::to_string(first) + ", " + std::to_string(second) + "}");
  }
  std::string str() const { return "{" + text + "}"; }

private:
  void add(StringRef name, const std::string &value) {
    text += (text.empty() ? "." : ", .") + name.str() + " = " + value;
  }
  std::string text;
};

} // namespace

static std::string times(int64_t a, int64_t b) {
  return std::to_string(a) + "x" + std::to_string(b);
}

std::string cxx::ShapeTable::lookup(const std::string &type,
                                    const std::string &name,
                                    const std::string &initialiser) {
  std::string &known = nameOf[type + initialiser];
  if (known.empty()) {
    known = names.unique(name);
    lines.push_back("constexpr " + type + " " + known + " = " + initialiser +
                    ";");
  }
  return known;
}

void cxx::ShapeTable::print(raw_ostream &stream) const {
  for (const std::string &line : lines)
    printLine(stream, line);
}

std::string cxx::ShapeTable::of(device::GemmOp op) {
  ArrayRef<int64_t> batch = op.getBatch(), a = op.getAStrides(),
                    b = op.getBStrides(), c = op.getCStrides();
  Initialiser shape;
  shape.pair("batch", batch[0], batch[1], 1);
  shape.field("m", op.getM());
  shape.field("n", op.getN());
  shape.field("k", op.getK());
  shape.pair("a_batch", a[0], a[1], 0);
  shape.field("a_m", a[2]);
  shape.field("a_k", a[3]);
  shape.pair("b_batch", b[0], b[1], 0);
  shape.field("b_k", b[2]);
  shape.field("b_n", b[3]);
  shape.pair("c_batch", c[0], c[1], 0);
  shape.field("c_m", c[2]);
  shape.field("c_n", c[3]);
  auto letter = [](ArrayRef<int64_t> strides) {
    return strides[3] != 1 && strides[2] == 1 ? "t" : "n";
  };
  std::string name = "kGemm", letters = std::string(letter(a)) + letter(b);
  if (batch[0] * batch[1] != 1)
    name += std::to_string(batch[0] * batch[1]) + "x";
  name += times(op.getM(), op.getN()) + "x" + std::to_string(op.getK());
  return lookup("GemmShape", letters == "nn" ? name : name + "_" + letters,
                shape.str());
}

std::string cxx::ShapeTable::of(device::ConvOp op) {
  ArrayRef<int64_t> x = op.getInputShape(), w = op.getWeightShape(),
                    y = op.getOutputShape();
  ArrayRef<int64_t> pads = op.getPads(), strides = op.getStrides(),
                    dilations = op.getDilations();
  Initialiser shape;
  for (auto [name, value] : {std::pair("n", x[0]),
                             {"h", x[1]},
                             {"w", x[2]},
                             {"c", x[3]},
                             {"oh", y[1]},
                             {"ow", y[2]},
                             {"oc", y[3]},
                             {"kh", w[2]},
                             {"kw", w[3]}})
    shape.field(name, value);
  shape.pair("stride", strides[0], strides[1], 1);
  shape.pair("pad_begin", pads[0], pads[1], 0);
  shape.pair("pad_end", pads[2], pads[3], 0);
  shape.pair("dilation", dilations[0], dilations[1], 1);
  shape.field("groups", op.getGroups(), 1);
  std::string name = "kConv" + times(w[2], w[3]) + "_" + std::to_string(x[3]) +
                     "to" + std::to_string(y[3]) + "_" + times(y[1], y[2]);
  return lookup("ConvShape", name, shape.str());
}

std::string cxx::ShapeTable::of(device::PoolOp op) {
  ArrayRef<int64_t> x = op.getInputShape(), y = op.getOutputShape(),
                    kernel = op.getKernel();
  ArrayRef<int64_t> pads = op.getPads(), strides = op.getStrides(),
                    dilations = op.getDilations();
  Initialiser shape;
  for (auto [name, value] : {std::pair("n", x[0]),
                             {"h", x[1]},
                             {"w", x[2]},
                             {"c", x[3]},
                             {"oh", y[1]},
                             {"ow", y[2]},
                             {"kh", kernel[0]},
                             {"kw", kernel[1]}})
    shape.field(name, value);
  shape.pair("stride", strides[0], strides[1], 1);
  shape.pair("pad_begin", pads[0], pads[1], 0);
  shape.pair("pad_end", pads[2], pads[3], 0);
  shape.pair("dilation", dilations[0], dilations[1], 1);
  shape.field("count_include_pad", op.getCountIncludePad(), 0);
  return lookup("PoolShape",
                "kPool" + times(kernel[0], kernel[1]) + "_" + times(y[1], y[2]),
                shape.str());
}
