//===- ExportFlags.cpp - The flags of gpuopt export -----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/FlagGroups.h"
#include "gpuopt/Support/CheckOutput.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::exportCategory() {
  static cl::OptionCategory category("The export");
  return category;
}

namespace {
#define EXPORT cl::cat(exportCategory()), cl::sub(exportCommand())
cl::opt<std::string> run(cl::Positional,
                         cl::desc("<RUN>|<WEIGHTS.safetensors>|<MODEL.onnx>"),
                         cl::Required, EXPORT);
CheckedOpt<std::string> target("o", cl::desc("ONNX file to write"),
                               cl::value_desc("FILE.onnx"), EXPORT);
CheckedOpt<std::string>
    model("model",
          cl::desc("the model that was trained (default: where it was when its "
                   "program was compiled)"),
          cl::value_desc("FILE.onnx"), EXPORT);
Switch averages("averages",
                cl::desc("take the averages of --ema-decay in place of the "
                         "last weights"),
                EXPORT);
CheckedOpt<std::string>
    mergeLora("merge-lora",
              cl::desc("a LoRA adapter that PEFT has saved, which is added to "
                       "the weights that it adapts"),
              cl::value_desc("FOLDER"), EXPORT);
} // namespace

Expected<ExportOptions> gpuopt::collectExport() {
  if (target.empty())
    return createStringError("a file is needed: -o FILE.onnx");
  if (Error error = checkOutput(target, {}))
    return std::move(error);
  return ExportOptions{run, target, model, averages, mergeLora};
}
