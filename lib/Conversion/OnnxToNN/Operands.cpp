//===- Operands.cpp - What each ONNX operator's operands must be ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operators' specifications in one table: which operands must be there and
// what elements they have. Files break them, and converters rely on them.
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gpuopt;

/// One letter per operand, a small one where it may be left out, and * after
/// one that any number of operands may be like:
///   F  floating-point         N  floating-point or integer
///   I  integer                B  boolean
///   S  of operand 0's type    T  of operand 1's type
///   A  any tensor             X  any tensor or sequence    Q  a sequence
static StringRef operandsOf(StringRef op) {
  return llvm::StringSwitch<StringRef>(op)
      .Cases({"Acos",
              "Acosh",
              "Asin",
              "Asinh",
              "Atan",
              "Atanh",
              "AveragePool",
              "Ceil",
              "Celu",
              "Cos",
              "Cosh",
              "Elu",
              "Erf",
              "Exp",
              "Floor",
              "Gelu",
              "HardSwish",
              "HardSigmoid",
              "IsInf",
              "IsNaN",
              "LeakyRelu",
              "Log",
              "LogSoftmax",
              "MaxPool",
              "Mish",
              "Reciprocal",
              "Relu",
              "Round",
              "Selu",
              "Shrink",
              "Sigmoid",
              "Sin",
              "Sinh",
              "Softmax",
              "Softplus",
              "Softsign",
              "Sqrt",
              "Swish",
              "Tan",
              "Tanh",
              "ThresholdedRelu"},
             "F")
      .Cases({"GlobalAveragePool", "GlobalMaxPool", "LpNormalization"}, "F")
      .Cases({"Add", "Div", "Mod", "Mul", "Sub"}, "NS")
      .Cases({"Greater", "GreaterOrEqual", "Less", "LessOrEqual"}, "NS")
      .Cases({"Max", "Min", "Sum"}, "NS*")
      .Cases({"And", "Or", "Xor"}, "BB")
      .Cases({"PRelu", "RMSNormalization"}, "FS")
      .Cases({"Conv", "ConvTranspose", "Gemm", "LayerNormalization"}, "FSs")
      .Cases({"GroupNormalization", "InstanceNormalization"}, "FSS")
      .Cases({"Einsum", "Mean"}, "FS*")
      .Cases({"Abs", "ArgMax", "ArgMin", "Neg", "Sign"}, "N")
      .Cases({"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
              "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
              "ReduceSumSquare"},
             "Ni")
      .Cases({"CumSum", "TopK"}, "NI")
      .Cases({"Cast", "DepthToSpace", "EyeLike", "Flatten"}, "A")
      .Cases({"RandomUniformLike", "Shape", "Size", "SpaceToDepth"}, "A")
      .Case("Transpose", "A")
      .Cases({"Split", "SplitToSequence", "Squeeze", "Trilu", "Unsqueeze"},
             "Ai")
      .Cases(
          {"Expand", "Gather", "GatherElements", "GatherND", "Reshape", "Tile"},
          "AI")
      .Cases({"Concat", "SequenceConstruct"}, "AS*")
      .Case("Attention", "FSSaaaa")
      .Case("BatchNormalization", "FSSSS")
      .Case("CastLike", "AA")
      .Case("Clip", "Nss")
      .Case("Constant", "")
      .Case("ConstantOfShape", "I")
      .Case("Dropout", "Ffb")
      .Case("Equal", "AS")
      .Case("Identity", "X")
      .Cases({"GRU", "RNN"}, "FSSsis")
      .Case("LSTM", "FSSsisss")
      .Case("MatMul", "FS")
      .Case("Not", "B")
      .Case("OneHot", "IIA")
      .Case("Pad", "AIsi")
      .Case("Pow", "FN")
      .Case("Range", "NSS")
      .Case("Resize", "Fffi")
      .Case("SequenceAt", "QI")
      .Case("Slice", "AIIii")
      .Case("Where", "BAT")
      .Default("A*"); // and its converter looks
}

static std::string kindOf(NodeConversion &c, unsigned index) {
  if (c.sequence(index).isSequence)
    return "a sequence";
  std::string text;
  llvm::raw_string_ostream(text) << c.input(index).getType();
  return text;
}

/// Whether arithmetic, which is signed, takes these elements for what they are:
/// of unsigned ones, constants that fit into the signed integer of their width.
static bool isSigned(Value value) {
  if (!cast<RankedTensorType>(value.getType())
           .getElementType()
           .isUnsignedInteger())
    return true;
  DenseElementsAttr constant = constantOf(value);
  return constant &&
         llvm::none_of(constant.getValues<APInt>(),
                       [](const APInt &number) { return number.isNegative(); });
}

/// What an operand of this letter must be; empty if it is so.
static std::string whatItLacks(NodeConversion &c, unsigned index, char letter) {
  bool isSequence = c.sequence(index).isSequence;
  if (letter == 'X' || (letter == 'Q' && isSequence))
    return "";
  if (letter == 'Q' || isSequence)
    return letter == 'Q' ? "a sequence" : "a tensor";
  auto type = dyn_cast<RankedTensorType>(c.input(index).getType());
  if (!type || !type.hasStaticShape())
    return "of static shape";
  Type element = type.getElementType();
  bool isFloat = isa<FloatType>(element), isBool = element.isInteger(1);
  switch (letter) {
  case 'F':
    return isFloat ? "" : "floating-point";
  case 'N':
    if (isBool)
      return "floating-point or integer";
    return isSigned(c.input(index)) ? "" : "signed";
  case 'I':
    if (isFloat || isBool)
      return "integer";
    return isSigned(c.input(index)) ? "" : "signed";
  case 'B':
    return isBool ? "" : "boolean";
  case 'S':
  case 'T': {
    unsigned other = letter == 'T';
    return element == c.type(other).getElementType()
               ? ""
               : "of the type of operand " + std::to_string(other);
  }
  default:
    return "";
  }
}

LogicalResult gpuopt::checkOperands(NodeConversion &c) {
  StringRef rule = operandsOf(c.node.getOpType());
  bool isOpen = rule.consume_back("*");
  size_t listed = rule.size() - isOpen;
  for (size_t index = 0; index < std::max(listed, c.inputCount()); ++index) {
    bool isGiven = index < c.inputCount() &&
                   (c.has(index) || c.sequence(index).isSequence);
    if (index >= listed && !isOpen) {
      if (isGiven)
        return c.fail("operand " + Twine(index) + " is one too many");
      continue;
    }
    char letter = rule[std::min(index, rule.size() - 1)];
    if (!isGiven && llvm::isLower(letter))
      continue;
    if (!isGiven)
      return c.fail("operand " + Twine(index) + " is missing");
    letter = llvm::toUpper(letter);
    std::string lacks = whatItLacks(c, index, letter);
    if (lacks.empty() && letter == 'S')
      lacks = whatItLacks(c, index, rule.front());
    if (!lacks.empty())
      return c.fail("operand " + Twine(index) + " must be " + lacks +
                    ", but is " + kindOf(c, index));
  }
  return success();
}
