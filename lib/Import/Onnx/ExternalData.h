//===- ExternalData.h - Tensors that lie beside the model -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_EXTERNALDATA_H
#define GPUOPT_LIB_IMPORT_ONNX_EXTERNALDATA_H

#include "Reporter.h"

#include "gpuopt/Dialect/Onnx/IR/OnnxDialect.h"
#include "onnx.pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace gpuopt::onnx {

/// The files beside a model that its tensors refer to. Only files within the
/// model's folder are opened: an absolute path, a path through `..`, and a
/// symbolic link that leads out of the folder are errors.
class ExternalFiles {
public:
  explicit ExternalFiles(const Reporter &reporter) : reporter(reporter) {}

  /// Returns where the `sizeInBytes` bytes of `tensor` lie; `where` names the
  /// tensor in diagnostics.
  mlir::FailureOr<FileAttr> locate(const proto::TensorProto &tensor,
                                   int64_t sizeInBytes, llvm::StringRef where);

  /// Returns the bytes of a range that `locate` has returned.
  llvm::StringRef getBytes(FileAttr range) const {
    return getFile(range).substr(range.getOffset(), range.getSizeInBytes());
  }

  /// Returns all bytes of the file of such a range.
  llvm::StringRef getFile(FileAttr range) const {
    return files.at(range.getFile())->getBuffer();
  }

private:
  /// Maps the file at `location`, which is relative to the model; `path` is the
  /// path to open.
  mlir::FailureOr<llvm::StringRef>
  map(llvm::StringRef location, llvm::StringRef where, std::string &path);
  mlir::LogicalResult checkWithinFolder(llvm::StringRef path,
                                        llvm::StringRef where) const;

  const Reporter &reporter;
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> files; // by path
};

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_EXTERNALDATA_H
