//===- StepPrinter.h - Steps as C++ functions -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_STEPPRINTER_H
#define GPUOPT_LIB_TARGET_CXX_STEPPRINTER_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "llvm/ADT/MapVector.h"

namespace gpuopt::cxx {

/// Shapes of products, convolutions and poolings as named constants, each once.
class ShapeTable {
public:
  /// The constant's name, for its type ("GemmShape") and initialiser.
  std::string lookup(llvm::StringRef type, const std::string &stem, const std::string &initialiser);
  void print(llvm::raw_ostream &stream) const;

private:
  struct Entry {
    std::string type, name;
  };
  llvm::MapVector<std::pair<std::string, std::string>, Entry, std::map<std::pair<std::string, std::string>, unsigned>>
      entries;
  std::map<std::string, unsigned> names;
};

/// Prints a step as a function `name`. Shapes that it uses go to the table.
void printStep(device::StepOp step, llvm::StringRef name, ShapeTable &shapes, llvm::raw_ostream &stream);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_STEPPRINTER_H
