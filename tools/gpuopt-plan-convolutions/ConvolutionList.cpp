//===- ConvolutionList.cpp - The convolutions of programs -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionList.h"

#include "gpuopt/Planning/JsonDepth.h"
#include "gpuopt/settings/conv_calls.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <optional>

using namespace llvm;
using namespace gpuopt;

/// cuDNN's sizes have 32 bits.
static constexpr int64_t kMostSize = INT32_MAX;
/// No GPU has room for as many; the bound keeps strides from overflowing.
static constexpr int64_t kMostElements = int64_t(1) << 40;
/// Offsets of tensors in programs are multiples of this and more.
static constexpr int64_t kAlignmentInBytes = 16;

static llvm::Error readSize(const json::Object &shape, StringRef name,
                            int64_t &size) {
  const json::Value *value = shape.get(name);
  std::optional<int64_t> number =
      value ? value->getAsInteger() : std::optional<int64_t>(size);
  if (!number || *number < 1 || *number > kMostSize)
    return createStringError("expects a positive integer '" + name + "'");
  size = *number;
  return llvm::Error::success();
}

/// Reads two numbers, for height and width; without the member they stay.
static llvm::Error readPair(const json::Object &shape, StringRef name,
                            int64_t (&pair)[2], int64_t least) {
  const json::Value *value = shape.get(name);
  if (!value)
    return llvm::Error::success();
  const json::Array *numbers = value->getAsArray();
  for (int i : {0, 1}) {
    std::optional<int64_t> number = numbers && numbers->size() == 2
                                        ? (*numbers)[i].getAsInteger()
                                        : std::nullopt;
    if (!number || *number < least || *number > kMostSize)
      return createStringError("expects two integers of at least " +
                               Twine(least) + " as '" + name + "'");
    pair[i] = *number;
  }
  return llvm::Error::success();
}

/// Sizes that a shape lacks are 0 before, which is refused.
static llvm::Error readShape(const json::Object &text, ConvShape &shape) {
  shape = ConvShape();
  for (auto [name, size] : {std::pair("n", &shape.n),
                            {"h", &shape.h},
                            {"w", &shape.w},
                            {"c", &shape.c},
                            {"oh", &shape.oh},
                            {"ow", &shape.ow},
                            {"oc", &shape.oc},
                            {"kh", &shape.kh},
                            {"kw", &shape.kw},
                            {"groups", &shape.groups}})
    if (llvm::Error error = readSize(text, name, *size))
      return error;
  for (auto [name, pair, least] : {std::tuple("stride", &shape.stride, 1),
                                   {"dilation", &shape.dilation, 1},
                                   {"pad_begin", &shape.pad_begin, 0},
                                   {"pad_end", &shape.pad_end, 0}})
    if (llvm::Error error = readPair(text, name, *pair, least))
      return error;
  return llvm::Error::success();
}

/// Checks that the tensors of a convolution fit to its groups, and into memory.
static llvm::Error checkShape(const ConvShape &shape) {
  if (shape.c % shape.groups || shape.oc % shape.groups)
    return createStringError(
        "expects 'groups' that divide 'c' and 'oc', but got " +
        Twine(shape.groups) + " groups of " + Twine(shape.c) + " and " +
        Twine(shape.oc) + " channels");
  auto isTooLarge = [](std::initializer_list<int64_t> sizes) {
    int64_t elements = 1;
    for (int64_t size : sizes)
      if (MulOverflow(elements, size, elements) || elements > kMostElements)
        return true;
    return false;
  };
  if (isTooLarge({shape.n, shape.h, shape.w, shape.c}) ||
      isTooLarge({shape.n, shape.oh, shape.ow, shape.oc}) ||
      isTooLarge({shape.oc, shape.kh, shape.kw, shape.c}))
    return createStringError("expects tensors of at most 2^40 elements");
  return llvm::Error::success();
}

static llvm::Error readConvolution(const json::Object &text, ConvGraph &graph) {
  graph.kind = StringSwitch<int64_t>(text.getString("call").value_or(""))
                   .Case(kConvForwardCall, kConvForward)
                   .Case(kConvForwardWithSumsCall, kConvForward)
                   .Case(kConvBackwardDataCall, kConvBackwardData)
                   .Case(kConvBackwardWeightsCall, kConvBackwardWeights)
                   .Default(-1);
  if (graph.kind < 0)
    return createStringError("expects " + Twine(kConvForwardCall) + ", " +
                             kConvForwardWithSumsCall + ", " +
                             kConvBackwardDataCall + " or " +
                             kConvBackwardWeightsCall + " as 'call'");
  graph.adds_sums = text.getString("call") == kConvForwardWithSumsCall;
  graph.type = StringSwitch<int64_t>(text.getString("type").value_or(""))
                   .Case("f16", CUDNN_DATA_HALF)
                   .Case("bf16", CUDNN_DATA_BFLOAT16)
                   .Case("f32", CUDNN_DATA_FLOAT)
                   .Case("f64", CUDNN_DATA_DOUBLE)
                   .Default(-1);
  if (graph.type < 0)
    return createStringError("expects f16, bf16, f32 or f64 as 'type'");
  graph.allows_tf32 = text.getBoolean("allows_tf32").value_or(false);
  graph.alignment = kAlignmentInBytes;
  const json::Object *shape = text.getObject("shape");
  if (!shape)
    return createStringError("expects an object 'shape'");
  if (llvm::Error error = readShape(*shape, graph.shape))
    return error;
  return checkShape(graph.shape);
}

/// Returns what says which convolution is meant: a file that this tool has
/// written also says what has come of it.
static json::Object withoutPlan(const json::Object &text) {
  json::Object kept;
  for (StringRef name : {"call", "type", "allows_tf32", "shape"})
    if (const json::Value *value = text.get(name))
      kept[name] = *value;
  return kept;
}

static llvm::Error addFrom(StringRef contents,
                           std::vector<ListedConvolution> &all) {
  if (planning::nestsTooDeep(contents))
    return createStringError("nests too deeply");
  Expected<json::Value> value = json::parse(contents);
  if (!value)
    return createStringError("is not JSON: " + toString(value.takeError()));
  const json::Object *file = value->getAsObject();
  const json::Array *list = file ? file->getArray("convolutions") : nullptr;
  if (!list)
    return createStringError("has no list 'convolutions'; the plan.json of a "
                             "program with convolutions has one");
  for (auto [index, entry] : enumerate(*list)) {
    ListedConvolution listed;
    const json::Object *text = entry.getAsObject();
    llvm::Error error = text ? readConvolution(*text, listed.graph)
                             : createStringError("expects an object");
    if (error)
      return createStringError("convolutions[" + Twine(index) +
                               "]: " + toString(std::move(error)));
    listed.text = withoutPlan(*text);
    if (none_of(all, [&](const ListedConvolution &known) {
          return known.text == listed.text;
        }))
      all.push_back(std::move(listed));
  }
  return llvm::Error::success();
}

llvm::Error gpuopt::addConvolutions(StringRef path,
                                    std::vector<ListedConvolution> &all) {
  auto file = MemoryBuffer::getFile(path);
  if (!file)
    return createStringError("cannot read '" + path +
                             "': " + file.getError().message());
  if (llvm::Error error = addFrom((*file)->getBuffer(), all))
    return createStringError("'" + path + "': " + toString(std::move(error)));
  return llvm::Error::success();
}
