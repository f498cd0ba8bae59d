//===- RecomputeProblem.h - Recomputation under a budget --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops stand in the order of their first executions. An op may be executed
// again, any number of times, to get its output back after it was freed. The
// problem: at every execution the bytes alive are within a budget, and the cost
// of the extra executions is as small as can be (Checkmate, MLSys 2020;
// Moccasin, ICML 2023). An output may also be copied to the host and loaded
// back, at a cost of its own (Beaumont et al., NeurIPS 2021).
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_RECOMPUTE_RECOMPUTEPROBLEM_H
#define GPUOPT_PLANNING_RECOMPUTE_RECOMPUTEPROBLEM_H

#include "gpuopt/Planning/Result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gpuopt::planning {

/// An op and its one output.
struct RecomputeOp {
  double cost = 0;              ///< Time of one execution, in any unit.
  int64_t sizeInBytes = 0;      ///< The output's size.
  int64_t workspaceInBytes = 0; ///< Needed during the first execution.
  /// Needed during each further execution, if that differs: a kernel that makes
  /// several outputs at first may run again for one of them alone.
  std::optional<int64_t> repeatWorkspaceInBytes;
  std::vector<int> inputs; ///< Earlier ops, each at most once.
  /// The input in whose storage the output lies (a view, a result in place),
  /// or -1. Such an output needs no bytes of its own, and keeps the storage
  /// alive.
  int storage = -1;
  /// The output overwrites the one in `storage`. This op is the only reader of
  /// that one, which is gone afterwards: before this op can run again, it has
  /// to be computed again.
  bool overwrites = false;
  bool pinned = false;      ///< The output is needed after the last op.
  bool recomputable = true; ///< The op may be executed more than once.
  /// The cost, in the unit of `cost`, of offloading the output to the host
  /// and loading it back: the part of the transfers that no computation hides.
  /// Without a value it may not be offloaded.
  std::optional<double> offloadCost;

  int64_t repeatWorkspace() const {
    return repeatWorkspaceInBytes.value_or(workspaceInBytes);
  }
};

struct RecomputeProblem {
  std::vector<RecomputeOp> ops;

  /// Checks the problem: inputs are earlier ops and listed once; sizes are not
  /// negative, costs not negative and finite; a shared storage belongs to an
  /// input that is at least as large; what is overwritten has no other reader,
  /// is not needed at the end, and is not a view; what may be offloaded is
  /// neither overwritten nor a view; no sum overflows, that of the costs not
  /// even after 2^31 executions.
  MaybeError check() const;

  double totalCost() const;

  /// Returns the op that makes the storage in which the output lies.
  int storageOf(int op) const;
};

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_RECOMPUTE_RECOMPUTEPROBLEM_H
