//===- KernelFiles.h - Which file has which kernels -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_KERNELFILES_H
#define GPUOPT_LIB_TARGET_CXX_KERNELFILES_H

#include "Names.h"
#include "gpuopt/Target/Cxx/EmitProgram.h"
#include <vector>

namespace gpuopt::cxx {

/// The kernels of a program as text. If their lines are few, they are a part of
/// step.cu. If not, they are in files of their own, which build side by side:
/// kernels_forward_1.cu, kernels_backward_1.cu and so on, by the section of the
/// step that launches them first, with their declarations in kernels.h.
class KernelFiles {
public:
  KernelFiles(const ProgramNames &names, size_t linesPerFile)
      : names(names), linesPerFile(linesPerFile) {}

  /// Prints all kernels of the module. Fails, with an error at the op, for one
  /// that has no C++ form.
  mlir::LogicalResult print(mlir::ModuleOp module);

  /// Whether the kernels are in files of their own.
  bool areApart() const { return lines > linesPerFile; }
  /// Returns the text of the kernels for step.cu.
  std::string text() const;
  /// Adds kernels.h and the files of kernels; returns the names of the latter.
  std::vector<std::string> addTo(ProgramFiles &files) const;

private:
  struct Kernel {
    std::string section, comment, bounds, signature, body;
    size_t lines; ///< In all kernels together.
  };

  std::string header() const;

  const ProgramNames &names;
  const size_t linesPerFile;
  std::vector<Kernel> kernels;
  size_t lines = 0;
  bool useExpSums = false; ///< Their header is included.
};

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_KERNELFILES_H
