//===- RuntimeCall.cpp - A call of the runtime, as it is emitted ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Interfaces/RuntimeCall.h"

using namespace mlir;
using namespace gpuopt;

void StructConstant::field(StringRef name, int64_t value) {
  fields.push_back({name.str(), {value}});
}

void StructConstant::field(StringRef name, int64_t value, int64_t standard) {
  if (value != standard)
    field(name, value);
}

void StructConstant::pair(StringRef name, int64_t first, int64_t second,
                          int64_t standard) {
  if (first != standard || second != standard)
    fields.push_back({name.str(), {first, second}});
}

void RuntimeCall::passInteger(int64_t value, StringRef name) {
  arguments.push_back({value, name.str()});
}

void RuntimeCall::passNull(StringRef name) {
  arguments.push_back({NullPointer{}, name.str()});
}

void RuntimeCall::passConstant(StructConstant constant) {
  arguments.push_back({std::move(constant), ""});
}

void RuntimeCall::setOption(StringRef name, Value tensor) {
  options.push_back({tensor, name.str()});
}

void RuntimeCall::setOption(StringRef name, double value) {
  options.push_back({value, name.str()});
}

void RuntimeCall::setOption(StringRef name, int64_t value) {
  options.push_back({value, name.str()});
}

void RuntimeCall::setOption(StringRef name, StepStatePointer state) {
  options.push_back({state, name.str()});
}
