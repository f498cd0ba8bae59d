//===- Text.cpp - Lines and comments of a readable width ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace gpuopt;

namespace {

/// A place where a line may be broken; `at` is where the next line begins.
struct Break {
  size_t at = 0, indent = 0, depth = 0;
};

} // namespace

static bool isOperatorAt(StringRef line, size_t at) {
  return at + 2 < line.size() && line[at] != ' ' &&
         StringRef("+-*/&|^?:").contains(line[at]) && line[at + 1] == ' ' &&
         line[at - 1] == ' ';
}

/// Whether a bracket of a template's arguments is there, as in `f<4, T>(x)`:
/// operators have spaces around them.
static bool opensTemplate(StringRef line, size_t at) {
  return line[at] == '<' && at > 0 &&
         (isAlnum(line[at - 1]) || line[at - 1] == '_');
}
static bool closesTemplate(StringRef line, size_t at) {
  return line[at] == '>' && at > 0 && !StringRef(" ->").contains(line[at - 1]);
}

/// Returns the last of the outermost places within kColumns; if there is none,
/// `at` is 0. The columns of the brackets that are open there are stored in
/// `open`.
static Break bestBreak(StringRef line, size_t indent,
                       SmallVectorImpl<size_t> &open) {
  Break best;
  SmallVector<size_t> openAtBest, stack(open.begin(), open.end());
  bool isQuoted = false;
  for (size_t at = indent; at < line.size() && at < cxx::kColumns; ++at) {
    char c = line[at];
    if (c == '"' && line[at - 1] != '\\')
      isQuoted = !isQuoted;
    if (isQuoted)
      continue;
    size_t next = 0;
    if (StringRef("([{").contains(c) || opensTemplate(line, at))
      stack.push_back(at + 1);
    else if ((StringRef(")]}").contains(c) || closesTemplate(line, at)) &&
             !stack.empty())
      stack.pop_back();
    else if (c == ',' && at + 2 < line.size() && line[at + 1] == ' ')
      next = at + 2;
    else if (at > indent && isOperatorAt(line, at))
      next = at;
    if (next && (!best.at || stack.size() <= best.depth)) {
      best = {next, stack.empty() ? 0 : stack.back(), stack.size()};
      openAtBest = stack;
    }
  }
  open.assign(openAtBest.begin(), openAtBest.end());
  return best;
}

void cxx::printLine(raw_ostream &stream, StringRef text) {
  std::string line = text.str();
  size_t first = line.find_first_not_of(' '), indent = first;
  SmallVector<size_t> open;
  while (line.size() > kColumns) {
    Break best = bestBreak(line, indent, open);
    if (!best.at)
      break;
    // Brackets far to the right leave too little room.
    bool hasRoom = best.indent && best.indent <= kColumns * 2 / 5;
    indent = hasRoom ? best.indent : first + 4;
    stream << StringRef(line).take_front(best.at).rtrim() << "\n";
    line = std::string(indent, ' ') + line.substr(best.at);
  }
  stream << line << "\n";
}

/// The names are the user's, so none of them may end the comment, or continue
/// it on the next line.
void cxx::printComment(raw_ostream &stream, StringRef text, unsigned indent) {
  std::string line = std::string(indent, ' ') + "//";
  size_t empty = line.size();
  auto harmless = [](StringRef word) {
    std::string result = word.str();
    std::replace_if(
        result.begin(), result.end(),
        [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    // g++ takes a backslash that only spaces follow as a continuation.
    return StringRef(result).rtrim().ends_with("\\") ? result + "." : result;
  };
  for (StringRef word : llvm::split(text, ' ')) {
    if (line.size() > empty && line.size() + 1 + word.size() > kColumns) {
      stream << line << "\n";
      line.resize(empty);
    }
    line += " " + harmless(word);
  }
  stream << line << "\n";
}

std::string cxx::callText(StringRef name, ArrayRef<std::string> arguments) {
  return name.str() + "(" + llvm::join(arguments, ", ") + ")";
}

void cxx::printBanner(raw_ostream &stream, StringRef title) {
  stream << "\n// " << std::string(76, '-') << "\n// " << title << "\n\n";
}
