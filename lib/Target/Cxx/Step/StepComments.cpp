//===- StepComments.cpp - What a step says of its buffers -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Step/StepComments.h"

#include "Step/LayerTables.h"
#include "Text.h"
#include "gpuopt/Dialect/Device/IR/Accesses.h"
#include "gpuopt/Dialect/Device/IR/Gradients.h"

using namespace mlir;
using namespace gpuopt;

void cxx::StepComments::print(Operation *call, raw_ostream &stream,
                              size_t indent) {
  for (Value operand : call->getOperands())
    if (auto address = operand.getDefiningOp<device::AddressOp>())
      printTied(address, stream, indent);
  if (auto launch = dyn_cast<device::LaunchOp>(call))
    printInPlace(launch, stream, indent);
}

void cxx::StepComments::printWhyLayers(device::RepeatOp repeat,
                                       raw_ostream &stream, size_t indent) {
  if (saysWhyLayers || !repeat.getName().contains("layers"))
    return;
  saysWhyLayers = true;
  printComment(
      stream,
      "layers that make the same calls; one that makes others, such as "
      "the first, stands outside",
      indent);
}

void cxx::StepComments::printTied(device::AddressOp address,
                                  raw_ostream &stream, size_t indent) {
  auto buffer = symbols.lookup<device::BufferOp>(address.getBuffer());
  if (!buffer || !buffer.getVariableAttr())
    return;
  auto variable = symbols.lookup<train::VariableOp>(*buffer.getVariable());
  if (!variable || variable.getSavedAs().size() < 2 ||
      !tied.insert(variable).second)
    return;
  std::string text = names.ofBuffer(address.getBuffer()) + " is tied: it is ";
  llvm::raw_string_ostream weights(text);
  llvm::interleave(
      variable.getSavedAs().getAsValueRange<StringAttr>(),
      [&](StringRef name) { weights << name; }, [&] { weights << " and "; });
  printComment(stream, text, indent);
}

static bool computesGradient(device::LaunchOp launch) {
  for (StringRef comment : cxx::commentsOf(launch))
    for (StringRef origin : llvm::split(comment, ", "))
      if (device::isGradientOrigin(origin))
        return true;
  return false;
}

void cxx::StepComments::printInPlace(device::LaunchOp launch,
                                     raw_ostream &stream, size_t indent) {
  auto kernel = symbols.lookup<device::KernelOp>(launch.getKernel());
  if (!kernel || !computesGradient(launch))
    return;
  SmallVector<StringRef> read;
  for (auto [number, operand] : llvm::enumerate(launch.getOperands())) {
    auto address = operand.getDefiningOp<device::AddressOp>();
    if (!address)
      continue;
    if (!device::isWritten(kernel, number)) {
      read.push_back(address.getBuffer());
      continue;
    }
    auto buffer = symbols.lookup<device::BufferOp>(address.getBuffer());
    if (buffer && llvm::is_contained(read, address.getBuffer()) &&
        !device::isGradient(buffer))
      printComment(stream,
                   "from here on, " + names.ofBuffer(address.getBuffer()) +
                       " has a gradient in place of " +
                       buffer.getOrigin().str(),
                   indent);
  }
}
