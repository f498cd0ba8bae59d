//===- Shapes.h - Shapes of library calls as constants ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_SHAPES_H
#define GPUOPT_LIB_TARGET_CXX_SHAPES_H

#include "Names.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include <map>
#include <vector>

namespace gpuopt::cxx {

/// Shapes of products, convolutions and poolings as named constants, each once.
class ShapeTable {
public:
  explicit ShapeTable(ProgramNames &names) : names(names) {}

  /// The name of the op's shape: kGemm64x10x32_tn for 64 x 10 from 32, both
  /// as BLAS has it: t for an operand that lies transposed.
  std::string of(device::GemmOp op);
  std::string of(device::ConvOp op);
  std::string of(device::PoolOp op);

  bool empty() const { return lines.empty(); }
  void print(llvm::raw_ostream &stream) const;

private:
  std::string lookup(const std::string &type, const std::string &name,
                     const std::string &initialiser);

  ProgramNames &names;
  std::map<std::string, std::string> nameOf; ///< By declaration.
  std::vector<std::string> lines;
};

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_SHAPES_H
