//===- PlanFile.cpp - What plan.json says beside the memory ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/PlanFile.h"

#include "gpuopt/Version.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace gpuopt;

std::vector<PrecisionReason>
gpuopt::describePrecisions(const train::AssignPrecisionOptions &options,
                           ModuleOp module) {
  if (options.halfType.empty())
    return {};
  PrecisionPolicy policy;
  // The compilation has read the same files and flags before.
  if (!options.policyFile.empty())
    llvm::consumeError(policy.read(options.policyFile));
  MLIRContext *context = module.getContext();
  bool isF16 = options.halfType == "f16";
  for (const std::string &text : options.overrides)
    llvm::consumeError(policy.addOverride(text, isF16 ? "fp16" : "bf16"));
  FloatType half =
      isF16 ? FloatType(Float16Type::get(context)) : BFloat16Type::get(context);
  return explainPrecisions(module, half, policy);
}

static llvm::json::Array toJson(ArrayRef<PrecisionReason> reasons) {
  llvm::json::Array array;
  for (const PrecisionReason &reason : reasons) {
    llvm::json::Object object{{"origin", reason.origin},
                              {"type", reason.type},
                              {"reason", reason.reason}};
    if (!reason.onnxOp.empty())
      object["op"] = reason.onnxOp;
    if (!reason.computedIn.empty())
      object["computed_in"] = reason.computedIn;
    array.push_back(std::move(object));
  }
  return array;
}

/// Returns the words of the command line without the folders that it writes to:
/// the same flags give the same files wherever they go. Bytes that are not
/// UTF-8 become U+FFFD, since JSON cannot hold them.
static llvm::json::Array commandJson(ArrayRef<std::string> command) {
  llvm::json::Array words;
  for (size_t i = 0; i < command.size(); ++i) {
    auto [name, value] = StringRef(command[i]).split('=');
    StringRef flag = name.ltrim('-');
    bool isFolder =
        name.starts_with("-") && (flag == "o" || flag == "dump-phases-to");
    if (isFolder && !StringRef(command[i]).contains('='))
      ++i; // the folder is a word of its own
    if (!isFolder)
      words.push_back(llvm::json::fixUTF8(command[i]));
  }
  return words;
}

std::string gpuopt::completePlan(StringRef plan, const DriverOptions &options,
                                 const PlanChoices &choices) {
  llvm::json::Value value = llvm::cantFail(llvm::json::parse(plan));
  llvm::json::Object &object = *value.getAsObject();
  object["model"] =
      llvm::json::fixUTF8(llvm::sys::path::filename(options.model));
  object["gpuopt"] = kVersion;
  object["command"] = commandJson(options.commandLine);
  object["tensors"] = gpuopt::toJson(choices.decisions);
  if (!choices.precision.empty())
    object["precision"] = choices.precision;
  if (!choices.precisions.empty())
    object["precisions"] = ::toJson(choices.precisions);
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream(stream, /*IndentSize=*/1).value(value);
  return text + "\n";
}
