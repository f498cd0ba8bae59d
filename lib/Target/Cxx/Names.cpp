//===- Names.cpp - Names of the emitted source ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Names.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gpuopt;

std::string cxx::constantName(StringRef symbol) {
  std::string name = "kOff";
  bool upper = true;
  bool afterDigit = false;
  for (char c : symbol) {
    if (c == '_') {
      upper = true;
      continue;
    }
    // "1_2" and "12" stay apart.
    if (upper && afterDigit && llvm::isDigit(c))
      name += '_';
    name += upper ? llvm::toUpper(c) : c;
    afterDigit = llvm::isDigit(c);
    upper = false;
  }
  return name;
}

std::string cxx::identifier(StringRef symbol) {
  static const llvm::StringSet<> reserved = {
      "auto", "bool", "break", "case", "catch", "char", "class", "const", "continue", "default", "delete", "do",
      "double", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
      "inline", "int", "long", "mutable", "namespace", "new", "operator", "private", "protected", "public",
      "register", "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw",
      "true", "try", "typedef", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "while",
      "exp", "log", "tanh", "sqrt", "max", "min", "abs", "load", "store", "select", "convert", "iota", "block",
      "keep", "launch", "gemm", "copy", "state", "hyper", "memory", "ctx"};
  return reserved.contains(symbol) ? (symbol + "_").str() : symbol.str();
}

std::string cxx::typeName(Type element) {
  if (element.isInteger(1))
    return "bool";
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

std::string cxx::memoryType(Type element) {
  return llvm::StringSwitch<std::string>(typeName(element))
      .Case("f64", "double").Case("f32", "float").Case("f16", "f16").Case("bf16", "bf16")
      .Case("i64", "int64_t").Case("i32", "int32_t").Case("i16", "int16_t").Case("i8", "int8_t")
      .Case("bool", "uint8_t").Default("");
}

std::string cxx::computeType(Type element) {
  if (element.isInteger(1))
    return "bool";
  if (element.isF16() || element.isBF16())
    return "float";
  return element.isIndex() ? "int64_t" : memoryType(element);
}

std::string cxx::typeEnum(Type element) {
  std::string name = typeName(element);
  return name == "bool" ? "Type::Bool" : "Type::" + StringRef(name).upper();
}

std::string cxx::floatLiteral(const llvm::APFloat &value, Type type) {
  if (value.isNaN())
    return "NAN";
  if (value.isInfinity())
    return value.isNegative() ? "-INFINITY" : "INFINITY";
  // The shortest decimal that reads back as the same number.
  bool isDouble = type.isF64(), lossy = false;
  llvm::APFloat wide = value;
  wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lossy);
  double number = wide.convertToDouble();
  std::string literal;
  for (int digits = 1; digits <= 17; ++digits) {
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, number);
    literal = text;
    bool isSame = isDouble ? strtod(text, nullptr) == number : strtof(text, nullptr) == (float)number;
    if (isSame)
      break;
  }
  if (literal.find_first_of(".e") == std::string::npos)
    literal += ".0";
  return isDouble ? literal : literal + "f";
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
