//===- SourceModel.cpp - The model that a program was compiled from -------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/SourceModel.h"

#include "Files/JoinPath.h"
#include "Files/OutputDirectory.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

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

Expected<std::string> gpuopt::findSourceModel(StringRef run) {
  SmallString<256> folder(run);
  if (std::error_code code = sys::fs::make_absolute(folder))
    return createStringError("'" + run + "': " + code.message());
  sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
  StringRef above = sys::path::parent_path(folder);
  for (const std::string &program :
       {OutputDirectory::programBelow(folder),
        OutputDirectory::programBelow(above), above.str(),
        sys::path::parent_path(above).str()})
    if (std::string model = readSourceModel(program); !model.empty())
      return model;
  return createStringError("there is no program beside '" + run +
                           "' that says which model it is of");
}

Expected<std::string> gpuopt::findSourceModelFile(StringRef run) {
  Expected<std::string> model = findSourceModel(run);
  if (!model || sys::fs::exists(*model))
    return model;
  return createStringError("'" + run + "' is of the model '" + *model +
                           "', which does not exist any more");
}
