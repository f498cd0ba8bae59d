//===- GraphFile.cpp - Reads recompute problems ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files.h"
#include "WholeNumber.h"

#include "gpuopt/Planning/Bytes.h"
#include "gpuopt/Planning/JsonDepth.h"
#include "gpuopt/Planning/Recompute/Schedule.h"
#include "gpuopt/Support/WriteFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace gpuopt;
using namespace gpuopt::solve;
using namespace gpuopt::planning;
namespace json = llvm::json;

Result<std::string> solve::readFile(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return Error{"cannot read '" + path.str() +
                 "': " + buffer.getError().message()};
  return (*buffer)->getBuffer().str();
}

MaybeError solve::writeFile(llvm::StringRef path, llvm::StringRef contents) {
  if (path == "-") {
    llvm::outs() << contents;
    return std::nullopt;
  }
  if (llvm::Error error = gpuopt::writeFile(path, contents))
    return Error{"cannot write '" + path.str() +
                 "': " + llvm::toString(std::move(error))};
  return std::nullopt;
}

Result<json::Value> solve::parseJson(llvm::StringRef text) {
  if (nestsTooDeep(text))
    return Error{"nests too deeply"};
  llvm::Expected<json::Value> root = json::parse(text);
  if (!root)
    return Error{"is not JSON: " + llvm::toString(root.takeError())};
  return std::move(*root);
}

Result<json::Value> solve::readJson(llvm::StringRef path) {
  Result<std::string> contents = readFile(path);
  if (!contents)
    return contents.error();
  Result<json::Value> root = parseJson(*contents);
  if (!root)
    return Error{"'" + path.str() + "' " + root.error().message};
  return root;
}

static std::string text(const json::Value &value) {
  std::string result;
  llvm::raw_string_ostream(result) << value;
  return result.size() > 60 ? result.substr(0, 60) + "..." : result;
}

/// Reads fields of one node and remembers the first thing that is wrong.
namespace {
struct NodeReader {
  const json::Object &node;
  MaybeError error;

  void fail(llvm::StringRef key, llvm::StringRef expected,
            const json::Value *value) {
    if (!error)
      error = Error{
          ("expects '" + key + "' to be " + expected + ", but got ").str() +
          (value ? text(*value) : "nothing")};
  }
  int64_t integer(llvm::StringRef key, std::optional<int64_t> fallback) {
    const json::Value *value = node.get(key);
    if (!value && fallback)
      return *fallback;
    std::optional<int64_t> result;
    if (value)
      result = wholeNumber(*value);
    if (!result)
      fail(key, "an integer", value);
    return result.value_or(0);
  }
  double number(llvm::StringRef key) {
    const json::Value *value = node.get(key);
    std::optional<double> result;
    if (value)
      result = value->getAsNumber();
    if (!result || !std::isfinite(*result))
      fail(key, "a finite number", value);
    return result.value_or(0);
  }
  std::optional<double> optionalNumber(llvm::StringRef key) {
    return node.get(key) ? std::optional<double>(number(key)) : std::nullopt;
  }
  bool boolean(llvm::StringRef key, bool fallback) {
    const json::Value *value = node.get(key);
    if (value && !value->getAsBoolean())
      fail(key, "true or false", value);
    return value ? value->getAsBoolean().value_or(fallback) : fallback;
  }
};
} // namespace

static MaybeError readNode(const json::Value &value, size_t index,
                           RecomputeProblem &problem) {
  const json::Object *node = value.getAsObject();
  if (!node)
    return Error{"expects an object, but got " + text(value)};
  NodeReader reader{*node, {}};
  RecomputeOp op;
  int64_t id = reader.integer("id", int64_t(index));
  op.sizeInBytes = reader.integer("bytes", std::nullopt);
  op.cost = reader.number("cost");
  op.workspaceInBytes = reader.integer("workspace", 0);
  op.repeatWorkspaceInBytes =
      reader.integer("repeat_workspace", op.workspaceInBytes);
  int64_t storage = reader.integer("storage", -1);
  op.overwrites = reader.boolean("overwrites", false);
  op.pinned = reader.boolean("pinned", false);
  op.recomputable = reader.boolean("recomputable", true);
  op.offloadCost = reader.optionalNumber("offload_cost");
  if (!reader.error && id != int64_t(index))
    return Error{"expects ids that count from 0, but got " +
                 std::to_string(id)};
  if (!reader.error && (storage < -1 || storage >= int64_t(index)))
    return Error{"expects 'storage' to be an earlier node, but got " +
                 std::to_string(storage)};
  op.storage = storage;
  problem.ops.push_back(std::move(op));
  return reader.error;
}

static MaybeError readEdge(const json::Value &value,
                           RecomputeProblem &problem) {
  const json::Array *edge = value.getAsArray();
  std::optional<int64_t> from, to;
  if (edge && edge->size() == 2) {
    from = wholeNumber((*edge)[0]);
    to = wholeNumber((*edge)[1]);
  }
  if (!from || !to)
    return Error{"expects an edge [from, to], but got " + text(value)};
  int64_t n = problem.ops.size();
  if (*from < 0 || *to < 0 || *from >= n || *to >= n)
    return Error{"edge " + text(value) + " names a node that does not exist"};
  if (*from >= *to)
    return Error{"edge " + text(value) +
                 " goes against the order of the ids: a cycle, or nodes that "
                 "are not in topological order"};
  problem.ops[*to].inputs.push_back(*from);
  return std::nullopt;
}

static Result<RecomputeProblem> parseGraph(const json::Value &root) {
  const json::Object *graph = root.getAsObject();
  const json::Array *nodes = graph ? graph->getArray("nodes") : nullptr;
  const json::Array *edges = graph ? graph->getArray("edges") : nullptr;
  if (!nodes || !edges)
    return Error{"expects an object with the arrays 'nodes' and 'edges'"};
  if (nodes->size() > 100'000'000)
    return Error{"has more than 100,000,000 nodes"};
  RecomputeProblem problem;
  for (size_t i = 0; i < nodes->size(); ++i)
    if (MaybeError error = readNode((*nodes)[i], i, problem))
      return Error{"node " + std::to_string(i) + " " + error->message};
  for (const json::Value &edge : *edges)
    if (MaybeError error = readEdge(edge, problem))
      return *error;
  for (RecomputeOp &op : problem.ops) { // an edge may be listed twice
    std::sort(op.inputs.begin(), op.inputs.end());
    op.inputs.erase(std::unique(op.inputs.begin(), op.inputs.end()),
                    op.inputs.end());
  }
  if (MaybeError error = problem.check())
    return *error;
  return problem;
}

Result<RecomputeProblem> solve::readGraph(llvm::StringRef path) {
  Result<json::Value> root = readJson(path);
  if (!root)
    return root.error();
  Result<RecomputeProblem> problem = ::parseGraph(*root);
  if (!problem)
    return Error{"'" + path.str() + "': " + problem.error().message};
  return problem;
}

Result<RecomputeProblem> solve::parseGraph(llvm::StringRef text) {
  Result<json::Value> root = parseJson(text);
  return root ? ::parseGraph(*root) : root.error();
}

Result<int64_t> solve::parseBudget(llvm::StringRef budget,
                                   int64_t plainPeakInBytes) {
  Error wrong{"expects a budget like '0.8' (of the plain peak), '4GiB' or "
              "'1000B', but got '" +
              budget.str() + "'"};
  if (!budget.empty() && llvm::isAlpha(budget.back())) {
    Result<int64_t> bytes = parseBytes(budget.str());
    bool isUnclear =
        !bytes && bytes.error().message.find("may mean") != std::string::npos;
    return bytes || isUnclear ? bytes : wrong;
  }
  double fraction = 0;
  if (budget.getAsDouble(fraction) || !(fraction >= 0 && fraction <= 1))
    return wrong;
  double bytes = std::floor(fraction * double(plainPeakInBytes));
  if (!(bytes < 0x1p62))
    return Error{"the budget '" + budget.str() + "' is too large"};
  return int64_t(bytes);
}
