//===- ConvolutionPlans.cpp - What cuDNN has said of convolutions ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Costs/ConvolutionPlans.h"

#include "gpuopt/Planning/JsonDepth.h"
#include "gpuopt/settings/conv_calls.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace gpuopt;

/// No GPU has as many bytes; the bound keeps sums from overflowing.
static constexpr int64_t kMostBytes = int64_t(1) << 50;

/// Members are printed in the order of their names.
static std::string keyOf(StringRef function, const json::Object &shape) {
  return formatv("{0} {1}", function, json::Value(json::Object(shape))).str();
}

static json::Object shapeJson(const StructConstant &shape) {
  json::Object fields;
  for (const StructConstant::Field &field : shape.fields)
    if (field.values.size() == 1)
      fields[field.name] = field.values[0];
    else
      fields[field.name] = json::Array(field.values);
  return fields;
}

static Error readPlan(const json::Value &value,
                      StringMap<std::optional<int64_t>> &bytesOf) {
  const json::Object *plan = value.getAsObject();
  std::optional<StringRef> call = plan ? plan->getString("call") : std::nullopt;
  const json::Object *shape = plan ? plan->getObject("shape") : nullptr;
  if (!call || !shape)
    return createStringError("expects a 'call' and an object 'shape'");
  std::optional<int64_t> bytes = plan->getInteger("workspace_bytes");
  if (bytes ? *bytes < 0 || *bytes > kMostBytes : !plan->get("fallback"))
    return createStringError("expects a number of bytes 'workspace_bytes', or "
                             "a 'fallback'");
  auto [known, isNew] = bytesOf.try_emplace(keyOf(*call, *shape), bytes);
  if (!isNew)
    known->second = bytes && known->second
                        ? std::optional(std::max(*bytes, *known->second))
                        : std::nullopt;
  return Error::success();
}

Error ConvolutionPlans::read(StringRef text) {
  if (planning::nestsTooDeep(text))
    return createStringError("nests too deeply");
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return createStringError("is not JSON: " + toString(value.takeError()));
  const json::Object *file = value->getAsObject();
  const json::Array *plans = file ? file->getArray("convolutions") : nullptr;
  std::optional<StringRef> planned =
      file ? file->getString("device") : std::nullopt;
  if (!plans || !planned)
    return createStringError("expects a 'device' and a list 'convolutions', as "
                             "gpuopt-plan-convolutions writes them");
  device = planned->str();
  for (auto [index, plan] : enumerate(*plans))
    if (Error error = readPlan(plan, bytesOf))
      return createStringError("convolutions[" + Twine(index) +
                               "]: " + toString(std::move(error)));
  return Error::success();
}

Expected<ConvolutionPlans> ConvolutionPlans::load(StringRef file) {
  auto buffer = MemoryBuffer::getFile(file);
  if (!buffer)
    return createStringError("cannot read '" + file +
                             "': " + buffer.getError().message());
  ConvolutionPlans plans;
  if (Error error = plans.read((*buffer)->getBuffer()))
    return createStringError("'" + file + "': " + toString(std::move(error)));
  return plans;
}

/// Returns the elements of the filters of a convolution.
static int64_t filterElements(const json::Object &shape) {
  auto field = [&](StringRef name, int64_t standard) {
    return shape.getInteger(name).value_or(standard);
  };
  return field("oc", 0) * (field("c", 0) / field("groups", 1)) *
         field("kh", 0) * field("kw", 0);
}

/// Returns the shape that the call of a convolution passes; null for another.
static const StructConstant *convShapeOf(const RuntimeCall &call) {
  for (const CallArgument &argument : call.arguments)
    if (const auto *constant = std::get_if<StructConstant>(&argument.value))
      if (constant->type == kConvShapeType)
        return constant;
  return nullptr;
}

bool ConvolutionPlans::isConvolution(const RuntimeCall &call) {
  return convShapeOf(call) != nullptr;
}

bool ConvolutionPlans::hasEntryFor(const RuntimeCall &call) const {
  return bytesOf.contains(keyOf(call.function, shapeJson(*convShapeOf(call))));
}

std::optional<int64_t>
ConvolutionPlans::workspaceInBytes(const RuntimeCall &call) const {
  json::Object shape = shapeJson(*convShapeOf(call));
  std::optional<int64_t> bytes = bytesOf.lookup(keyOf(call.function, shape));
  if (!bytes)
    return std::nullopt;
  auto element = std::get<mlir::Type>(call.templateArguments.front());
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  return conv_weight_bytes(filterElements(shape), elementBytes) + *bytes;
}
