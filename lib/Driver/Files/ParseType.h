//===- ParseType.h - The trainer's name of a type ---------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_PARSETYPE_H
#define GPUOPT_LIB_DRIVER_FILES_PARSETYPE_H

#include "gpuopt/data/convert.h" // Type

#include <string>

namespace gpuopt {

/// Reads the type of a tensor as MLIR spells it; returns false if the trainer
/// reads no tensors of that type from files.
inline bool parseType(const std::string &name, Type &type) {
  constexpr struct {
    const char *name;
    Type type;
  } types[] = {{"f64", Type::F64},   {"f32", Type::F32}, {"f16", Type::F16},
               {"bf16", Type::BF16}, {"i64", Type::I64}, {"i32", Type::I32},
               {"i1", Type::Bool}};
  for (const auto &known : types)
    if (name == known.name) {
      type = known.type;
      return true;
    }
  return false;
}

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_PARSETYPE_H
