//===- Dimensions.h - The sizes of symbolic dimensions --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes are static after import: the symbols of the graph's inputs take sizes
// from `--dim` and `--batch-size`, and the same symbols in the types that the
// file claims for other values take the same sizes.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_DIMENSIONS_H
#define GPUOPT_LIB_IMPORT_ONNX_DIMENSIONS_H

#include "Reporter.h"

#include "gpuopt/Import/Onnx/ImportOnnx.h"
#include "onnx.pb.h"

#include <set>
#include <vector>

namespace gpuopt::onnx {

using GraphInputs = std::vector<const proto::ValueInfoProto *>;

class Dimensions {
public:
  Dimensions(const OnnxImportOptions &options, const Reporter &reporter)
      : sizes(options.dimensions), batchSize(options.batchSize),
        usualBatchSize(options.usualBatchSize), reporter(reporter) {}

  /// Applies the options to the graph's inputs: each symbol that they give a
  /// size must occur, and the batch size must have a dimension to apply to. The
  /// shapes of `constants`, which are no part of `inputs`, give sizes as well.
  mlir::LogicalResult
  bind(const GraphInputs &inputs,
       llvm::ArrayRef<
           std::pair<const proto::ValueInfoProto *, const ConstantInput *>>
           constants = {});

  /// Returns the type of an input, of static shape. Each dimension that is
  /// still unknown is reported.
  mlir::FailureOr<mlir::RankedTensorType>
  getInputType(const proto::ValueInfoProto &input) const;

  /// Returns the type of any other value. It is `!onnx.unknown` unless the file
  /// gives a tensor type with a shape; sizes that are unknown are `?`.
  mlir::Type getValueType(const proto::TypeProto &type) const;

private:
  mlir::LogicalResult bindConstant(const proto::ValueInfoProto &input,
                                   const ConstantInput &constant);
  mlir::LogicalResult bindBatch(const GraphInputs &inputs);
  void bindUsualBatch(const GraphInputs &inputs);
  /// Gives those of `symbols` a size that are sums, such as
  /// `past_sequence_length + 1`, of sizes that are known.
  void bindSums(const std::set<std::string> &symbols);
  /// Returns the size of a sum of sizes and numbers, if it is known.
  std::optional<int64_t> sumOf(llvm::StringRef name) const;
  std::optional<int64_t> lookup(const std::string &name) const;

  std::map<std::string, int64_t> sizes;
  std::optional<int64_t> batchSize, usualBatchSize;
  const Reporter &reporter;
};

/// Returns the product of the sizes, or nothing if it does not fit or a size is
/// negative.
std::optional<int64_t> getNumElements(llvm::ArrayRef<int64_t> shape);

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_DIMENSIONS_H
