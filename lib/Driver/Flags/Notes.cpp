//===- Notes.cpp - What a command tells if it succeeds --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/Notes.h"

#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

using namespace llvm;

static std::vector<std::string> &keptNotes() {
  static std::vector<std::string> notes;
  return notes;
}

void gpuopt::addNote(const Twine &text) { keptNotes().push_back(text.str()); }

void gpuopt::noteReplaced(StringRef flag, StringRef earlier, StringRef later) {
  if (earlier != later)
    addNote((flag.size() == 1 ? "-" : "--") + flag + " is given as '" +
            earlier + "' and as '" + later + "'; the last one counts");
}

std::string gpuopt::noteOn(StringRef subject) {
  for (StringRef note : keptNotes())
    if (note.consume_front(subject) && note.consume_front(": "))
      return note.str();
  return "";
}

void gpuopt::printNotes(bool isQuiet) {
  for (StringRef note : keptNotes())
    if (!isQuiet || note.starts_with("warning: "))
      errs() << "gpuopt: " << note << "\n";
  keptNotes().clear();
}
