//===- ArenaCommand.cpp - gpuopt-solve arena ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Files.h"

#include "gpuopt/Planning/Arena/PackArena.h"
#include "llvm/Support/raw_ostream.h"

using namespace gpuopt;
using namespace gpuopt::solve;
using namespace gpuopt::planning;

int solve::packArena(const CommandOptions &options) {
  Result<ArenaFile> arena = readArena(options.input);
  if (!arena)
    return fail(arena.error().message);
  PackOptions packer;
  if (options.effort >= 0)
    packer.effort = options.effort;
  if (options.timeLimitInSeconds > 0) {
    packer.timeLimitInSeconds = options.timeLimitInSeconds;
    if (options.effort < 0)
      packer.effort = INT64_MAX;
  }
  if (options.capacityInBytes > 0)
    packer.capacityInBytes = options.capacityInBytes;
  Result<Packing> packing = planning::packArena(arena->problem, packer);
  if (!packing)
    return fail(packing.error().message);
  if (MaybeError error = verify(arena->problem, packing->solution))
    return fail("the packing is wrong, which is a bug: " + error->message);
  arena->offsets = packing->solution.offsets;
  if (!options.output.empty())
    if (MaybeError error = writeArena(options.output, *arena))
      return fail(error->message);
  llvm::raw_ostream &out = options.output == "-" ? llvm::errs() : llvm::outs();
  out << "height=" << packing->solution.height
      << " max_load=" << largestLoad(arena->problem)
      << " lower_limit=" << packing->lowerLimitInBytes
      << (packing->isOptimal() ? " optimal" : "") << "\n";
  if (options.capacityInBytes <= 0 ||
      packing->solution.height <= options.capacityInBytes)
    return Success;
  llvm::errs() << "gpuopt-solve: error: capacity " << options.capacityInBytes
               << " bytes cannot be met: the lowest packing found has "
               << packing->solution.height
               << " bytes, and the proven lower limit is "
               << packing->lowerLimitInBytes << " bytes\n";
  return NoSchedule;
}
