//===- PrecisionProblem.h - What is in half precision -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A binary labelling: each choice, a product or a tensor in memory, is in half
// or in full precision. Either label has a cost. A pair of choices may cost
// something, too, if one is in half and the other in full precision: a cast
// between them. Such costs are submodular, so a minimum cut is the best
// labelling (Greig, Porteous and Seheult, "Exact maximum a posteriori
// estimation for binary images", 1989).
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_PRECISION_PRECISIONPROBLEM_H
#define GPUOPT_PLANNING_PRECISION_PRECISIONPROBLEM_H

#include "gpuopt/Planning/Result.h"

#include <cstdint>
#include <vector>

namespace gpuopt::planning {

/// Something that is in half or in full precision.
struct PrecisionChoice {
  enum class Rule { Free, Half, Full };
  std::string name;     ///< For messages.
  int64_t halfCost = 0; ///< Picoseconds, not negative.
  int64_t fullCost = 0;
  Rule rule = Rule::Free;
};

/// A cost that arises if choice `half` is in half precision and choice `full`
/// is not.
struct PrecisionPenalty {
  int half = 0, full = 0;
  int64_t cost = 0; ///< Picoseconds, not negative, or kForbidden.
};

/// The cost of a pair that is forbidden.
constexpr int64_t kForbidden = int64_t(1) << 60;

struct PrecisionProblem {
  std::vector<PrecisionChoice> choices;
  std::vector<PrecisionPenalty> penalties;

  /// Checks that indices exist, costs are not negative, and their sum is below
  /// kForbidden.
  MaybeError check() const;
};

struct PrecisionAssignment {
  std::vector<char> isHalf; ///< One for each choice.
  int64_t cost = 0;         ///< Picoseconds.
};

/// Returns the cost of a labelling, or the rule or forbidden pair that it
/// breaks.
Result<int64_t> costOf(const PrecisionProblem &problem,
                       const std::vector<char> &isHalf);

/// Returns what is wrong with the assignment, if anything: its length, a rule,
/// a forbidden pair, its cost. Shares no code with the solver.
MaybeError verify(const PrecisionProblem &problem,
                  const PrecisionAssignment &assignment);

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_PRECISION_PRECISIONPROBLEM_H
