//===- MeasuredCosts.cpp - Times that a trainer has measured --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Costs/MeasuredCosts.h"

#include "gpuopt/Planning/JsonDepth.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace gpuopt;

/// A day, which no step takes.
static constexpr double kMostNanoseconds = 8.64e13;

static Expected<std::string> readText(const json::Object &object,
                                      StringRef name) {
  if (std::optional<StringRef> text = object.getString(name))
    return text->str();
  return createStringError("expects a string '" + name + "'");
}

/// Returns the value of a member, or false if there is none.
static Expected<bool> readFlag(const json::Object &object, StringRef name) {
  const json::Value *value = object.get(name);
  if (!value)
    return false;
  if (std::optional<bool> flag = value->getAsBoolean())
    return *flag;
  return createStringError("expects true or false as '" + name + "'");
}

/// Reads the entry of "costs" at `index`.
static Error readCost(const json::Value &value, size_t index,
                      StringMap<double> &nanoseconds) {
  auto wrong = [&](const Twine &what) {
    return createStringError("costs[" + Twine(index) + "]: " + what);
  };
  const json::Object *object = value.getAsObject();
  if (!object)
    return wrong("expects an object");
  std::optional<StringRef> key = object->getString("key");
  if (!key || key->empty())
    return wrong("expects a string 'key'");
  std::optional<double> median = object->getNumber("median_ns");
  if (!median || !(*median >= 0) || *median > kMostNanoseconds)
    return wrong("expects a number of nanoseconds 'median_ns', of at least 0");
  if (!nanoseconds.try_emplace(*key, *median).second)
    return wrong("'" + *key + "' has two entries");
  return Error::success();
}

Error MeasuredCosts::read(StringRef text) {
  if (planning::nestsTooDeep(text))
    return createStringError("nests too deeply");
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return createStringError("is not JSON: " + toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  if (!object)
    return createStringError("expects a JSON object");
  for (auto [name, member] :
       {std::pair("model", &model), {"target", &target}, {"device", &device}}) {
    Expected<std::string> given = readText(*object, name);
    if (!given)
      return given.takeError();
    *member = *given;
  }
  Expected<bool> tf32 = readFlag(*object, "allows_tf32");
  if (!tf32)
    return tf32.takeError();
  allowsTf32 = *tf32;
  const json::Array *costs = object->getArray("costs");
  if (!costs || costs->empty())
    return createStringError("expects an array 'costs' that is not empty");
  for (auto [index, cost] : enumerate(*costs))
    if (Error error = readCost(cost, index, nanoseconds))
      return error;
  return Error::success();
}

Expected<std::shared_ptr<const MeasuredCosts>>
MeasuredCosts::load(StringRef file) {
  auto buffer = MemoryBuffer::getFile(file);
  if (!buffer)
    return createStringError("cannot read '" + file +
                             "': " + buffer.getError().message());
  auto costs = std::make_shared<MeasuredCosts>();
  if (Error error = costs->read((*buffer)->getBuffer()))
    return createStringError("'" + file + "': " + toString(std::move(error)));
  return costs;
}

std::optional<double> MeasuredCosts::lookup(const CostKey &key) const {
  auto found = nanoseconds.find(key.text());
  if (found == nanoseconds.end())
    return std::nullopt;
  return found->second;
}
