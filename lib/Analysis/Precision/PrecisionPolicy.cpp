//===- PrecisionPolicy.cpp - Which ops may be in half precision -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Precision/PrecisionPolicy.h"

#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Planning/JsonDepth.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace gpuopt;

namespace {
struct Row {
  StringLiteral op;
  PrecisionClass precisionClass;
  StringLiteral pytorch, grappler, why;
};
} // namespace

static constexpr Row kRows[] = {
#define PRECISION_CLASS(OP, CLASS, PYTORCH, GRAPPLER, WHY)                     \
  {#OP, PrecisionClass::CLASS, PYTORCH, GRAPPLER, WHY},
#include "gpuopt/Analysis/Precision/PrecisionClasses.def"
};

StringRef gpuopt::nameOf(PrecisionClass precisionClass) {
  switch (precisionClass) {
  case PrecisionClass::Half:
    return "half";
  case PrecisionClass::Full:
    return "fp32";
  case PrecisionClass::Follow:
    return "follow";
  }
  llvm_unreachable("all classes are listed");
}

static std::optional<PrecisionClass> parseClass(StringRef name) {
  for (PrecisionClass known :
       {PrecisionClass::Half, PrecisionClass::Full, PrecisionClass::Follow})
    if (nameOf(known) == name)
      return known;
  return std::nullopt;
}

PrecisionPolicy::PrecisionPolicy() {
  for (const Row &row : kRows) {
    classes[row.op] = row.precisionClass;
    autocastClasses[row.op] =
        parseClass(row.pytorch).value_or(PrecisionClass::Follow);
  }
}

//===----------------------------------------------------------------------===//
// What users change
//===----------------------------------------------------------------------===//

/// The JSON object of a file.
static Expected<json::Object> readObject(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError("cannot read '" + path +
                             "': " + buffer.getError().message());
  if (planning::nestsTooDeep((*buffer)->getBuffer()))
    return createStringError("'" + path + "': nests too deeply");
  Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value)
    return createStringError("'" + path + "': " + toString(value.takeError()));
  if (json::Object *object = value->getAsObject())
    return std::move(*object);
  return createStringError(
      "'" + path +
      "': expects a JSON object with the members half, fp32 and follow");
}

namespace {
/// Collects all mistakes of a file, by what was expected instead.
class Complaints {
public:
  void add(StringLiteral expected, std::string got) {
    found[expected].push_back(std::move(got));
  }
  bool empty() const { return found.empty(); }
  std::string text() const {
    SmallVector<std::string> parts;
    for (auto &[expected, got] : found)
      parts.push_back(
          ("expects " + expected + ", but got " + join(got, ", ")).str());
    return join(parts, "; ");
  }

private:
  MapVector<StringRef, SmallVector<std::string>> found;
};
} // namespace

static constexpr StringLiteral
    kMembers = "the members half, fp32 and follow, each a list of operators",
    kOperators = "ONNX operators that gpuopt supports, as `gpuopt operators` "
                 "lists them",
    kOnce = "each operator once";

Error PrecisionPolicy::read(StringRef path) {
  Expected<json::Object> object = readObject(path);
  if (!object)
    return object.takeError();
  // Keys are read in alphabetical order, so that a file always gives the same
  // message.
  auto keys = map_to_vector(
      *object, [](auto &member) -> StringRef { return member.first; });
  sort(keys);
  StringMap<PrecisionClass> chosen;
  Complaints complaints;
  for (StringRef key : keys) {
    std::optional<PrecisionClass> precisionClass = parseClass(key);
    const json::Array *names = object->getArray(key);
    if (!precisionClass || !names) {
      complaints.add(kMembers, ("'" + key + "'").str());
      continue;
    }
    for (const json::Value &name : *names) {
      StringRef op = name.getAsString().value_or("");
      if (!classes.contains(op))
        complaints.add(kOperators, formatv("{0}", name));
      else if (!chosen.try_emplace(op, *precisionClass).second)
        complaints.add(kOnce, formatv("{0}", name));
    }
  }
  if (!complaints.empty())
    return createStringError("'" + path + "': " + complaints.text());
  for (auto &entry : chosen)
    classes[entry.getKey()] = entry.getValue();
  return Error::success();
}

Error PrecisionPolicy::addOverride(StringRef text, StringRef half) {
  auto [pattern, type] = text.rsplit('=');
  if (type != "fp32" && type != half)
    return createStringError("expects REGEX=fp32 or REGEX=" + half +
                             ", but got '" + text + "'");
  Override entry{
      text.str(),
      std::make_shared<NameExpression>(("^(" + pattern + ")$").str()),
      type != "fp32"};
  std::string error;
  if (!entry.pattern->isValid(error))
    return createStringError(
        "expects a regular expression before '=', but got '" + pattern +
        "': " + error);
  overrides.push_back(std::move(entry));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// What passes ask
//===----------------------------------------------------------------------===//

static PrecisionClass lookup(const StringMap<PrecisionClass> &classes,
                             mlir::Location loc) {
  mlir::StringAttr op = onnxOpOf(loc);
  auto found = op ? classes.find(op.getValue()) : classes.end();
  return found == classes.end() ? PrecisionClass::Follow : found->second;
}
PrecisionClass PrecisionPolicy::classOf(mlir::Location loc) const {
  return lookup(classes, loc);
}
PrecisionClass PrecisionPolicy::autocastClassOf(mlir::Location loc) const {
  return lookup(autocastClasses, loc);
}

std::optional<bool> PrecisionPolicy::overrideOf(mlir::Location loc) {
  if (overrides.empty())
    return std::nullopt;
  // If an op comes from several nodes, the first one decides.
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(loc)) {
    std::optional<bool> first;
    for (auto [index, node] : enumerate(fused.getLocations()))
      if (std::optional<bool> wanted = overrideOf(node); index == 0)
        first = wanted;
    return first;
  }
  std::string node = originIn(loc).name; // gradients go with their node
  mlir::StringAttr op = onnxOpOf(loc);
  std::optional<bool> result;
  for (Override &entry : overrides) {
    if (!entry.pattern->match(node) &&
        !(op && entry.pattern->match(op.getValue())))
      continue;
    entry.hasMatched = true;
    result = entry.isHalf;
  }
  return result;
}

bool PrecisionPolicy::isNamedByOverride(StringRef node) const {
  return any_of(overrides, [&](const Override &entry) {
    return StringRef(entry.text).rsplit('=').first == node;
  });
}

SmallVector<StringRef> PrecisionPolicy::unmatched() const {
  SmallVector<StringRef> result;
  for (const Override &entry : overrides)
    if (!entry.hasMatched)
      result.push_back(entry.text);
  return result;
}

//===----------------------------------------------------------------------===//
// Documentation
//===----------------------------------------------------------------------===//

void gpuopt::printPrecisionTable(raw_ostream &stream) {
  stream << "# Precision classes of ONNX operators\n\n"
         << "Printed by `gpuopt operators --precision-classes`; "
            "[precision.md](precision.md) says what classes mean.\n"
         << "PyTorch's are the lists of autocast in 2.13 (none: whatever its "
            "operands are, the widest where they differ),\n"
         << "Grappler's those of TensorFlow's auto_mixed_precision (none: not "
            "listed).\n\n";
  stream << "| operator | gpuopt | PyTorch autocast | Grappler | why gpuopt "
            "differs from PyTorch |\n|---|---|---|---|---|\n";
  SmallVector<Row> rows(std::begin(kRows), std::end(kRows));
  sort(rows, [](const Row &a, const Row &b) { return a.op < b.op; });
  for (const Row &row : rows)
    stream << "| " << row.op << " | " << nameOf(row.precisionClass) << " | "
           << row.pytorch << " | " << row.grappler << " | " << row.why
           << " |\n";
}
