//===- PrintBuffers.cpp - Which memory values lie in ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Words.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Support/TensorSize.h"
#include "gpuopt/Transforms/Printing/Passes.h"

namespace gpuopt::printing {
#define GEN_PASS_DEF_PRINTBUFFERS
#define GEN_PASS_DEF_PRINTCALLLAYOUTS
#include "gpuopt/Transforms/Printing/Passes.h.inc"
} // namespace gpuopt::printing

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::printing;

static std::string describeView(Value value) {
  std::optional<StridedView> view = viewOf(value);
  return view ? "a view of " + wordOf(*view)
              : "no view: a reshape on the way needs a copy";
}

static std::string describeResult(OpResult result) {
  if (isViewOp(result.getOwner()))
    return describeView(result);
  if (Value operand = operandInPlace(result))
    return "takes the place of " + wordOf(operand);
  StridedView place = destinationOf(result);
  if (place.buffer != result)
    return "written into " + wordOf(place);
  int64_t bytes = sizeInBytes(result);
  return "owns " + std::to_string(bytes) + " bytes";
}

/// Returns "reads %x at 0, strides [1, 4]; ...; writes its own buffer at ...".
static std::string describeLayouts(RuntimeCallOpInterface call) {
  std::optional<CallLayouts> layouts = layoutsOf(call);
  if (!layouts)
    return "cannot read an operand with the strides that it has";
  std::string text;
  for (const StridedView &operand : layouts->operands)
    text += "reads " + wordOf(operand) + "; ";
  for (auto [number, view] : llvm::enumerate(layouts->results))
    text += (number > 0 ? "; writes " : "writes ") +
            wordOf(view, call->getResult(number));
  return text;
}

namespace {

class PrintBuffers : public printing::impl::PrintBuffersBase<PrintBuffers> {
  void runOnOperation() override {
    for (train::StepOp step : getOperation().getOps<train::StepOp>())
      for (Operation &op : step.getBody().front())
        if (!isa<train::ReadOp>(op))
          for (OpResult result : op.getResults())
            if (isa<RankedTensorType>(result.getType()))
              op.emitRemark() << describeResult(result);
  }
};

class PrintCallLayouts
    : public printing::impl::PrintCallLayoutsBase<PrintCallLayouts> {
  void runOnOperation() override {
    getOperation()->walk([](RuntimeCallOpInterface call) {
      call->emitRemark() << describeLayouts(call);
    });
  }
};

} // namespace
