//===- CallArguments.cpp - What calls of the runtime pass -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallArguments.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::device;

//===----------------------------------------------------------------------===//
// Constants of struct types
//===----------------------------------------------------------------------===//

/// Parses a field: name = 4, or name = [1, 2].
static ParseResult parseField(AsmParser &parser,
                              SmallVectorImpl<NamedAttribute> &fields) {
  StringRef name;
  if (parser.parseKeyword(&name) || parser.parseEqual())
    return failure();
  Builder &builder = parser.getBuilder();
  SmallVector<int64_t> numbers;
  auto parseNumber = [&] {
    return parser.parseInteger(numbers.emplace_back());
  };
  if (succeeded(parser.parseOptionalLSquare())) {
    if (parser.parseCommaSeparatedList(parseNumber) || parser.parseRSquare())
      return failure();
    fields.emplace_back(builder.getStringAttr(name),
                        builder.getDenseI64ArrayAttr(numbers));
    return success();
  }
  if (parseNumber())
    return failure();
  fields.emplace_back(builder.getStringAttr(name),
                      builder.getI64IntegerAttr(numbers.front()));
  return success();
}

/// Parses what follows the type of a struct: kPool2x2 {kh = 2, kw = 2}.
static Attribute parseStruct(AsmParser &parser, StringRef type) {
  StringRef name;
  SmallVector<NamedAttribute> fields;
  if (parser.parseKeyword(&name) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&] {
        return parseField(parser, fields);
      }))
    return {};
  return StructAttr::get(parser.getContext(), type, name, fields);
}

static void printStruct(AsmPrinter &printer, StructAttr constant) {
  llvm::raw_ostream &stream = printer.getStream();
  auto printField = [&](NamedAttribute field) {
    stream << field.getName().getValue() << " = ";
    auto numbers = dyn_cast<DenseI64ArrayAttr>(field.getValue());
    if (!numbers)
      return printer.printAttributeWithoutType(field.getValue());
    stream << "[";
    llvm::interleaveComma(numbers.asArrayRef(), stream);
    stream << "]";
  };
  stream << constant.getStructType() << " " << constant.getName() << " {";
  llvm::interleaveComma(constant.getFields(), stream, printField);
  stream << "}";
}

Attribute StructAttr::parse(AsmParser &parser, Type) {
  StringRef type;
  if (parser.parseLess() || parser.parseKeyword(&type))
    return {};
  Attribute constant = parseStruct(parser, type);
  return constant && succeeded(parser.parseGreater()) ? constant : Attribute();
}

void StructAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printStruct(printer, *this);
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

using UnresolvedOperands = SmallVectorImpl<OpAsmParser::UnresolvedOperand>;

static ParseResult parseArgument(OpAsmParser &parser,
                                 UnresolvedOperands &operands,
                                 Attribute &argument);

/// Parses what follows the `=` of a named argument, such as %0.
static ParseResult parseNamedValue(OpAsmParser &parser, StringRef name,
                                   UnresolvedOperands &operands,
                                   Attribute &argument) {
  StringAttr text = parser.getBuilder().getStringAttr(name);
  Attribute value;
  if (parseArgument(parser, operands, value))
    return failure();
  argument = NamedArgumentAttr::get(parser.getContext(), text, value);
  return success();
}

/// Parses options after their brace: beta = 1.0, bias = %3}. There may be none.
static ParseResult parseOptions(OpAsmParser &parser,
                                UnresolvedOperands &operands,
                                Attribute &argument) {
  SmallVector<Attribute> options;
  auto parseOption = [&]() -> ParseResult {
    StringRef name;
    return failure(
        parser.parseKeyword(&name) || parser.parseEqual() ||
        parseNamedValue(parser, name, operands, options.emplace_back()));
  };
  if (failed(parser.parseOptionalRBrace()) &&
      (parser.parseCommaSeparatedList(parseOption) || parser.parseRBrace()))
    return failure();
  argument = parser.getBuilder().getArrayAttr(options);
  return success();
}

static ParseResult parseArgument(OpAsmParser &parser,
                                 UnresolvedOperands &operands,
                                 Attribute &argument) {
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult isOperand = parser.parseOptionalOperand(operand);
  if (isOperand.has_value()) {
    operands.push_back(operand);
    argument = parser.getBuilder().getUnitAttr();
    return *isOperand;
  }
  if (succeeded(parser.parseOptionalLBrace()))
    return parseOptions(parser, operands, argument);
  StringRef word;
  if (failed(parser.parseOptionalKeyword(&word)))
    return parser.parseAttribute(argument);
  if (succeeded(parser.parseOptionalEqual()))
    return parseNamedValue(parser, word, operands, argument);
  if (std::optional<Word> known = symbolizeWord(word))
    argument = WordAttr::get(parser.getContext(), *known);
  else
    argument = parseStruct(parser, word);
  return success(argument != nullptr);
}

ParseResult device::parseTemplateArguments(OpAsmParser &parser,
                                           ArrayAttr &arguments) {
  SmallVector<Attribute> values;
  if (parser.parseCommaSeparatedList(
          [&] { return parser.parseAttribute(values.emplace_back()); }))
    return failure();
  arguments = parser.getBuilder().getArrayAttr(values);
  return success();
}

void device::printTemplateArguments(OpAsmPrinter &printer, Operation *,
                                    ArrayAttr arguments) {
  llvm::interleaveComma(
      arguments, printer.getStream(),
      [&](Attribute argument) { printer.printAttributeWithoutType(argument); });
}

ParseResult device::parseCallArguments(OpAsmParser &parser,
                                       UnresolvedOperands &operands,
                                       ArrayAttr &arguments) {
  SmallVector<Attribute> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        return parseArgument(parser, operands, values.emplace_back());
      }))
    return failure();
  arguments = parser.getBuilder().getArrayAttr(values);
  return success();
}

/// Prints an argument; takes the operands that it stands for from `operands`.
static void printArgument(OpAsmPrinter &printer, Attribute argument,
                          OperandRange &operands) {
  if (auto named = dyn_cast<NamedArgumentAttr>(argument)) {
    printer << named.getName().getValue() << " = ";
    printArgument(printer, named.getValue(), operands);
  } else if (isa<UnitAttr>(argument) && !operands.empty()) {
    printer << operands.front();
    operands = operands.drop_front();
  } else if (auto word = dyn_cast<WordAttr>(argument)) {
    printer << stringifyWord(word.getValue());
  } else if (auto constant = dyn_cast<StructAttr>(argument)) {
    printStruct(printer, constant);
  } else if (auto options = dyn_cast<ArrayAttr>(argument)) {
    printer << "{";
    llvm::interleaveComma(options, printer.getStream(), [&](Attribute option) {
      printArgument(printer, option, operands);
    });
    printer << "}";
  } else {
    printer.printAttributeWithoutType(argument);
  }
}

void device::printCallArguments(OpAsmPrinter &printer, Operation *,
                                OperandRange operands, ArrayAttr arguments) {
  printer << "(";
  llvm::interleaveComma(
      arguments, printer.getStream(),
      [&](Attribute argument) { printArgument(printer, argument, operands); });
  printer << ")";
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

static bool isPlainArgument(Attribute argument) {
  // The text has no types, so numbers have 64 bits.
  if (auto number = dyn_cast<TypedAttr>(argument);
      isa<IntegerAttr, FloatAttr>(argument))
    return number.getType().isInteger(64) || number.getType().isF64();
  return isa<UnitAttr, WordAttr, StructAttr>(argument);
}

static bool isNamedArgument(Attribute argument) {
  auto named = dyn_cast<NamedArgumentAttr>(argument);
  return named && isPlainArgument(named.getValue());
}

/// Counts the operands that an argument stands for. (A walk would visit each
/// attribute once, however often it occurs.)
static size_t countOperands(Attribute argument) {
  if (auto named = dyn_cast<NamedArgumentAttr>(argument))
    return countOperands(named.getValue());
  size_t count = isa<UnitAttr>(argument);
  if (auto options = dyn_cast<ArrayAttr>(argument))
    for (Attribute option : options)
      count += countOperands(option);
  return count;
}

static bool isTemplateArgument(Attribute argument) {
  auto number = dyn_cast<IntegerAttr>(argument);
  return isa<TypeAttr, StringAttr>(argument) ||
         (number && number.getType().isInteger(64));
}

LogicalResult CallOp::verify() {
  std::optional<ArrayAttr> ofTemplate = getTemplateArguments();
  for (Attribute argument :
       ofTemplate ? ofTemplate->getValue() : ArrayRef<Attribute>())
    if (!isTemplateArgument(argument)) // (C3)
      return emitOpError("expects a type, an integer of 64 bits or a string as "
                         "argument of a template, but got ")
             << argument;
  size_t operandCount = 0;
  for (Attribute argument : getArguments()) {
    auto options = dyn_cast<ArrayAttr>(argument);
    bool isKnown = options
                       ? llvm::all_of(options, isNamedArgument)
                       : isPlainArgument(argument) || isNamedArgument(argument);
    if (!isKnown) // (C2)
      return emitOpError("expects an operand, a number of 64 bits, 'null', "
                         "'state', a struct or options as argument, but got ")
             << argument;
    operandCount += countOperands(argument);
  }
  if (operandCount != getOperands().size()) // (C1)
    return emitOpError("expects as many operands as its arguments stand for, "
                       "but got ")
           << getOperands().size() << " for " << operandCount;
  return success();
}
