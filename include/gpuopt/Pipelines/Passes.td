//===- Passes.td - What holds after each phase -------------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PIPELINES_PASSES_TD
#define GPUOPT_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

// Each phase ends with the pass that states its invariant. All run in every
// compilation, none changes anything.
class VerifyPass<string phase> : Pass<"verify-" # phase, "::mlir::ModuleOp">;

def VerifyNN : VerifyPass<"nn"> {
  let summary = "Checks that a model has its meaning";
  let description = [{
    - (I1) Nothing of the file's form is left: no op and no type of the onnx
      dialect.
    - (I2) There is one function, of one block.
    - (I3) All its tensors have static shapes.
    - (I4) Nothing is left to decide: no kernel and no op of a step but
      train.read and train.write is there yet.
  }];
}

def VerifyTrain : VerifyPass<"train"> {
  let summary = "Checks that the steps of a training program are whole";
  let description = [{
    - (I1) No function is left, and there is a step; at most one for each kind.
    - (I2) All tensors have static shapes, and nn.attention is spelled out
      where the runtime has no call for it.
    - (I3) A step that trains or evaluates reports one loss.
    - (I4) No optimizer updates a parameter twice in a step, and each update has
      the gradient that the norm of all gradients before it has of the parameter;
      where the optimizer has a direction, `train.direction` has the gradient and
      stands before the update.
  }];
}

def VerifyClusters : VerifyPass<"clusters"> {
  let summary = "Checks that all work is kernels and library calls";
  let description = [{
    - (I1) Every op of a step is one that convert-to-device lowers: elementwise
      work and reductions are in nn.fused.
    - (I2) Every reshape is a view of its operand's memory.
    - (I3) Every call can read its operands and write its results as they lie.
    - (I4) All other ops but kernels and views read dense tensors.
  }];
}

def VerifyPrecision : VerifyPass<"precision"> {
  let summary = "Checks that tensors have the types that were chosen";
  let description = [{
    - (I1) No choice is left to carry out.
    - (I2) State is in half precision only in copies of parameters, which have
      the shape of their parameter, and each copy that is read is renewed.
    - (I3) No loss is reported in half precision.
  }];
}

def VerifySchedule : VerifyPass<"schedule"> {
  let summary = "Checks that what is computed again still is";
  let description = [{
    - (I1) A step has as many recomputations and reloads as its schedule, none if
      it has no schedule: none was merged with what it repeats.
    - (I2) Somebody reads each of them.
    - (I3) Each variable has an offset before the arena, at a multiple of the
      alignment, and no two overlap.

    Runs again after later passes.
  }];
}

def VerifyMemory : VerifyPass<"memory"> {
  let summary = "Checks that no two tensors meet in the arena";
  let description = [{
    - (I1) Each tensor has a place, at a multiple of the alignment.
    - (I2) No two that live at one time overlap (Planning/Arena/ArenaVerify).
    - (I3) Nothing reads what another op has overwritten.
    - (I4) The arena is no larger than the schedule has promised.
  }];
}

def VerifyDevice : VerifyPass<"device"> {
  let summary = "Checks that a program stays within its memory";
  let description = [{
    - (I1) Nothing is left but the device dialect and the variables.
    - (I2) Each buffer lies within its part of the allocation, or the host's,
      aligned, and overlaps no other that lives at one time, in one step.
    - (I3) Each address is within a buffer.
    - (I4) Each launch is of a kernel, with as many pointers as it has. What two
      of them have of one buffer is read alone, or the kernel knows that they
      are aliased.
  }];
}

#endif // GPUOPT_PIPELINES_PASSES_TD
