//===- ArenaFuzzer.cpp - Any bytes as an arena ----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever the text is, there is an error or a packing, and a packing passes
// `gpuopt-solve verify` after it was printed and read. Offsets in the text are
// checked as a packing of their own: what is accepted is no lower than the
// limit that holds for all.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Oracles.h"

#include "gpuopt/Planning/Arena/PackArena.h"

using namespace gpuopt;
using namespace gpuopt::planning;

static void packAndCheck(const solve::ArenaFile &arena) {
  PackOptions options;
  options.effort = 3000;
  Result<Packing> packing = packArena(arena.problem, options);
  fuzz::expect(bool(packing), "a packing of an arena that passes its check");
  solve::ArenaFile packed = arena;
  packed.offsets = packing->solution.offsets;
  Result<solve::ArenaFile> read = solve::parseArena(solve::printArena(packed));
  fuzz::expect(bool(read), "a packing that can be read again");
  Result<ArenaSolution> checked = solve::checkPacking(arena, *read);
  fuzz::expect(bool(checked), "a packing that passes verify");
  fuzz::expect(checked->height == packing->solution.height,
               "the height of the packing");
  fuzz::expect(packing->lowerLimitInBytes <= checked->height,
               "a limit that no packing is below");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  constexpr size_t mostBuffers = 60;
  Result<solve::ArenaFile> arena =
      solve::parseArena({reinterpret_cast<const char *>(data), size});
  if (!arena || arena->ids.size() > mostBuffers)
    return 0;
  if (Result<ArenaSolution> given = solve::checkPacking(*arena, *arena))
    fuzz::expect(heightLowerLimit(arena->problem) <= given->height,
                 "a limit that the given packing is not below");
  packAndCheck(*arena);
  return 0;
}
