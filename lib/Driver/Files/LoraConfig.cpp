//===- LoraConfig.cpp - How strong the matrices of an adapter are ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/LoraConfig.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;
using namespace gpuopt;

static constexpr const char *kMergeByPeft =
    "merge the adapter by PEFT's merge_and_unload and export the result";

/// Rewrites a regular expression of Python as one of POSIX. Returns the part
/// that has another meaning there, or nothing.
static std::string toPosix(StringRef python, std::string &posix) {
  bool isInSet = false; // between [ and ]
  for (size_t i = 0; i < python.size(); ++i) {
    const char c = python[i];
    const StringRef two = python.substr(i, 2);
    if (c == '\\') {
      const std::string members = StringSwitch<std::string>(two.drop_front())
                                      .Case("d", "0-9")
                                      .Case("w", "A-Za-z0-9_")
                                      .Case("s", " \t\n\r\f\v")
                                      .Default("");
      const bool isSign = two.size() == 2 && isPunct(two[1]);
      if (members.empty() &&
          (!isSign || (isInSet && StringRef("[]^-\\").contains(two[1]))))
        return two.str();
      // A set of POSIX knows no escapes.
      if (members.empty())
        posix += isInSet ? two.substr(1).str() : two.str();
      else
        posix += isInSet ? members : "[" + members + "]";
      ++i;
      continue;
    }
    if (isInSet ? c == '[' : two == "(?" || two == "{,")
      return isInSet ? "[" : two.str();
    posix += c;
    if (isInSet) {
      isInSet = c != ']';
    } else if (c == '[') {
      isInSet = true;
      // The first member may be a ].
      for (const char first : {'^', ']'})
        if (i + 1 < python.size() && python[i + 1] == first)
          posix += python[++i];
    }
  }
  return "";
}

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
  std::string posix, error;
  if (std::string part = toPosix(key, posix); !part.empty())
    return "whose '" + part +
           "' is not understood here as Python does: " + kMergeByPeft;
  posix = "^(.*\\.)?(" + posix + ")$";
  if (!Regex(posix).isValid(error))
    return "which is not a regular expression: " + error;
  patterns[key] = {posix, *own};
  return "";
}

std::string LoraConfig::scaleOf(const std::string &module, int64_t rank,
                                double &scale) const {
  const std::pair<const std::string, Pattern> *found = nullptr;
  for (const auto &entry : patterns) {
    if (!Regex(entry.second.expression).match(module))
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
