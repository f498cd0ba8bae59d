//===- OptionalCalls.h - Calls that only some layers make -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_OPTIONALCALLS_H
#define GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_OPTIONALCALLS_H

#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <vector>

namespace gpuopt::device {

/// Returns a shortest sequence that both sequences are parts of, in their
/// order: "abxc" for "abc" and "bxc". Takes time in proportion to the product
/// of their lengths.
std::vector<unsigned> mergeSequences(llvm::ArrayRef<unsigned> one,
                                     llvm::ArrayRef<unsigned> other);

/// Returns for each item of `whole` the index of the item of `part` that it
/// stands for, or nothing. `part` is a part of `whole` in its order.
std::vector<std::optional<unsigned>> findPart(llvm::ArrayRef<unsigned> part,
                                              llvm::ArrayRef<unsigned> whole);

/// Returns how many of the last items of `items` are a part of `whole` in its
/// order.
unsigned countLastWithin(llvm::ArrayRef<unsigned> items,
                         llvm::ArrayRef<unsigned> whole);

} // namespace gpuopt::device

#endif // GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_OPTIONALCALLS_H
