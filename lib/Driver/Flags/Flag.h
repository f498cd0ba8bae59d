//===- Flag.h - Flags whose help tells their defaults -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FLAGS_FLAG_H
#define GPUOPT_LIB_DRIVER_FLAGS_FLAG_H

#include "Flags/Notes.h"
#include "Flags/ParseErrors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/StringSaver.h"

#include <type_traits>

namespace gpuopt {

/// A cl::opt whose value is checked before LLVM reads it: LLVM reports what it
/// cannot read in other words, and reads an empty number as 0.
template <class T>
class CheckedOpt : public llvm::cl::opt<T> {
public:
  using llvm::cl::opt<T>::opt;
  using llvm::cl::opt<T>::operator=;

  bool addOccurrence(unsigned position, llvm::StringRef name,
                     llvm::StringRef text, bool isMulti) override {
    if (llvm::StringRef needed = whatIsNeeded<T>(text); !needed.empty())
      return noteValueError((name.size() == 1 ? "-" : "--") + name.str() +
                            " needs " + needed.str() + ", but is '" +
                            text.str() + "'");
    // --shuffle and --no-shuffle are for taking each other back.
    if (!std::is_same_v<T, bool> && this->getNumOccurrences() > 0)
      noteReplaced(name, given, text);
    given = text.str();
    return llvm::cl::opt<T>::addOccurrence(position, name, forLlvm(text),
                                           isMulti);
  }

private:
  /// Returns an integer without leading zeros, with which LLVM would read it as
  /// an octal one.
  static std::string forLlvm(llvm::StringRef text) {
    if (!std::is_integral_v<T> || std::is_same_v<T, bool>)
      return text.str();
    llvm::StringRef sign = text.take_while([](char c) { return c == '-'; }),
                    digits = text.drop_front(sign.size()).ltrim('0');
    return (sign + (digits.empty() ? "0" : digits)).str();
  }

  std::string given; ///< The text of the last occurrence.
};

/// A flag that is on or off.
using Switch = CheckedOpt<bool>;

/// A flag whose default is `value`, which its help mentions.
template <class T>
class Flag : public CheckedOpt<T> {
public:
  template <class... Modifiers>
  Flag(llvm::StringRef name, const T &value, llvm::StringRef help,
       const Modifiers &...modifiers)
      : CheckedOpt<T>(name, llvm::cl::init(value),
                      llvm::cl::desc(withDefault(help, value)), modifiers...) {}

  using CheckedOpt<T>::operator=;

  bool isGiven() const { return this->getNumOccurrences() > 0; }
  /// Returns the value as messages spell it.
  std::string str() const { return text(this->getValue()); }

private:
  static std::string text(double value) {
    return llvm::formatv("{0}", llvm::format("%g", value));
  }
  static std::string text(int64_t value) { return std::to_string(value); }
  static std::string text(uint64_t value) { return std::to_string(value); }
  static std::string text(const std::string &value) { return value; }

  /// Returns the help with the default. The text lives until the process ends,
  /// as the flag does.
  static llvm::StringRef withDefault(llvm::StringRef help, const T &value) {
    static llvm::BumpPtrAllocator allocator;
    return llvm::StringSaver(allocator).save(help + " (default " + text(value) +
                                             ")");
  }
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FLAGS_FLAG_H
