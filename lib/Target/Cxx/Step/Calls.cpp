//===- Calls.cpp - What the calls of a step are ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Step/Calls.h"

#include "Names.h"
#include "Text.h"
#include "Types.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace gpuopt;

bool cxx::isTimed(device::StepOp step) {
  return step.getKind() == train::StepKind::Micro ||
         step.getKind() == train::StepKind::Update;
}

cxx::OpCalls cxx::callsOf(Operation *op, unsigned iteration) {
  auto key = op->getAttrOfType<ArrayAttr>(device::kCostKeyAttribute);
  if (Attribute own = device::attributeInIteration(op, iteration,
                                                   device::kCostKeyAttribute))
    key = cast<ArrayAttr>(own);
  OpCalls calls;
  calls.name = device::nameOfWork(op);
  calls.section = device::sectionOf(op);
  calls.work = op->getName().stripDialect().str();
  if (key && key.size() == 2) {
    calls.origin = cast<StringAttr>(key[0]).str();
    calls.work = cast<StringAttr>(key[1]).str();
  }
  return calls;
}

cxx::OpCalls cxx::runtimeCall(StringRef function, StringRef section) {
  OpCalls calls;
  calls.section = section.str();
  calls.work = calls.name = function.str();
  return calls;
}

std::vector<cxx::OpCalls> cxx::callsOf(device::MultiTensorOp merged,
                                       int count) {
  std::vector<OpCalls> calls;
  for (device::MultiTensorCall op : merged.getCalls()) {
    OpCalls call = callsOf(op.getOperation());
    call.count = calls.empty() ? count : 0;
    call.elements = op.getNumElements();
    calls.push_back(call);
  }
  return calls;
}

void cxx::addIterations(device::RepeatOp repeat, size_t begin,
                        std::vector<OpCalls> &calls) {
  const bool differ = llvm::any_of(repeat.getBody().front(), [](Operation &op) {
    return op.hasAttr(device::kIterationsAttribute);
  });
  if (!differ && begin < calls.size()) {
    calls[begin].iterations = repeat.getNumIterations();
    calls[begin].rows = calls.size() - begin;
    return;
  }
  const std::vector<OpCalls> ofIteration(calls.begin() + begin, calls.end());
  calls.resize(begin);
  for (unsigned iteration = 0; iteration < repeat.getNumIterations();
       ++iteration) {
    const OpCalls *first = ofIteration.data();
    for (Operation &op : repeat.getBody().front()) {
      if (isa<device::AddressOp, device::ColumnOp>(op))
        continue;
      if (device::isMade(&op, iteration)) {
        OpCalls call = callsOf(&op, iteration);
        call.count = first->count;
        call.mark = first->mark;
        calls.push_back(call);
      }
      ++first;
    }
  }
}

//===----------------------------------------------------------------------===//
// The lines of calls
//===----------------------------------------------------------------------===//

/// A mark is its number between two of these, which no source has.
static constexpr char kMark = '\1';

unsigned cxx::LineMarks::add(raw_ostream &stream) {
  lines.push_back(0);
  stream << kMark << lines.size() << kMark;
  return lines.size();
}

void cxx::LineMarks::resolve(std::string &file) {
  std::string clean;
  clean.reserve(file.size());
  unsigned line = 1;
  for (size_t at = 0; at < file.size(); ++at) {
    if (file[at] != kMark) {
      line += file[at] == '\n';
      clean += file[at];
      continue;
    }
    size_t end = file.find(kMark, at + 1);
    unsigned mark = 0;
    StringRef(file).slice(at + 1, end).getAsInteger(10, mark);
    lines[mark - 1] = line;
    at = end;
  }
  file = std::move(clean);
}

unsigned cxx::LineMarks::lineOf(unsigned mark) const {
  return mark ? lines[mark - 1] : 0;
}

//===----------------------------------------------------------------------===//
// calls.h
//===----------------------------------------------------------------------===//

std::string cxx::callTableName(StringRef function) {
  return constantName(function) + "Calls";
}

void cxx::printCallTable(StringRef function, ArrayRef<OpCalls> calls,
                         raw_ostream &stream) {
  stream << "\nstatic const CallInfo " << callTableName(function) << "[] = {\n";
  for (const OpCalls &op : calls)
    stream << "    {" << quoted(op.origin) << ", " << quoted(op.work) << ", "
           << op.count
           << (op.elements || op.rows ? ", " + std::to_string(op.elements) : "")
           << (op.rows ? ", " + std::to_string(op.iterations) + ", " +
                             std::to_string(op.rows)
                       : "")
           << "},\n";
  stream << "};\n";
}

std::string cxx::workTableName(StringRef function) {
  return constantName(function) + "Work";
}

void cxx::printWorkTable(StringRef function, ArrayRef<OpCalls> calls,
                         const LineMarks &marks, const EmissionOptions &options,
                         raw_ostream &stream) {
  stream << "\nstatic const CallWork " << workTableName(function) << "[] = {\n";
  for (const OpCalls &op : calls) {
    auto found = options.works.find(op.work);
    WorkEstimate work =
        found == options.works.end() ? WorkEstimate() : found->second;
    stream << llvm::formatv("    {{{0}, {1}, {2}, {3:f0}, {4:f0}, {5}},\n",
                            quoted(op.name), quoted(op.section),
                            marks.lineOf(op.mark), work.bytes, work.operations,
                            llvm::format("%.9g", work.limitNanoseconds));
  }
  stream << "};\n";
}

std::string cxx::callsFile(StringRef tables) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printComment(stream,
               "The calls of each step, in order, as --profile-costs-to lists "
               "them: origin, work, and how many calls it makes. Beside them, "
               "for --profile: what is run, the section and the line of "
               "step.cu, and the bytes "
               "and floating-point operations of one execution with the "
               "nanoseconds that they take at the device's limits.");
  stream << "#pragma once\n\n#include \"gpuopt/program/program.h\"\n\n"
         << "namespace gpuopt::model {\n"
         << tables << "\n} // namespace gpuopt::model\n";
  return text;
}
