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

/// The constants of struct types that calls pass, as the shapes of products,
/// convolutions and poolings; each exists once.
class ShapeTable {
public:
  explicit ShapeTable(ProgramNames &names) : names(names) {}

  /// Returns the name of a constant.
  std::string of(device::StructAttr shape);

  bool empty() const { return lines.empty(); }
  void print(llvm::raw_ostream &stream) const;

private:
  ProgramNames &names;
  std::map<std::string, std::string> nameOf; ///< By declaration.
  std::vector<std::string> lines;
};

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_SHAPES_H
