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

  /// Takes a member of a set, or its end. A set of POSIX knows no escapes: a ]
  /// is a member where it is the first one, and a - where it is the last.
  void takeMember() {
    const llvm::StringRef two = rest.take_front(2);
    if (two == "[:" || two == "[." || two == "[=")
      return refuse(2);
    if (two.front() == ']') {
      isInSet = false;
      return replace(1, hasDash ? "-]" : "]");
    }
    if (two.front() != '\\')
      return keep(1);
    const llvm::StringRef escaped = two.drop_front();
    if (escaped == "d" || escaped == "w" || escaped == "s")
      return replace(2, membersOf(escaped));
    // A ^ that is the first member would mean all others.
    if (escaped.empty() || llvm::isAlnum(escaped[0]) || escaped == "[" ||
        (escaped == "^" && posix.size() == firstMember))
      return refuse(2);
    if (escaped == "-")
      hasDash = true;
    else if (escaped == "]" &&
             !llvm::StringRef(posix).drop_front(firstMember).starts_with("]"))
      posix.insert(firstMember, "]");
    replace(2, escaped == "-" || escaped == "]" ? "" : escaped);
  }

  /// Takes the begin of a set. Its first member may be a ].
  void beginSet() {
    isInSet = true;
    hasDash = false;
    keep(rest.starts_with("[^") ? 2 : 1);
    firstMember = posix.size();
    if (rest.starts_with("]"))
      keep(1);
  }

  /// Returns the length of a {m}, {m,} or {m,n} in front; 0 if there is none.
  size_t repetitionLength() const {
    llvm::StringRef text = rest;
    if (!text.consume_front("{") || text.empty() || !llvm::isDigit(text[0]))
      return 0;
    text = text.drop_while(llvm::isDigit);
    if (text.consume_front(","))
      text = text.drop_while(llvm::isDigit);
    return text.consume_front("}") ? rest.size() - text.size() : 0;
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
    const size_t repetition = repetitionLength();
    canBeLazy = !isLazy && (repetition > 0 ||
                            llvm::StringRef("*+?").contains(rest.front()));
    // A lazy repetition matches what a greedy one does, only in another order.
    if (isLazy)
      return replace(1, "");
    if (rest.starts_with("(?:"))
      return replace(3, "(");
    if (rest.starts_with("(?"))
      return refuse(3);
    if (rest.starts_with("{,"))
      return refuse(2);
    if (rest.front() == '[')
      return beginSet();
    keep(repetition > 0 ? repetition : 1);
  }

  llvm::StringRef rest;   // of the expression of Python
  bool isInSet = false;   // between [ and ]
  bool hasDash = false;   // as a member of the set
  size_t firstMember = 0; // where that of the set stands in `posix`
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
            "' means something in Python that is not supported here; write the "
            "expression without it";
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
