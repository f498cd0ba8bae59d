//===- ConstantInputs.cpp - The values of inputs that are constant --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/ConstantInputs.h"

#include "gpuopt/data/npy.h"

using namespace gpuopt;

/// Returns the number of a type in ONNX's TensorProto.DataType.
static int32_t dataTypeOf(Type type) {
  switch (type) {
  case Type::F64:
    return 11;
  case Type::F32:
    return 1;
  case Type::F16:
    return 10;
  case Type::BF16:
    return 16;
  case Type::I64:
    return 7;
  case Type::I32:
    return 6;
  case Type::I16:
    return 5;
  case Type::I8:
    return 3;
  case Type::U64:
    return 13;
  case Type::U32:
    return 12;
  case Type::U16:
    return 4;
  case Type::U8:
    return 2;
  case Type::Bool:
    return 9;
  }
  return 0;
}

std::string gpuopt::readConstantInput(const std::string &path,
                                      NpyArray &array) {
  try {
    const MappedFile file(path);
    const NpyHeader header(file);
    size_t bytes = size_of(header.type);
    for (const int64_t size : header.shape)
      if (size < 0 || __builtin_mul_overflow(bytes, size_t(size), &bytes))
        return "'" + path + "' has a shape that no array can have";
    if (file.bytes - header.begin < bytes)
      return "'" + path + "' is shorter than its header says";
    array.dataType = dataTypeOf(header.type);
    array.shape = header.shape;
    array.elements.assign(
        reinterpret_cast<const char *>(file.data + header.begin), bytes);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}
