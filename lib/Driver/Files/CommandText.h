//===- CommandText.h - A command as a line of a shell -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_COMMANDTEXT_H
#define GPUOPT_LIB_DRIVER_FILES_COMMANDTEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace gpuopt {

/// Returns a word as a shell reads it: in quotes if it has bytes, such as
/// spaces, that mean something there.
inline std::string shellWord(llvm::StringRef word) {
  constexpr llvm::StringLiteral kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == llvm::StringRef::npos)
    return word.str();
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Returns the words of a command with spaces between them.
inline std::string commandText(llvm::ArrayRef<std::string> words) {
  std::string text;
  for (llvm::StringRef word : words)
    text += (text.empty() ? "" : " ") + shellWord(word);
  return text;
}

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_COMMANDTEXT_H
