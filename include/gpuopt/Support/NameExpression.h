//===- NameExpression.h - Regular expressions of names ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Users write expressions as Python's `re` takes them, but LLVM has those of
// POSIX, in which \d is the letter d. An expression is rewritten where POSIX
// can say the same, and refused where it cannot. What is rewritten is never
// shown: records and messages have what the user wrote.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_SUPPORT_NAMEEXPRESSION_H
#define GPUOPT_SUPPORT_NAMEEXPRESSION_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Regex.h"

#include <string>

namespace gpuopt {

/// A regular expression of Python in the words of POSIX.
class PosixTranslation {
public:
  explicit PosixTranslation(llvm::StringRef python) : rest(python) {
    while (!rest.empty() && refused.empty()) {
      if (isInSet)
        takeMember();
      else if (rest.front() == '\\')
        takeEscape();
      else
        takeToken();
    }
  }

  std::string posix;
  std::string refused; ///< The first part that POSIX cannot say; mostly none.

private:
  /// Takes characters of the expression, and appends what they become.
  void replace(size_t size, llvm::StringRef by) {
    posix += by;
    rest = rest.drop_front(size);
  }
  void keep(size_t size) { replace(size, rest.take_front(size)); }
  void refuse(size_t size) { refused = rest.take_front(size).str(); }

  /// Returns what \d, \w and \s are between the brackets of a set.
  static llvm::StringRef membersOf(llvm::StringRef letter) {
    return llvm::StringSwitch<llvm::StringRef>(letter)
        .Cases({"d", "D"}, "0-9")
        .Cases({"w", "W"}, "A-Za-z0-9_")
        .Cases({"s", "S"}, " \t\n\r\f\v")
        .Default("");
  }

  /// Takes a member of a set, or its end. A set of POSIX knows no escapes.
  void takeMember() {
    const llvm::StringRef two = rest.take_front(2);
    if (two == "[:" || two == "[." || two == "[=")
      return refuse(2);
    if (two.front() != '\\') {
      isInSet = two.front() != ']';
      return keep(1);
    }
    const llvm::StringRef escaped = two.drop_front();
    if (escaped == "d" || escaped == "w" || escaped == "s")
      return replace(2, membersOf(escaped));
    if (escaped.empty() || llvm::isAlnum(escaped[0]) ||
        llvm::StringRef("[]^-\\").contains(escaped[0]))
      return refuse(2);
    replace(2, escaped);
  }

  /// Takes an escape outside of sets. There is no \b among them: LLVM's ends
  /// of words are not found in front of a $.
  void takeEscape() {
    canBeLazy = false;
    const llvm::StringRef escaped = rest.take_front(2).drop_front();
    if (llvm::StringRef members = membersOf(escaped); !members.empty())
      return replace(2, ((llvm::isUpper(escaped[0]) ? "[^" : "[") + members +
                         llvm::Twine("]"))
                            .str());
    if (escaped == "A" || escaped == "Z")
      return replace(2, escaped == "A" ? "^" : "$");
    if (escaped.empty() || llvm::isAlnum(escaped[0]))
      return refuse(2);
    keep(2);
  }

  /// Takes anything else outside of sets.
  void takeToken() {
    const bool isLazy = canBeLazy && rest.front() == '?';
    canBeLazy = !isLazy && llvm::StringRef("*+?").contains(rest.front());
    // A lazy repetition matches what a greedy one does, only in another order.
    if (isLazy)
      return replace(1, "");
    if (rest.starts_with("(?:"))
      return replace(3, "(");
    if (rest.starts_with("(?"))
      return refuse(3);
    if (rest.starts_with("{,"))
      return refuse(2);
    if (rest.front() == '[') {
      isInSet = true;
      // The first member may be a ].
      return keep(rest.starts_with("[^]")                            ? 3
                  : rest.starts_with("[^") || rest.starts_with("[]") ? 2
                                                                     : 1);
    }
    keep(1);
  }

  llvm::StringRef rest;   // of the expression of Python
  bool isInSet = false;   // between [ and ]
  bool canBeLazy = false; // behind a repetition
};

/// A regular expression as users of Python write it, which is searched for in
/// names. \d, \w and \s are those of ASCII.
class NameExpression {
public:
  explicit NameExpression(llvm::StringRef python)
      : translation(python), regex(translation.posix) {}

  /// Returns the part that has a meaning in Python and none here, such as
  /// "(?!"; mostly nothing.
  const std::string &refusedPart() const { return translation.refused; }

  /// Whether it can be used; `error` says why not.
  bool isValid(std::string &error) const {
    if (refusedPart().empty())
      return regex.isValid(error);
    error = "'" + refusedPart() +
            "' is not supported as Python means it; write the expression "
            "without it";
    return false;
  }

  /// Whether it is valid and matches a part of a name.
  bool match(llvm::StringRef name) const {
    return refusedPart().empty() && regex.match(name);
  }

private:
  PosixTranslation translation;
  llvm::Regex regex;
};

} // namespace gpuopt

#endif // GPUOPT_SUPPORT_NAMEEXPRESSION_H
