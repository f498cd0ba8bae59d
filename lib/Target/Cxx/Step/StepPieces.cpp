//===- StepPieces.cpp - A long step as several functions ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Step/StepPieces.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace gpuopt;
using cxx::StepPiece;

static bool isAddress(Operation *op) {
  return isa<device::AddressOp, device::ColumnOp>(op);
}

/// Counts the calls in the source, where a loop's are written once.
static unsigned callsOf(Operation *op) {
  if (auto repeat = dyn_cast<device::RepeatOp>(op))
    return llvm::count_if(repeat.getBody().front(),
                          [](Operation &inner) { return !isAddress(&inner); });
  return isAddress(op) ? 0 : 1;
}

/// Returns the op itself, or the first call of a loop or of a multi-tensor
/// call.
static Operation *firstCallOf(Operation *op) {
  if (isa<device::RepeatOp, device::MultiTensorOp>(op))
    for (Operation &inner : op->getRegion(0).front())
      if (!isAddress(&inner))
        return firstCallOf(&inner);
  return op;
}

static StringRef commentOf(Operation *op) {
  auto comment = firstCallOf(op)->getAttrOfType<StringAttr>("comment");
  return comment ? comment.getValue() : "";
}

/// Returns "forward", or "evaluate_forward" if the step is not the one that
/// trains.
static std::string stemOf(device::StepOp step, StringRef section) {
  if (section.empty() || section == step.getSymName())
    return step.getSymName().str();
  return step.getKind() == train::StepKind::Micro
             ? section.str()
             : (step.getSymName() + "_" + section).str();
}

static void nameSections(device::StepOp step,
                         MutableArrayRef<StepPiece> pieces) {
  llvm::StringMap<unsigned> total, count;
  for (const StepPiece &piece : pieces)
    ++total[piece.name];
  for (StepPiece &piece : pieces) {
    std::string section = piece.name;
    piece.name = stemOf(step, section);
    if (total[section] > 1)
      piece.name += "_" + std::to_string(++count[section]);
  }
}

SmallVector<StepPiece> cxx::piecesOf(device::StepOp step, unsigned mostCalls) {
  Block &body = step.getBody().front();
  unsigned total = 0;
  for (Operation &op : body)
    total += callsOf(&op);
  // A piece ends with the node whose calls make it this long.
  const unsigned callsOfPiece = mostCalls * 3 / 8;
  SmallVector<StepPiece> pieces;
  SmallVector<Operation *> addresses;
  unsigned calls = 0;
  StringRef comment;
  for (Operation &op : body) {
    addresses.push_back(&op);
    if (isAddress(&op))
      continue;
    StringRef section = device::sectionOf(firstCallOf(&op));
    bool begins = pieces.empty() ||
                  (total > mostCalls &&
                   (section != pieces.back().name ||
                    (calls >= callsOfPiece && commentOf(&op) != comment)));
    if (begins) {
      pieces.push_back({section.str(), section.str(), {}});
      calls = 0;
    }
    pieces.back().ops.append(addresses);
    addresses.clear();
    calls += callsOf(&op);
    comment = commentOf(&op);
  }
  if (pieces.empty())
    pieces.emplace_back();
  pieces.back().ops.append(addresses);
  nameSections(step, pieces);
  return pieces;
}

std::optional<StringRef> cxx::onlySectionOf(ArrayRef<Operation *> ops) {
  std::optional<StringRef> only;
  for (Operation *op : ops) {
    if (isAddress(op))
      continue;
    StringRef section = device::sectionOf(firstCallOf(op));
    if (!section.empty() && section != only.value_or(section))
      return std::nullopt;
    if (!section.empty())
      only = section;
  }
  return only;
}
