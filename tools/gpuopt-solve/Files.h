//===- Files.h - Reads and writes what gpuopt-solve works on ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formats are described in docs/solve-format.md.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TOOLS_GPUOPT_SOLVE_FILES_H
#define GPUOPT_TOOLS_GPUOPT_SOLVE_FILES_H

#include "gpuopt/Planning/Arena/ArenaProblem.h"
#include "gpuopt/Planning/Recompute/PlanText.h"
#include "gpuopt/Planning/Recompute/SolveRecompute.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace gpuopt::solve {

using planning::MaybeError;
using planning::Result;

/// The whole file; "-" is standard input.
Result<std::string> readFile(llvm::StringRef path);
Result<llvm::json::Value> readJson(llvm::StringRef path);
/// The same of text in memory.
Result<llvm::json::Value> parseJson(llvm::StringRef text);
/// Writes to a neighbour and renames, so that no partial output stays behind.
MaybeError writeFile(llvm::StringRef path, llvm::StringRef contents);

Result<planning::RecomputeProblem> readGraph(llvm::StringRef path);
/// The same of text in memory.
Result<planning::RecomputeProblem> parseGraph(llvm::StringRef text);

/// "0.8" is a fraction of the plain peak, "4GiB" or "100B" are bytes.
Result<int64_t> parseBudget(llvm::StringRef text, int64_t plainPeakInBytes);

/// A plan as it stands in a file.
using PlanFile = planning::PlanClaim;
MaybeError writePlan(llvm::StringRef path, const PlanFile &plan);
Result<PlanFile> readPlan(llvm::StringRef path);
/// The same of text in memory, which must hold the flows as well.
Result<PlanFile> parsePlan(llvm::StringRef text);

/// Rows of id,lower,upper,size and, where there, alignment and offset.
struct ArenaFile {
  std::vector<std::string> ids;
  planning::ArenaProblem problem;
  std::vector<int64_t> offsets; ///< Empty where the file has none.
};
Result<ArenaFile> readArena(llvm::StringRef path);
/// The same of text in memory.
Result<ArenaFile> parseArena(llvm::StringRef text);
/// With offsets, without alignments.
std::string printArena(const ArenaFile &arena);
MaybeError writeArena(llvm::StringRef path, const ArenaFile &arena);

} // namespace gpuopt::solve

#endif // GPUOPT_TOOLS_GPUOPT_SOLVE_FILES_H
