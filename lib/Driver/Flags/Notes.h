//===- Notes.h - What a command tells if it succeeds ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FLAGS_NOTES_H
#define GPUOPT_LIB_DRIVER_FLAGS_NOTES_H

#include "llvm/ADT/Twine.h"
#include <string>

namespace gpuopt {

/// Keeps what gpuopt has chosen for the user, as a target. It is not told at
/// once: an error comes alone, so that nobody has to look for it.
void addNote(const llvm::Twine &text);

/// Keeps what the user should know even where notes are not wanted.
void addWarning(const llvm::Twine &text);

/// Notes that a flag was given with two values, unless they are the same.
void noteReplaced(llvm::StringRef flag, llvm::StringRef earlier,
                  llvm::StringRef later);

/// Returns what the note "SUBJECT: TEXT" says, for an error that it explains;
/// nothing if there is none.
std::string noteOn(llvm::StringRef subject);

/// Prints each note as "gpuopt: TEXT" and each warning as "gpuopt: warning:
/// TEXT", once; if `isQuiet`, as with --quiet, warnings alone.
void printNotes(bool isQuiet = false);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FLAGS_NOTES_H
