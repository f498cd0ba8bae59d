//===- OnnxMutations.h - Other models than a given one ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TEST_FUZZ_ONNXMUTATIONS_H
#define GPUOPT_TEST_FUZZ_ONNXMUTATIONS_H

#include "onnx.pb.h"

#include <random>

namespace gpuopt::fuzz {

/// The bits of ir_version that hold a version. The others choose flags.
constexpr unsigned kVersionBits = 8;

/// Changes a model in one place: a number, a name, a type, a list, a node's
/// operands, operator or attributes, an initializer's shape or its data.
void mutate(onnx::proto::ModelProto &model, std::minstd_rand &random);

/// Takes nodes and initializers of `other` into `model`.
void cross(onnx::proto::ModelProto &model, const onnx::proto::ModelProto &other,
           std::minstd_rand &random);

} // namespace gpuopt::fuzz

#endif // GPUOPT_TEST_FUZZ_ONNXMUTATIONS_H
