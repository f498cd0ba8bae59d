//===- ViewTrait.h - Ops whose result lies in their operand -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_VIEWTRAIT_H
#define GPUOPT_INTERFACES_VIEWTRAIT_H

#include "mlir/IR/OpDefinition.h"

namespace gpuopt {

/// An op has this trait if its result can be a view of the memory of its first
/// operand: the same elements, or some of them, with other strides.
template <typename ConcreteType>
class ViewTrait : public mlir::OpTrait::TraitBase<ConcreteType, ViewTrait> {};

} // namespace gpuopt

#endif // GPUOPT_INTERFACES_VIEWTRAIT_H
