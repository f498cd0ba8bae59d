//===- KernelFiles.cpp - Which file has which kernels ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/KernelFiles.h"

#include "Kernels/KernelPrinter.h"
#include "Step/LayerTables.h"
#include "Text.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;
using namespace gpuopt;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
/// The facts that the launches of a kernel tell about it.
struct Launches {
  std::string section; ///< The section of the first launch.
  llvm::SetVector<StringRef> comments;
  /// The numbers that differ from the kernel's own.
  std::set<int64_t> blocks, threads;
};
} // namespace

static llvm::StringMap<Launches> launchesOf(ModuleOp module) {
  llvm::StringMap<Launches> launches;
  module.walk([&](device::LaunchOp op) {
    auto [known, isNew] = launches.try_emplace(op.getKernel());
    if (isNew)
      known->second.section = device::sectionOf(op).str();
    if (op.getBlocks())
      known->second.blocks.insert(*op.getBlocks());
    if (op.getThreads())
      known->second.threads.insert(*op.getThreads());
    for (StringRef comment : cxx::commentsOf(op))
      if (!comment.empty())
        known->second.comments.insert(comment);
  });
  return launches;
}

/// Returns "8", or "8 to 64" for a range.
static std::string rangeOf(const std::set<int64_t> &numbers, int64_t own) {
  if (numbers.empty())
    return std::to_string(own);
  std::string text = std::to_string(*numbers.begin());
  return numbers.size() == 1
             ? text
             : text + " to " + std::to_string(*numbers.rbegin());
}

/// Returns the comment of a kernel: "512 blocks of 32 threads. For
/// h.0.attn/softmax; h.1.attn/softmax; and 10 more." If the kernel's name does
/// not say what it does, that comes first.
static std::string commentOf(device::KernelOp kernel,
                             const Launches &launches) {
  constexpr size_t kMostUses = 2;
  std::string text;
  if (!kernel.getSymName().contains(kernel.getComment()))
    text = kernel.getComment().str();
  std::string blocks = rangeOf(launches.blocks, kernel.getBlocks());
  text += (text.empty() ? "" : ". ") + blocks +
          (blocks == "1" ? " block" : " blocks") + " of " +
          rangeOf(launches.threads, kernel.getThreads()) + " threads.";
  ArrayRef<StringRef> uses = launches.comments.getArrayRef();
  if (!uses.empty())
    text += " For " + llvm::join(uses.take_front(kMostUses), "; ");
  if (uses.size() > kMostUses)
    text += "; and " + std::to_string(uses.size() - kMostUses) + " more";
  std::string comment;
  llvm::raw_string_ostream stream(comment);
  cxx::printComment(stream, text + (uses.empty() ? "" : "."));
  return comment;
}

/// "LAUNCH_BOUNDS(256, 2) ": the most threads of a block, and how many blocks a
/// multiprocessor shall hold.
static std::string boundsOf(device::KernelOp kernel, const Launches &launches) {
  int64_t threads = launches.threads.empty() ? kernel.getThreads()
                                             : *launches.threads.rbegin();
  std::string text = "LAUNCH_BOUNDS(" + std::to_string(threads);
  if (kernel.getResidentBlocks())
    text += ", " + std::to_string(kernel.getResidentBlocks());
  return text + ") ";
}

/// Whether a kernel finds the maximum of a row and the sum of its exponentials
/// in one walk.
static bool haveExpSums(ModuleOp module) {
  return module
      .walk([](device::LoopOp loop) {
        for (unsigned i = 0, n = loop.getNumResults(); i < n; ++i)
          if (loop.getSumExpOf(i))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult cxx::KernelFiles::print(ModuleOp module) {
  IndexRows rows;
  module.walk([&](device::InRangeOp op) { rows.try_emplace(op, rows.size()); });
  useExpSums = haveExpSums(module);
  llvm::StringMap<Launches> launches = launchesOf(module);
  for (device::KernelOp kernel : module.getOps<device::KernelOp>()) {
    const Launches &own = launches[kernel.getSymName()];
    std::string body;
    llvm::raw_string_ostream stream(body);
    KernelPrinter printer(kernel, names.ofKernel(kernel.getSymName()), rows,
                          stream);
    std::string signature = printer.signature();
    if (failed(printer.printBody()))
      return failure();
    kernels.push_back({own.section, commentOf(kernel, own),
                       boundsOf(kernel, own), signature, body, 0});
    kernels.back().lines =
        StringRef(kernels.back().comment + body).count('\n') + 2;
    lines += kernels.back().lines;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::string cxx::KernelFiles::text() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const Kernel &kernel : kernels) {
    stream << (text.empty() ? "" : "\n") << kernel.comment;
    printLine(stream, "KERNEL " + kernel.bounds + kernel.signature + " {");
    stream << kernel.body;
  }
  return text;
}

std::string cxx::KernelFiles::header() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printComment(stream, "The kernels of step.cu.");
  stream << "#pragma once\n\n#include \"step.h\"\n\n"
         << "#include \"gpuopt/kernels/block.h\"\n"
         << "#include \"gpuopt/kernels/elementary.h\"\n"
         << (useExpSums ? "#include \"gpuopt/kernels/exp_sum.h\"\n" : "")
         << "#include \"gpuopt/kernels/random.h\"\n"
         << "#include \"gpuopt/ops/in_range.h\"\n"
         << "\n#include <cmath>\n#include <cstdint>\n\n"
         << "namespace gpuopt::model {\n\n";
  for (const Kernel &kernel : kernels)
    printLine(stream,
              "EXPORTED_KERNEL " + kernel.bounds + kernel.signature + ";");
  stream << "\n} // namespace gpuopt::model\n";
  return text;
}

std::vector<std::string> cxx::KernelFiles::addTo(ProgramFiles &files) const {
  llvm::MapVector<StringRef, std::vector<std::string>> texts;
  llvm::StringMap<size_t> linesOfLast;
  for (const Kernel &kernel : kernels) {
    std::vector<std::string> &ofSection = texts[kernel.section];
    size_t &lines = linesOfLast[kernel.section];
    if (ofSection.empty() || lines + kernel.lines > linesPerFile) {
      ofSection.push_back("");
      lines = 0;
    }
    lines += kernel.lines;
    llvm::raw_string_ostream stream(ofSection.back());
    stream << "\n" << kernel.comment;
    printLine(stream,
              "EXPORTED_KERNEL " + kernel.bounds + kernel.signature + " {");
    stream << kernel.body;
  }
  std::vector<std::string> added;
  for (auto &[section, ofSection] : texts)
    for (auto [number, text] : llvm::enumerate(ofSection)) {
      std::string name =
          "kernels" + (section.empty() ? "" : "_" + section.str());
      if (ofSection.size() > 1)
        name += "_" + std::to_string(number + 1);
      added.push_back(name + ".cu");
      files[added.back()] =
          "// Kernels" + (section.empty() ? "" : " of the " + section.str()) +
          ": what one block of threads does.\n#include \"kernels.h\"\n\n"
          "namespace gpuopt::model {\n" +
          text + "\n} // namespace gpuopt::model\n";
    }
  files["kernels.h"] = header();
  return added;
}
