//===- ConstantInputs.cpp - Inputs that become constants ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantInputs.h"

#include "Tensors.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::onnx;
using proto::ValueInfoProto;

static LogicalResult checkType(const ValueInfoProto &input,
                               const ConstantInput &constant,
                               const Reporter &reporter) {
  int32_t wanted = input.type().tensor_type().elem_type();
  if (wanted != constant.dataType)
    return reporter.error()
           << "input '" << input.name() << "' has elements of type "
           << getDataTypeName(wanted) << ", but '" << constant.file
           << "' of --constant-input has " << getDataTypeName(constant.dataType)
           << ": save the array in the input's type, by numpy's astype";
  if (getNumElements(constant.shape))
    return success();
  InFlightDiagnostic error = reporter.error();
  error << "'" << constant.file << "' of --constant-input " << input.name()
        << " has the impossible shape [";
  llvm::interleaveComma(constant.shape, error);
  return error << "]";
}

FailureOr<ConstantInputs>
gpuopt::onnx::takeConstantInputs(GraphInputs &inputs,
                                 const OnnxImportOptions &options,
                                 const Reporter &reporter) {
  ConstantInputs constants;
  for (const auto &[name, constant] : options.constantInputs) {
    auto found = llvm::find_if(inputs, [&](const ValueInfoProto *input) {
      return input->name() == name;
    });
    if (found == inputs.end()) {
      InFlightDiagnostic error = reporter.error();
      error << "has no input '" << name << "', which --constant-input names";
      if (!inputs.empty()) {
        error << "; there are: ";
        llvm::interleaveComma(inputs, error, [&](const ValueInfoProto *input) {
          error << "'" << input->name() << "'";
        });
      }
      return error;
    }
    if (failed(checkType(**found, constant, reporter)))
      return failure();
    constants.emplace_back(*found, &constant);
    inputs.erase(found);
  }
  return constants;
}

NodeOp gpuopt::onnx::createConstant(OpBuilder &builder, Location location,
                                    StringRef name,
                                    const ConstantInput &constant) {
  Type element = getElementType(constant.dataType, builder.getContext())->type;
  auto type = RankedTensorType::get(constant.shape, element);
  NamedAttribute value =
      builder.getNamedAttr("value", makeElements(type, constant.elements));
  return NodeOp::create(builder, location, TypeRange(type), "Constant",
                        ValueRange(), value, name, StringRef(),
                        /*graphsCount=*/0);
}
