//===- Types.cpp - Element types and literals in C++ ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Types.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gpuopt;

std::string cxx::typeName(Type element) {
  if (element.isInteger(1))
    return "bool";
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

std::string cxx::memoryType(Type element) {
  return llvm::StringSwitch<std::string>(typeName(element))
      .Case("f64", "double")
      .Case("f32", "float")
      .Case("f16", "f16")
      .Case("bf16", "bf16")
      .Case("i64", "int64_t")
      .Case("i32", "int32_t")
      .Case("i16", "int16_t")
      .Case("i8", "int8_t")
      .Case("bool", "uint8_t")
      .Default("");
}

std::string cxx::computeType(Type element) {
  if (element.isInteger(1))
    return "bool";
  if (element.isF16() || element.isBF16())
    return "float";
  return element.isIndex() ? "int64_t" : memoryType(element);
}

std::string cxx::unsignedType(Type element) {
  return "u" + computeType(element);
}

std::string cxx::typeEnum(Type element) {
  std::string name = typeName(element);
  return name == "bool" ? "Type::Bool" : "Type::" + StringRef(name).upper();
}

/// Returns the fewest digits that read back as the same number.
static std::string shortestDecimal(double number, bool isDouble) {
  std::string literal;
  for (int digits = 1; digits <= 17; ++digits) {
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, number);
    literal = text;
    if (isDouble ? strtod(text, nullptr) == number
                 : strtof(text, nullptr) == float(number))
      break;
  }
  if (literal.find_first_of(".e") == std::string::npos)
    literal += ".0";
  return literal;
}

std::string cxx::floatLiteral(const llvm::APFloat &value, Type type) {
  bool isDouble = type.isF64();
  auto macro = [&](StringRef name) {
    return isDouble ? ("double(" + name + ")").str() : name.str();
  };
  if (value.isNaN())
    return macro("NAN");
  if (value.isInfinity())
    return (value.isNegative() ? "-" : "") + macro("INFINITY");
  bool isLossy = false;
  llvm::APFloat wide = value;
  wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
               &isLossy);
  return shortestDecimal(wide.convertToDouble(), isDouble) +
         (isDouble ? "" : "f");
}

std::string cxx::doubleLiteral(double value) {
  if (std::isfinite(value))
    return shortestDecimal(value, /*isDouble=*/true);
  return std::isnan(value) ? "NAN" : value < 0 ? "-INFINITY" : "INFINITY";
}

std::string cxx::integerLiteral(const llvm::APInt &value, Type type) {
  if (type.isInteger(1))
    return value.isZero() ? "false" : "true";
  // The smallest number has no literal, because its absolute value is out of
  // range.
  if (value.isMinSignedValue())
    return StringRef(computeType(type)).drop_back(2).upper() + "_MIN";
  return llvm::toString(value, 10, /*Signed=*/true);
}

std::string cxx::quoted(StringRef text) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << '"';
  for (unsigned char c : text) {
    if (c == '"' || c == '\\')
      stream << '\\' << c;
    else if (llvm::isPrint(c))
      stream << c;
    else
      stream << llvm::format("\\%03o", c);
  }
  stream << '"';
  return result;
}
