//===- TiedNames.cpp - The other names of an initializer ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TiedNames.h"

#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace gpuopt::onnx;

std::string gpuopt::onnx::tiedNamesIn(const proto::ValueInfoProto &info) {
  for (const auto &entry : info.metadata_props())
    if (entry.key() == "gpuopt.tied")
      return entry.value();
  return "";
}

FailureOr<std::vector<std::string>>
gpuopt::onnx::parseTiedNames(StringRef json, StringRef initializer,
                             const Reporter &reporter) {
  auto refuse = [&] {
    return reporter.error()
           << "initializer '" << initializer
           << "' has 'gpuopt.tied' metadata that is no list of names: " << json;
  };
  llvm::Expected<llvm::json::Value> list = llvm::json::parse(json);
  if (!list) {
    llvm::consumeError(list.takeError());
    return refuse();
  }
  const llvm::json::Array *entries = list->getAsArray();
  if (!entries)
    return refuse();
  std::vector<std::string> names;
  for (const llvm::json::Value &entry : *entries) {
    std::optional<StringRef> name = entry.getAsString();
    if (!name || name->empty())
      return refuse();
    names.push_back(name->str());
  }
  return names;
}
