//===- Optimizers.cpp - What optimizers keep for a parameter --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Train/IR/Optimizers.h"

using namespace mlir;
using namespace gpuopt;

std::string train::optimizerNames() {
  SmallVector<std::string_view> names;
  for (const OptimizerInfo &optimizer : kOptimizers)
    names.push_back(optimizer.name);
  return list_text(names.data(), names.size());
}

static ParameterShape shapeOf(RankedTensorType type) {
  return {type.getShape().data(), int(type.getRank())};
}

static Type elementTypeOf(StateType type, RankedTensorType parameter) {
  return type == StateType::I8 ? IntegerType::get(parameter.getContext(), 8)
                               : parameter.getElementType();
}

RankedTensorType train::optimizerStateType(const OptimizerState &state,
                                           RankedTensorType parameter) {
  StateDims dims = dims_of(state, shapeOf(parameter));
  if (state.name.empty() || !dims.exists)
    return nullptr;
  return RankedTensorType::get(ArrayRef(dims.dims, dims.rank),
                               elementTypeOf(state.type, parameter));
}

const OptimizerInfo &train::optimizerOf(const OptimizerInfo &chosen,
                                        VariableOp parameter) {
  ParameterShape shape = shapeOf(cast<RankedTensorType>(parameter.getType()));
  shape.is_table = parameter.getIsTable();
  return optimizer_of(chosen, shape);
}

RankedTensorType train::updateScratchType(UpdateOp op) {
  const OptimizerInfo *optimizer = find_optimizer(op.getOptimizer());
  if (!optimizer || !optimizer->scratch)
    return nullptr;
  auto parameter = cast<RankedTensorType>(op.getGradient().getType());
  return RankedTensorType::get({optimizer->scratch(shapeOf(parameter))},
                               Float64Type::get(op.getContext()));
}
