//===- LaneInstructions.cpp - What ops cost a lane of a GPU ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Interfaces/LaneInstructions.h"

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace gpuopt;

namespace {
struct Row {
  llvm::StringLiteral op;
  double instructions;
  double inDouble = 0; ///< 0: as many.
};
} // namespace

/// Ops that are not one instruction. The numbers of functions are what
/// benchmarks/lane_instructions.py counts in Runtime/gpuopt/kernels for sm_90.
/// Four random numbers share a call of the generator. Integers are divided by a
/// sequence, and what is reduced is masked at a row's end. A GPU has
/// instructions for parts of some functions, but not in double.
static constexpr Row kRows[] = {
    {"arith.constant", 0},     {"arith.divf", 15},
    {"arith.divsi", 40},       {"arith.divui", 40},
    {"arith.maximumf", 3},     {"arith.minimumf", 3},
    {"arith.remf", 71},        {"arith.remsi", 40},
    {"arith.remui", 40},       {"math.acos", 42, 52},
    {"math.acosh", 95, 131},   {"math.asin", 42, 52},
    {"math.asinh", 111, 146},  {"math.atan", 58, 63},
    {"math.atanh", 62, 87},    {"math.cos", 58, 64},
    {"math.cosh", 29, 49},     {"math.erf", 21, 68},
    {"math.exp", 9, 29},       {"math.expm1", 20, 30},
    {"math.fpowi", 114},       {"math.log", 31, 42},
    {"math.log1p", 41, 66},    {"math.powf", 114},
    {"math.rsqrt", 4, 30},     {"math.sin", 59, 65},
    {"math.sinh", 40, 63},     {"math.sqrt", 15},
    {"math.tan", 83, 88},      {"math.tanh", 15, 63},
    {"nn.broadcast", 0},       {"nn.in_range", 4},
    {"nn.random_uniform", 18}, {"nn.reduce", 3},
    {"nn.yield", 0},
};

double gpuopt::laneInstructionsPerElement(Operation *op) {
  static const llvm::StringMap<Row> table = [] {
    llvm::StringMap<Row> made;
    for (const Row &row : kRows)
      made.try_emplace(row.op, row);
    return made;
  }();
  auto found = table.find(op->getName().getStringRef());
  if (found == table.end())
    return 1;
  const Row &row = found->second;
  bool isInDouble = op->getNumResults() == 1 &&
                    getElementTypeOrSelf(op->getResult(0).getType()).isF64();
  return isInDouble && row.inDouble ? row.inDouble : row.instructions;
}
