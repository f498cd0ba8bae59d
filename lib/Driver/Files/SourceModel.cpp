//===- SourceModel.cpp - The model that a program was compiled from -------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/SourceModel.h"

#include "Files/JoinPath.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace gpuopt;

std::string gpuopt::sourceModelText(StringRef model) {
  SmallString<256> path(model);
  sys::fs::make_absolute(path);
  std::string fixed = json::fixUTF8(path);
  return formatv("{0:2}\n", json::Value(json::Object{{"model", fixed}})).str();
}

std::string gpuopt::readSourceModel(StringRef program) {
  auto buffer = MemoryBuffer::getFile(joinPath(program, kSourceModelFile));
  if (!buffer)
    return "";
  Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value) {
    consumeError(value.takeError());
    return "";
  }
  const json::Object *object = value->getAsObject();
  return object ? object->getString("model").value_or("").str() : "";
}
