//===- Memory.cpp - Buffers as constants ----------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program/Memory.h"

#include "Text.h"
#include "Types.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/Device/IR/Gradients.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace gpuopt;

static const char kTypes[] = R"(
constexpr Buffer<StepState> kStepState{0};
constexpr Buffer<Hyperparameters> kHyperparameters{1024};
static_assert(sizeof(StepState) <= 1024 && sizeof(Hyperparameters) <= 1024);
)";

namespace {

struct Chapter {
  std::string title;
  SmallVector<device::BufferOp> buffers;
};

/// The line of a buffer: the declaration and the comment beside it.
struct Line {
  std::string declaration, comment;
};

} // namespace

static std::string titleOf(device::BufferOp buffer) {
  switch (buffer.getKind()) {
  case device::BufferKind::State:
    return "State: lives from step to step.";
  case device::BufferKind::Input:
  case device::BufferKind::Labels:
    return "Inputs: written before each micro step.";
  case device::BufferKind::Output:
    return "Outputs.";
  case device::BufferKind::Constant:
    return "Constants: read from constants.safetensors.";
  case device::BufferKind::Arena:
  case device::BufferKind::Host:
    break;
  }
  bool isOnHost = buffer.getKind() == device::BufferKind::Host;
  std::string step = buffer.getStep() ? buffer.getStep()->str() : "a step";
  return (isOnHost ? "The host's memory in " : "The arena in ") + step +
         ". Live [a, b): in use from call a of the step until before call b.";
}

/// Groups the buffers by kind and step, each chapter in the order of offsets.
static SmallVector<Chapter> chaptersOf(ModuleOp module) {
  SmallVector<device::BufferOp> buffers(module.getOps<device::BufferOp>());
  auto rank = [](device::BufferOp buffer) {
    int kind = buffer.getKind() == device::BufferKind::Host    ? 2
               : buffer.getKind() == device::BufferKind::Arena ? 1
                                                               : 0;
    return std::tuple(kind, buffer.getOffset(),
                      buffer.getLiveFrom().value_or(0), buffer.getSymName());
  };
  llvm::sort(buffers, [&](device::BufferOp a, device::BufferOp b) {
    return rank(a) < rank(b);
  });
  llvm::MapVector<StringAttr, Chapter> chapters;
  for (device::BufferOp buffer : buffers) {
    auto title = StringAttr::get(module.getContext(), titleOf(buffer));
    chapters[title].title = title.str();
    chapters[title].buffers.push_back(buffer);
  }
  SmallVector<Chapter> result;
  for (auto &[title, chapter] : chapters)
    result.push_back(std::move(chapter));
  return result;
}

/// Returns how many rows the memory has behind the last one of a matrix.
static int64_t spareRowsOf(device::BufferOp buffer) {
  auto type = cast<RankedTensorType>(buffer.getType());
  return type.getRank() == 2 && buffer.getElementsInMemory() > 0
             ? buffer.getElementsInMemory() / buffer.getRowPitch() -
                   type.getDimSize(0)
             : 0;
}

static Line lineOf(device::BufferOp buffer, StringRef name, bool isUsed) {
  auto type = cast<RankedTensorType>(buffer.getType());
  Line line;
  line.declaration =
      "constexpr Buffer<" + cxx::memoryType(type.getElementType()) + "> " +
      name.str() + "{" + std::to_string(buffer.getOffset()) + "};";
  if (!isUsed)
    line.declaration = "[[maybe_unused]] " + line.declaration;
  llvm::raw_string_ostream comment(line.comment);
  comment << cxx::typeName(type.getElementType()) << "[";
  llvm::interleave(type.getShape(), comment, ",");
  comment << "] ";
  if (int64_t pitch = buffer.getRowPitch();
      type.getRank() > 0 && pitch != type.getShape().back())
    comment << "rows " << pitch << " apart ";
  if (int64_t rows = spareRowsOf(buffer))
    comment << "and " << rows << " spare rows ";
  comment << cxx::quoted(buffer.getOrigin());
  if (buffer.getLiveFrom() && buffer.getLiveTo())
    comment << " live [" << *buffer.getLiveFrom() << ", " << *buffer.getLiveTo()
            << ")";
  return line;
}

/// Prints lines with their comments in one column if the declarations are of
/// similar length.
static void printLines(ArrayRef<Line> lines, raw_ostream &stream) {
  constexpr size_t kWidest = 72;
  size_t width = 0;
  for (const Line &line : lines)
    if (line.declaration.size() <= kWidest)
      width = std::max(width, line.declaration.size());
  for (const Line &line : lines)
    stream << llvm::left_justify(line.declaration, width) << " // "
           << line.comment << "\n";
}

LogicalResult cxx::printMemory(ModuleOp module, const ProgramNames &names,
                               raw_ostream &stream) {
  device::MemoryOp memory = *module.getOps<device::MemoryOp>().begin();
  llvm::StringSet<> used;
  module.walk([&](device::AddressOp op) { used.insert(op.getBuffer()); });
  module.walk([&](device::ColumnOp op) {
    auto repeat = op->getParentOfType<device::RepeatOp>();
    used.insert(repeat.sliceOf(op.getName(), 0).getBuffer().getValue());
  });
  stream << "constexpr size_t kPersistentBytes = "
         << memory.getPersistentBytes()
         << ";\nconstexpr size_t kArenaBytes = " << memory.getArenaBytes()
         << ";\n";
  if (memory.getHostBytes() > 0)
    stream << "constexpr size_t kHostBytes = " << memory.getHostBytes()
           << "; // in the memory of the host, where offloaded tensors wait\n";
  stream << kTypes;
  if (llvm::any_of(module.getOps<device::BufferOp>(), device::isGradient)) {
    stream << "\n";
    printComment(
        stream, "kD_X is the gradient of the loss with respect to kX. A buffer "
                "is named after the first tensor in it: what is computed in "
                "place, and what an addition passes on, lies there, too.");
  }
  for (const Chapter &chapter : chaptersOf(module)) {
    SmallVector<Line> lines;
    for (device::BufferOp buffer : chapter.buffers) {
      auto type = dyn_cast<RankedTensorType>(buffer.getType());
      if (!type || !type.hasStaticShape() ||
          memoryType(type.getElementType()).empty())
        return buffer.emitOpError("cannot be written as C++ for type ")
               << buffer.getType();
      if (!names.isDeclared(buffer.getSymName()))
        continue;
      bool isUsed = buffer.getKind() != device::BufferKind::Arena ||
                    used.contains(buffer.getSymName());
      lines.push_back(
          lineOf(buffer, names.ofBuffer(buffer.getSymName()), isUsed));
    }
    if (lines.empty())
      continue;
    stream << "\n";
    printComment(stream, chapter.title);
    printLines(lines, stream);
  }
  auto hasTable = [](Operation *op) {
    return isa<device::RepeatOp, device::MultiTensorOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  if (module.walk(hasTable).wasInterrupted()) {
    stream << "\n";
    printComment(stream,
                 "Buffers that only loops and calls with tables use are not "
                 "declared here; their offsets stand in the tables.");
  }
  return success();
}
