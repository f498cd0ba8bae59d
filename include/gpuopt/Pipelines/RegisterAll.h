//===- RegisterAll.h - All dialects, passes, pipelines ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PIPELINES_REGISTERALL_H
#define GPUOPT_PIPELINES_REGISTERALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace gpuopt {

/// gpuopt's dialects, the upstream ones that it builds on, and the interfaces
/// attached to both.
void registerAllDialects(mlir::DialectRegistry &registry);

/// gpuopt's passes and the upstream ones that its pipelines use.
void registerAllPasses();

} // namespace gpuopt

#endif // GPUOPT_PIPELINES_REGISTERALL_H
