//===- LoraConfig.cpp - How strong the matrices of an adapter are ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/LoraConfig.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"

#include <cmath>

using namespace llvm;
using namespace gpuopt;

std::string LoraConfig::load(const std::string &path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return "cannot read '" + path + "': " + buffer.getError().message();
  Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value)
    return "'" + path + "' is no JSON: " + toString(value.takeError());
  const json::Object *config = value->getAsObject();
  StringRef type;
  if (config)
    type = config->getString("peft_type").value_or("");
  if (type != "LORA")
    return "'" + path +
           "' is of no LoRA: expects \"peft_type\": \"LORA\", but "
           "got \"" +
           type.str() + "\"";
  if (config->getBoolean("use_dora").value_or(false))
    return "'" + path +
           "' is of DoRA, which scales whole weights: merge it by "
           "PEFT's merge_and_unload and export the result";
  alpha = config->getNumber("lora_alpha").value_or(alpha);
  usesRslora = config->getBoolean("use_rslora").value_or(false);
  isTransposed = config->getBoolean("fan_in_fan_out").value_or(false);
  if (const json::Object *patterns = config->getObject("alpha_pattern"))
    for (const auto &[pattern, number] : *patterns)
      alphaOf[pattern.str()] = number.getAsNumber().value_or(alpha);
  return "";
}

double LoraConfig::scaleOf(const std::string &module, int64_t rank) const {
  double strength = alpha;
  for (const auto &[pattern, own] : alphaOf)
    if (Regex("^(.*\\.)?(" + pattern + ")$").match(module))
      strength = own;
  return strength / (usesRslora ? std::sqrt(double(rank)) : double(rank));
}
