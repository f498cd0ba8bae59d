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

namespace {
struct Note {
  bool isWarning;
  std::string text;
};
} // namespace

static std::vector<Note> &keptNotes() {
  static std::vector<Note> notes;
  return notes;
}

void gpuopt::addNote(const Twine &text) {
  keptNotes().push_back({/*isWarning=*/false, text.str()});
}

void gpuopt::addWarning(const Twine &text) {
  keptNotes().push_back({/*isWarning=*/true, text.str()});
}

void gpuopt::noteReplaced(StringRef flag, StringRef earlier, StringRef later) {
  if (earlier != later)
    addNote((flag.size() == 1 ? "-" : "--") + flag + " is given as '" +
            earlier + "' and as '" + later + "'; the last one counts");
}

std::string gpuopt::noteOn(StringRef subject) {
  for (const Note &note : keptNotes())
    if (StringRef text = note.text;
        text.consume_front(subject) && text.consume_front(": "))
      return text.str();
  return "";
}

void gpuopt::printNotes(bool isQuiet) {
  for (const Note &note : keptNotes())
    if (!isQuiet || note.isWarning)
      errs() << "gpuopt: " << (note.isWarning ? "warning: " : "") << note.text
             << "\n";
  keptNotes().clear();
}
