//===- ElementTypes.cpp - The element types of ONNX tensors ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementTypes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "onnx.pb.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace gpuopt::onnx;
using proto::TensorProto;

int64_t ElementType::getNumComponents() const {
  return isa<ComplexType>(type) ? 2 : 1;
}

int64_t ElementType::getSizeInBytes(int64_t numElements) const {
  return perByte == 1 ? numElements * sizeInBytes
                      : llvm::divideCeilSigned(numElements, perByte);
}

std::optional<ElementType> gpuopt::onnx::getElementType(int32_t dataType,
                                                        MLIRContext *context) {
  Builder b(context);
  auto get = [&](Type type, int64_t size, TypedField field,
                 int64_t perByte = 1) {
    return ElementType{TensorProto::DataType_Name(
                           static_cast<TensorProto::DataType>(dataType)),
                       type, size, field, perByte};
  };
  auto unsignedInteger = [&](unsigned width) {
    return b.getIntegerType(width, /*isSigned=*/false);
  };
  switch (dataType) {
  case TensorProto::FLOAT:
    return get(b.getF32Type(), 4, TypedField::Float);
  case TensorProto::DOUBLE:
    return get(b.getF64Type(), 8, TypedField::Double);
  case TensorProto::FLOAT16:
    return get(b.getF16Type(), 2, TypedField::Int32);
  case TensorProto::BFLOAT16:
    return get(b.getBF16Type(), 2, TypedField::Int32);
  case TensorProto::FLOAT8E4M3FN:
    return get(b.getType<Float8E4M3FNType>(), 1, TypedField::Int32);
  case TensorProto::FLOAT8E4M3FNUZ:
    return get(b.getType<Float8E4M3FNUZType>(), 1, TypedField::Int32);
  case TensorProto::FLOAT8E5M2:
    return get(b.getType<Float8E5M2Type>(), 1, TypedField::Int32);
  case TensorProto::FLOAT8E5M2FNUZ:
    return get(b.getType<Float8E5M2FNUZType>(), 1, TypedField::Int32);
  case TensorProto::FLOAT8E8M0:
    return get(b.getType<Float8E8M0FNUType>(), 1, TypedField::Int32);
  case TensorProto::FLOAT4E2M1:
    return get(b.getType<Float4E2M1FNType>(), 1, TypedField::Int32, 2);
  case TensorProto::UINT4:
    return get(unsignedInteger(4), 1, TypedField::Int32, 2);
  case TensorProto::INT4:
    return get(b.getIntegerType(4), 1, TypedField::Int32, 2);
  case TensorProto::UINT2:
    return get(unsignedInteger(2), 1, TypedField::Int32, 4);
  case TensorProto::INT2:
    return get(b.getIntegerType(2), 1, TypedField::Int32, 4);
  case TensorProto::BOOL:
    return get(b.getI1Type(), 1, TypedField::Int32);
  case TensorProto::INT8:
    return get(b.getI8Type(), 1, TypedField::Int32);
  case TensorProto::INT16:
    return get(b.getI16Type(), 2, TypedField::Int32);
  case TensorProto::INT32:
    return get(b.getI32Type(), 4, TypedField::Int32);
  case TensorProto::INT64:
    return get(b.getI64Type(), 8, TypedField::Int64);
  case TensorProto::UINT8:
    return get(unsignedInteger(8), 1, TypedField::Int32);
  case TensorProto::UINT16:
    return get(unsignedInteger(16), 2, TypedField::Int32);
  case TensorProto::UINT32:
    return get(unsignedInteger(32), 4, TypedField::Uint64);
  case TensorProto::UINT64:
    return get(unsignedInteger(64), 8, TypedField::Uint64);
  case TensorProto::COMPLEX64:
    return get(ComplexType::get(b.getF32Type()), 8, TypedField::Float);
  case TensorProto::COMPLEX128:
    return get(ComplexType::get(b.getF64Type()), 16, TypedField::Double);
  default:
    return std::nullopt;
  }
}

std::string gpuopt::onnx::getDataTypeName(int32_t dataType) {
  if (TensorProto::DataType_IsValid(dataType))
    return TensorProto::DataType_Name(
        static_cast<TensorProto::DataType>(dataType));
  return "data type " + std::to_string(dataType);
}
