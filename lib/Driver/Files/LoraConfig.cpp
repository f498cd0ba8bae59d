//===- LoraConfig.cpp - How strong the matrices of an adapter are ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/LoraConfig.h"

#include "gpuopt/Support/NameExpression.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;
using namespace gpuopt;

static constexpr const char *kMergeByPeft =
    "merge the adapter by PEFT's merge_and_unload and export the result";

/// Returns whether PEFT leaves the weights of the base model as they are when
/// it makes an adapter.
static bool keepsBaseWeights(const json::Value *initialization) {
  if (!initialization || initialization->getAsBoolean().has_value())
    return true;
  const StringRef name = initialization->getAsString().value_or("");
  return name.equals_insensitive("gaussian") ||
         name.equals_insensitive("orthogonal");
}

static std::string textOf(const json::Value &value) {
  std::string text;
  raw_string_ostream(text) << value;
  return text;
}

std::string LoraConfig::load(const std::string &file) {
  path = file;
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return "cannot read '" + path + "': " + buffer.getError().message();
  Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value)
    return "'" + path + "' is not JSON: " + toString(value.takeError());
  const json::Object *config = value->getAsObject();
  StringRef type;
  if (config)
    type = config->getString("peft_type").value_or("");
  if (type != "LORA")
    return "'" + path +
           "' is not a LoRA adapter: expects \"peft_type\": \"LORA\", but "
           "got \"" +
           type.str() + "\"";
  if (config->getBoolean("use_dora").value_or(false))
    return "'" + path +
           "' is of DoRA, which scales whole weights: " + kMergeByPeft;
  const json::Value *initialization = config->get("init_lora_weights");
  if (!keepsBaseWeights(initialization))
    return "'" + path +
           "' has \"init_lora_weights\": " + textOf(*initialization) +
           ", which may have changed the weights of the base model: " +
           kMergeByPeft;
  usesRslora = config->getBoolean("use_rslora").value_or(false);
  isTransposed = config->getBoolean("fan_in_fan_out").value_or(false);
  if (const json::Value *number = config->get("lora_alpha")) {
    if (!number->getAsNumber())
      return "'" + path + "' has \"lora_alpha\": " + textOf(*number) +
             ", but expects a number";
    alpha = *number->getAsNumber();
  }
  const json::Value *byLayer = config->get("alpha_pattern");
  if (!byLayer || byLayer->getAsNull())
    return "";
  if (!byLayer->getAsObject())
    return "'" + path + "' has \"alpha_pattern\": " + textOf(*byLayer) +
           ", but expects an object of numbers by layer";
  for (const auto &[key, number] : *byLayer->getAsObject())
    if (std::string why = addPattern(key.str(), number.getAsNumber());
        !why.empty())
      return "'" + path + "' has in \"alpha_pattern\" the key '" + key.str() +
             "', " + why;
  return "";
}

std::string LoraConfig::addPattern(const std::string &key,
                                   std::optional<double> own) {
  if (!own)
    return "whose value is not a number";
  const std::string whole = "^(.*\\.)?(" + key + ")$";
  const NameExpression expression(whole);
  if (const std::string &part = expression.refusedPart(); !part.empty())
    return "whose '" + part +
           "' is not understood here as Python does: " + kMergeByPeft;
  if (std::string error; !expression.isValid(error))
    return "which is not a regular expression: " + error;
  patterns[key] = {whole, *own};
  return "";
}

std::string LoraConfig::scaleOf(const std::string &module, int64_t rank,
                                double &scale) const {
  const std::pair<const std::string, Pattern> *found = nullptr;
  for (const auto &entry : patterns) {
    if (!NameExpression(entry.second.expression).match(module))
      continue;
    // PEFT takes the first of the file, but a JSON object has no order.
    if (found && found->second.alpha != entry.second.alpha)
      return "'" + path + "' has in \"alpha_pattern\" the keys '" +
             found->first + "' and '" + entry.first + "', which both match '" +
             module + "' but have different values: expects one of them";
    found = &entry;
  }
  const double strength = found ? found->second.alpha : alpha;
  scale = strength / (usesRslora ? std::sqrt(double(rank)) : double(rank));
  return "";
}
