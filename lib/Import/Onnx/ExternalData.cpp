//===- ExternalData.cpp - Tensors that lie beside the model ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExternalData.h"

#include "ModelFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace gpuopt::onnx;
namespace path = llvm::sys::path;

LogicalResult ExternalFiles::checkWithinFolder(StringRef file,
                                               StringRef where) const {
  StringRef folder = path::parent_path(reporter.getPath());
  SmallString<128> realFolder, realFile;
  if (llvm::sys::fs::real_path(folder.empty() ? "." : folder, realFolder))
    return reporter.error() << where << ": the model's folder is unreadable";
  if (std::error_code error = llvm::sys::fs::real_path(file, realFile))
    return reporter.error() << where << ": external data '" << file
                            << "' cannot be read: " << error.message();
  StringRef rest = realFile;
  if (!rest.consume_front(realFolder) ||
      (realFolder.str() != "/" && !rest.starts_with("/")))
    return reporter.error()
           << where << ": external data '" << file
           << "' is a link that leads out of the model's folder";
  return success();
}

FailureOr<StringRef> ExternalFiles::map(StringRef location, StringRef where,
                                        std::string &file) {
  auto refuse = [&](const Twine &reason) -> InFlightDiagnostic {
    return reporter.error()
           << where << ": external data '" << location << "' " << reason;
  };
  if (location.empty() || location.contains('\0'))
    return refuse("is no path");
  if (path::is_absolute(location))
    return refuse("is an absolute path: it must be in the model's folder");
  if (llvm::is_contained(
          llvm::make_range(path::begin(location), path::end(location)), ".."))
    return refuse("leaves the model's folder");

  SmallString<128> joined(path::parent_path(reporter.getPath()));
  path::append(joined, location);
  file = joined.str();
  if (auto known = files.find(file); known != files.end())
    return known->second->getBuffer();
  if (failed(checkWithinFolder(file, where)))
    return failure();
  auto buffer = mapFile(file);
  if (!buffer)
    return refuse("cannot be read: " + Twine(buffer.getError().message()));
  return files.try_emplace(file, std::move(*buffer)).first->second->getBuffer();
}

FailureOr<FileAttr> ExternalFiles::locate(const proto::TensorProto &tensor,
                                          int64_t sizeInBytes,
                                          StringRef where) {
  StringRef location;
  int64_t offset = 0, length = sizeInBytes;
  for (const auto &entry : tensor.external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() != "offset" && entry.key() != "length")
      continue; // the specification leaves room for others, as "checksum"
    else if (int64_t &number = entry.key() == "offset" ? offset : length;
             StringRef(entry.value()).getAsInteger(10, number) || number < 0)
      return reporter.error()
             << where << ": the " << entry.key() << " of its external data is '"
             << entry.value() << "', which is no size";
  }
  if (length != sizeInBytes)
    return reporter.error()
           << where << ": its external data has " << length
           << " bytes, but its type and shape need " << sizeInBytes;
  std::string file;
  FailureOr<StringRef> bytes = map(location, where, file);
  if (failed(bytes))
    return failure();
  int64_t available = bytes->size();
  if (offset > available || length > available - offset)
    return reporter.error()
           << where << ": external data '" << location
           << "' is too short: " << length << " bytes at offset " << offset
           << " are needed, but the file has " << available;
  return FileAttr::get(&reporter.getContext(), file, offset, length);
}
