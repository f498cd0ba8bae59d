//===- NNDialect.cpp - The nn dialect -------------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/NN/IR/ElementwiseVjp.h"
#include "gpuopt/Support/RowPitch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

#include "gpuopt/Dialect/NN/IR/NNDialect.cpp.inc"
#include "gpuopt/Dialect/NN/IR/NNEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "gpuopt/Dialect/NN/IR/NNAttributes.cpp.inc"

void NNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "gpuopt/Dialect/NN/IR/NNAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "gpuopt/Dialect/NN/IR/NNOps.cpp.inc"
      >();
}

Operation *NNDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                          Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

#define GET_OP_CLASSES
#include "gpuopt/Dialect/NN/IR/NNOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult OriginAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef name, bool isGradient) {
  if (isGradient && name.empty()) // (C1)
    return emitError() << "expects a gradient to be of something with a name";
  return success();
}

/// Parses "fc1", or gradient of "fc1".
static OriginAttr parseOrigin(AsmParser &parser) {
  bool isGradient = succeeded(parser.parseOptionalKeyword("gradient"));
  std::string name;
  if ((isGradient && parser.parseKeyword("of")) || parser.parseString(&name))
    return {};
  return parser.getChecked<OriginAttr>(parser.getContext(), name, isGradient);
}

static void printOrigin(AsmPrinter &printer, OriginAttr origin) {
  printer << (origin.getIsGradient() ? "gradient of " : "");
  printer.printString(origin.getName());
}

Attribute OriginAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  OriginAttr origin = parseOrigin(parser);
  return origin && succeeded(parser.parseGreater()) ? origin : OriginAttr();
}

void OriginAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printOrigin(printer, *this);
  printer << ">";
}

Attribute OriginsAttr::parse(AsmParser &parser, Type) {
  SmallVector<OriginAttr> origins;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
            origins.push_back(parseOrigin(parser));
            return success(origins.back() != nullptr);
          }))
    return {};
  return OriginsAttr::get(parser.getContext(), origins);
}

void OriginsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getOrigins(), printer, [&](OriginAttr origin) {
    printOrigin(printer, origin);
  });
  printer << ">";
}

LogicalResult NNDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (name == OriginsAttrHelper::getNameStr()) {
    auto origins = dyn_cast<OriginsAttr>(value);
    if (!origins || origins.getOrigins().size() != op->getNumResults())
      return op->emitOpError("expects '")
             << name << "' to be an '#nn.origins' with one origin for each of "
             << op->getNumResults() << " results, but got " << value;
  } else if (name == FromAttrHelper::getNameStr()) {
    auto composite = dyn_cast<StringAttr>(value);
    if (!composite ||
        !RegisteredOperationName::lookup("nn." + composite.str(), getContext()))
      return op->emitOpError("expects '")
             << name << "' to be the name of an op of 'nn', but got " << value;
  } else if (name == ResultAttrHelper::getNameStr()) {
    auto number = dyn_cast<IntegerAttr>(value);
    if (!number || !number.getType().isInteger(64) || number.getInt() < 0)
      return op->emitOpError("expects '")
             << name << "' to be the number of a result, but got " << value;
  } else if (name == kStraightThrough) {
    if (!isa<math::RoundEvenOp>(op) || !isa<UnitAttr>(value))
      return op->emitOpError("expects '")
             << name << "' to be a unit on a 'math.roundeven', but got "
             << value;
  } else if (name == kPassesAtBound) {
    if (!isa<arith::MaximumFOp, arith::MinimumFOp>(op) || !isa<UnitAttr>(value))
      return op->emitOpError("expects '")
             << name << "' to be a unit on an 'arith.maximumf' or "
             << "'arith.minimumf', but got " << value;
  } else if (name == kStopsGradient) {
    if (!isa<ConcatOp>(op) || op->getNumOperands() != 1 ||
        !isa<UnitAttr>(value))
      return op->emitOpError("expects '")
             << name << "' to be a unit on an 'nn.concat' of one operand, but "
             << "got " << value;
  } else {
    return op->emitOpError("has an attribute '")
           << name << "', which 'nn' does not know";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static LogicalResult verifyPlaces(FusedOp op) {
  ArrayRef<int64_t> places = *op.getInPlace(); // (C4)
  if (places.size() != op.getNumResults())
    return op.emitOpError("expects 'in_place' to have ")
           << op.getNumResults() << " entries, but got " << places.size();
  llvm::SmallDenseSet<int64_t> taken;
  for (auto [result, operand] : llvm::zip(op.getResults(), places)) {
    if (operand == -1)
      continue;
    if (operand < 0 || operand >= (int64_t)op.getInputs().size() ||
        !taken.insert(operand).second)
      return op.emitOpError("expects 'in_place' to name each of its ")
             << op.getInputs().size() << " operands at most once, but got "
             << operand;
    if (!isSameButForPads(op.getInputs()[operand].getType(), result.getType()))
      return op.emitOpError("expects a result in place of an operand to have "
                            "its type, but got ")
             << result.getType() << " in place of "
             << op.getInputs()[operand].getType();
  }
  return success();
}

/// Checks (C5): a kernel leaves pads as they are.
static LogicalResult verifyZeros(FusedOp op) {
  for (OpResult result : op.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    Value operand = op.getOverwritten(result.getResultNumber());
    if (padsOf(type).areZeros && (!operand || operand.getType() != type))
      return op.emitOpError("expects a result with pads of zeros to be written "
                            "over an operand of its type, but got ")
             << type;
  }
  return success();
}

/// Whether the types of a body are those of the memory around it without the
/// pads, which only memory has.
static bool areDenseFormsOf(TypeRange inside, TypeRange outside) {
  return llvm::equal(inside, outside, [](Type value, Type memory) {
    return !cast<RankedTensorType>(value).getEncoding() &&
           isSameButForPads(value, memory);
  });
}

/// `reduction` is the first one of the body, or null.
static LogicalResult verifyPartialSums(Block &body, ReduceOp reduction) {
  PartialSumOp first;
  for (PartialSumOp sum : body.getOps<PartialSumOp>()) { // (C3)
    first = first ? first : sum;
    auto type = cast<ShapedType>(sum.getInput().getType());
    bool reducesRows =
        reduction && reduction.getDims() == ArrayRef(type.getRank() - 1) &&
        cast<ShapedType>(reduction.getInput().getType()).getShape() ==
            type.getShape();
    if (!reducesRows)
      return sum.emitOpError("expects 'nn.fused' to reduce the last dimension "
                             "of ")
             << sum.getInput().getType() << " as well";
    if (sum.getParts() != first.getParts())
      return sum.emitOpError("expects the ")
             << first.getParts()
             << " parts of the other sums in 'nn.fused', but got "
             << sum.getParts();
    if (!llvm::all_of(sum->getUsers(), llvm::IsaPred<YieldOp>))
      return sum.emitOpError("expects to be read by 'nn.yield' alone");
  }
  return success();
}

LogicalResult FusedOp::verify() {
  Block &block = getBody().front();
  auto yield =
      dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield ||
      !areDenseFormsOf(block.getArgumentTypes(), getInputs().getTypes()) ||
      !areDenseFormsOf(yield.getValues().getTypes(), getResultTypes())) // (C1)
    return emitOpError("expects a body with the operands' types as arguments "
                       "that yields the results' types");
  ReduceOp first;
  for (ReduceOp reduce : block.getOps<ReduceOp>()) { // (C2)
    first = first ? first : reduce;
    bool same = reduce.getDims() == first.getDims() &&
                cast<ShapedType>(reduce.getInput().getType()).getShape() ==
                    cast<ShapedType>(first.getInput().getType()).getShape();
    if (!same)
      return reduce
                 .emitOpError("expects the shape and dimensions of the other "
                              "reductions in 'nn.fused'")
                 .attachNote(first.getLoc())
             << "the first one is here";
  }
  if (failed(verifyPartialSums(block, first)))
    return failure();
  if (getInPlace() && failed(verifyPlaces(*this)))
    return failure();
  return verifyZeros(*this);
}
