//===- NarrowTypes.h - Types of few bits, held in wider ones ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Programs compute no floating-point numbers of 4 and 8 bits, nor integers of 2
// to 16, nor uint32. Constants may have these types; what is computed in one is
// held in f32, in i32 or, of uint32, in i64, and has been rounded or wrapped
// around to what the type has room for. Inputs of the model are held as well.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_ONNXTONN_NARROWTYPES_H
#define GPUOPT_LIB_CONVERSION_ONNXTONN_NARROWTYPES_H

#include "Converters.h"

namespace gpuopt {

/// A floating-point type of 4 or 8 bits.
struct SmallFloat {
  int mantissaBits;
  int leastExponent; ///< That of the smallest normal number.
  double largest;
  bool hasInfinity;
};
/// Returns the format of a number of TensorProto.DataType, if it is one.
std::optional<SmallFloat> smallFloatOf(int64_t dataType);

/// The numbers of an integer type.
struct IntegerRange {
  double least, most;
};
/// Returns the range of an integer type of up to 16 bits, by its number of
/// TensorProto.DataType.
std::optional<IntegerRange> narrowRangeOf(int64_t dataType);

/// Returns the number of TensorProto.DataType of a type of up to 16 bits; 0 for
/// others.
int64_t narrowDataTypeOf(mlir::Type element);

/// Shifts constants of any integer type.
mlir::DenseElementsAttr shiftConstants(mlir::DenseElementsAttr x,
                                       mlir::DenseElementsAttr by, bool left);

/// Keeps of integers what a type has room for, given by its number of
/// TensorProto.DataType: up to 16 bits of i32, or uint32 of i64.
mlir::Value wrapped(nn::TensorBuilder &b, mlir::Value x, int64_t dataType);
/// Keeps of a result what the type has room for that the file gives for it, or
/// for an operand.
mlir::Value wrappedAsDeclared(NodeConversion &c, mlir::Value x);

/// Returns the type in which programs hold tensors of a type: integers of up to
/// 16 bits in i32, uint32 in i64, floating-point of up to 8 bits in f32, others
/// as they are.
mlir::RankedTensorType heldTypeOf(mlir::RankedTensorType type);
/// Widens constants of types that programs do not compute in, if the node
/// computes with other operands that programs hold in wider types.
void holdConstants(onnx::NodeOp node, nn::TensorBuilder &b,
                   llvm::SmallVectorImpl<Converted> &inputs);
/// Returns a constant of unsigned integers in the type that programs hold them
/// in, of uint64 int64, and any other value as it is; null if a number is too
/// large.
mlir::Value heldConstant(nn::TensorBuilder &b, mlir::Value x);
/// Lets the results of integer arithmetic wrap around as their type does.
void wrapResults(NodeConversion &c);

/// Returns the number of TensorProto.DataType that the file gives for a value
/// of a type that is held in a wider one; 0 if it gives none.
int64_t declaredDataTypeOf(mlir::Value value);

/// Returns numbers of any type in f32, or in f64 if they are in f64.
mlir::Value inSingle(nn::TensorBuilder &b, mlir::Value x);

/// Rounds to the nearest whole number. The gradient passes as if nothing had
/// been rounded if `isStraightThrough`.
mlir::Value roundedToWhole(nn::TensorBuilder &b, mlir::Value x,
                           bool isStraightThrough);

/// Rounds numbers of f32 or f64 to the nearest of a small type. Those that are
/// too large become the largest if `saturates`, and else infinite, or NaN for
/// a type without infinities.
mlir::Value roundedToSmall(nn::TensorBuilder &b, mlir::Value x,
                           const SmallFloat &format, bool saturates,
                           bool isStraightThrough);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_ONNXTONN_NARROWTYPES_H
