//===- BuildErrors.cpp - What a failed build failed of --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build/BuildErrors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

/// Returns whether a line reports an error, as g++, nvcc, ptxas, ld, make and
/// shells spell it.
static bool tellsError(StringRef line) {
  constexpr StringLiteral kSigns[] = {
      "error:",   "error :",     "fatal   :",           "fatal error",
      "error #",  "CMake Error", "undefined reference", "cannot find -l",
      "error  :", "Error: ",     "command not found",   "Killed"};
  return any_of(kSigns, [&](StringRef sign) { return line.contains(sign); });
}

/// Returns the text of a message of CMake: the lines below the one that names
/// its place, up to the first empty line that follows some text, or to the call
/// stack.
static std::string messageBelow(ArrayRef<StringRef> lines) {
  std::string message;
  for (StringRef line : lines) {
    line = line.trim();
    if ((line.empty() && !message.empty()) || line.starts_with("Call Stack ("))
      break;
    if (!line.empty())
      message += (message.empty() ? "" : " ") + line.str();
  }
  return message;
}

std::string gpuopt::ownErrorOf(StringRef log) {
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (auto [index, line] : enumerate(lines)) {
    // CMake names files below the program's folder by relative paths.
    StringRef place = line.trim();
    if (place.consume_front("CMake Error at ") && !place.starts_with("/") &&
        place.ends_with(" (message):"))
      return messageBelow(ArrayRef(lines).drop_front(index + 1));
  }
  return "";
}

std::string gpuopt::firstErrorOf(StringRef log) {
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (auto [index, line] : enumerate(lines)) {
    if (!tellsError(line))
      continue;
    line = line.trim();
    // "CMake Error at CMakeLists.txt:3 (message):" has its text below.
    return line.starts_with("CMake Error") && line.ends_with(":")
               ? line.str() + " " +
                     messageBelow(ArrayRef(lines).drop_front(index + 1))
               : line.str();
  }
  for (StringRef line : reverse(lines))
    if (!line.trim().empty())
      return line.trim().str();
  return "";
}
