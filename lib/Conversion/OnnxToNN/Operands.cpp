//===- Operands.cpp - What each ONNX operator's operands must be ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table of which operands each operator must have and what their elements
// are. Files may violate this, and converters rely on it, so it is checked.
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gpuopt;

namespace {
/// One letter per operand, a small one where it may be left out, and * after
/// one that any number of operands may be like:
///   F  floating-point         N  floating-point or integer
///   I  integer                B  boolean
///   U  integer, which may be unsigned
///   C  floating-point, integer or boolean
///   S  of operand 0's type    T  of operand 1's type
///   A  any tensor             X  any tensor or sequence    Q  a sequence
struct Rule {
  StringLiteral operands, operators;
};
} // namespace

static constexpr Rule kRules[] = {
    {"F", "Acos Acosh Asin Asinh Atan Atanh AveragePool Bernoulli Ceil Celu "
          "Cos Cosh Elu Erf Exp Floor Gelu GlobalAveragePool GlobalLpPool "
          "GlobalMaxPool HardSigmoid HardSwish Hardmax IsInf IsNaN LRN "
          "LeakyRelu Log LogSoftmax LpNormalization LpPool "
          "MeanVarianceNormalization Mish Multinomial "
          "Reciprocal Relu Round Selu Shrink Sigmoid Sin Sinh Softmax Softplus "
          "Softsign Sqrt Swish "
          "Tan Tanh ThresholdedRelu"},
    {"NS", "Add Div Greater GreaterOrEqual Less LessOrEqual Mod Mul Sub"},
    {"NS*", "Max Min Sum"},
    {"BB", "And Or Xor"},
    {"US", "BitShift BitwiseAnd BitwiseOr BitwiseXor"},
    {"U", "BitwiseNot"},
    {"I", "BlackmanWindow ConstantOfShape HammingWindow HannWindow"},
    {"IIIFF", "MelWeightMatrix"},
    {"FS", "GridSample MatMul PRelu RMSNormalization SwiGLU"},
    {"FI", "AffineGrid"},
    {"FII", "Col2Im"},
    {"FIi", "MaxUnpool"},
    {"Fii", "DFT"},
    {"FIsi", "STFT"},
    {"F", "Det DynamicQuantizeLinear"},
    {"FSSsss", "LinearAttention"},
    {"FSss", "CausalConvWithState"},
    {"ASi", "TensorScatter"},
    {"FSI", "RoiAlign"},
    {"FSSss", "DeformConv"},
    {"AFa", "DequantizeLinear QuantizeLinear"},
    {"AAaa", "ConvInteger MatMulInteger"},
    {"AFAAFAFA", "QLinearMatMul"},
    {"AFAAFAFAi", "QLinearConv"},
    {"B", "If"},
    {"ibx*", "Loop"},
    {"x*", "Optional OptionalGetElement OptionalHasElement Scan SequenceMap"},
    {"", "SequenceEmpty"},
    {"Q", "ConcatFromSequence SequenceLength"},
    {"Qi", "SequenceErase"},
    {"QAi", "SequenceInsert"},
    {"FIs", "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"},
    {"FSSi", "RotaryEmbedding"},
    {"AIS", "Scatter ScatterElements ScatterND"},
    {"AB", "Compress"},
    {"FSs", "Conv ConvTranspose Gemm LayerNormalization"},
    {"FSS", "GroupNormalization InstanceNormalization"},
    {"FS*", "Einsum Mean"},
    {"N", "Abs ArgMax ArgMin MaxPool Neg Sign"},
    {"Ni", "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
           "ReduceMean ReduceProd ReduceSum ReduceSumSquare"},
    {"Ci", "ReduceMax ReduceMin"},
    {"NI", "CumProd CumSum TopK"},
    {"A", "BitCast Cast DepthToSpace EyeLike Flatten NonZero RandomNormalLike "
          "RandomUniformLike Shape Size SpaceToDepth Transpose Unique"},
    {"Ai", "Split SplitToSequence Squeeze Trilu Unsqueeze"},
    {"AI", "CenterCropPad Expand Gather GatherElements GatherND Reshape "
           "ReverseSequence Tile"},
    {"AS*", "Concat SequenceConstruct"},
    {"FSSaaaa", "Attention"},
    {"FSSSS", "BatchNormalization"},
    {"AA", "CastLike"},
    {"Nss", "Clip"},
    {"", "Constant RandomNormal RandomUniform"},
    {"Ffb", "Dropout"},
    {"AS", "Equal"},
    {"X", "Identity"},
    {"FSSsis", "GRU RNN"},
    {"FSSsisss", "LSTM"},
    {"B", "Not"},
    {"NNA", "OneHot"},
    {"AIsi", "Pad"},
    {"NN", "Pow"},
    {"NSS", "Range"},
    {"Fffi", "Resize Upsample"},
    {"QI", "SequenceAt"},
    {"AIIii", "Slice"},
    {"BAT", "Where"},
};

static StringRef operandsOf(StringRef op) {
  static const llvm::StringMap<StringRef> rules = [] {
    llvm::StringMap<StringRef> rules;
    for (const Rule &rule : kRules)
      for (StringRef name : llvm::split(rule.operators, ' '))
        rules[name] = rule.operands;
    return rules;
  }();
  auto rule = rules.find(op);
  return rule == rules.end() ? "A*" : rule->second; // and its converter looks
}

static std::string kindOf(NodeConversion &c, unsigned index) {
  if (c.sequence(index).isSequence)
    return "a sequence";
  std::string text;
  llvm::raw_string_ostream(text) << c.input(index).getType();
  return text;
}

/// Whether signed arithmetic is right for these elements. Unsigned constants
/// must fit into the signed integers of their width.
static bool isSigned(Value value) {
  if (!cast<RankedTensorType>(value.getType())
           .getElementType()
           .isUnsignedInteger())
    return true;
  DenseElementsAttr constant = constantOf(value);
  return constant && !exceedsSigned(constant);
}

/// Returns what an operand must be by its letter; empty if it is so.
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
  case 'C':
    return isBool || isSigned(c.input(index)) ? "" : "signed";
  case 'U':
    return isFloat || isBool ? "integer" : "";
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

bool gpuopt::computesSigned(StringRef op, unsigned operand) {
  StringRef rule = operandsOf(op);
  rule.consume_back("*");
  if (rule.empty())
    return false;
  char letter = llvm::toUpper(rule[std::min<size_t>(operand, rule.size() - 1)]);
  if (letter == 'S')
    letter = rule.front();
  return letter == 'N' || letter == 'C' || letter == 'I';
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
