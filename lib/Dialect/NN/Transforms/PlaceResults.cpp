//===- PlaceResults.cpp - Results that take an operand's place ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Runs when all kernels, copies and casts are there and before the schedule,
// which has to know which results need no memory. Afterwards no op may be
// added that reads an overwritten operand; StepMemory checks it.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/ResultPlaces.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_PLACERESULTS
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

int64_t nn::placeResults(Block &block) {
  int64_t count = 0;
  for (FusedOp op : block.getOps<FusedOp>()) {
    SmallVector<int64_t> places = choosePlaces(op);
    int64_t taken = places.size() - llvm::count(places, -1);
    if (taken > 0)
      op.setInPlace(places);
    count += taken;
  }
  return count;
}

namespace {

class PlaceResults : public nn::impl::PlaceResultsBase<PlaceResults> {
  void runOnOperation() override {
    getOperation()->walk([&](train::StepOp step) {
      placeCount += placeResults(step.getBody().front());
    });
  }
};

} // namespace
