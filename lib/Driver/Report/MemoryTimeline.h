//===- MemoryTimeline.h - What is alive after each op -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_MEMORYTIMELINE_H
#define GPUOPT_LIB_DRIVER_REPORT_MEMORYTIMELINE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace gpuopt {

/// A tensor in the program's one allocation.
struct PlacedTensor {
  std::string name, origin, kind, type;
  std::string step; ///< The step in which it lives; empty if it lives for ever.
  int64_t offset = 0, bytes = 0;
  int64_t from = 0, to = 0; ///< It lives in [from, to), counted in ops.
};

/// The tensors of a program, in the order of plan.json.
struct MemoryTimeline {
  int64_t totalBytes = 0, persistentBytes = 0;
  std::vector<PlacedTensor> tensors;
};

/// Describes a module after the phase `device`.
MemoryTimeline describeTimeline(mlir::ModuleOp module);

/// Lists, for each op of each step, the tensors that are alive while it runs,
/// by their numbers in the list of all tensors (docs/profiling.md).
llvm::json::Object toJson(const MemoryTimeline &timeline);

/// Returns the timeline as torch.cuda.memory._snapshot() returns the memory of
/// a process: one segment, and the trace of what is allocated and freed in it.
llvm::json::Object toSnapshot(const MemoryTimeline &timeline);

/// Returns a value as Python's pickle (protocol 2): objects become dicts,
/// arrays lists.
std::string toPickle(const llvm::json::Value &value);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_MEMORYTIMELINE_H
