//===- Passes.td - What holds after each phase -------------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PIPELINES_PASSES_TD
#define GPUOPT_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

// Each phase ends with the pass that states its invariants. All of these passes
// run in every compilation, and none changes anything. One that finds nothing to
// check says so: an error if the module cannot be of its phase, else a warning.
class VerifyPass<string phase> : Pass<"verify-" # phase, "::mlir::ModuleOp"> {
  // Names of tensors come from attributes of the nn dialect, whatever the text has.
  let dependentDialects = ["::gpuopt::nn::NNDialect"];
}

def VerifyNN : VerifyPass<"nn"> {
  let summary = "Checks that nothing of the file's form is left in a model";
  let description = [{
    - (I1) Nothing of the file's form is left: no op and no type of the onnx
      dialect.
    - (I2) There is one function, of one block.
    - (I3) All its tensors have static shapes.
    - (I4) There are no kernels yet, and no ops of a step but train.read and
      train.write.
  }];
}

def VerifyTrain : VerifyPass<"train"> {
  let summary = "Checks that the steps of a training program are whole";
  let description = [{
    - (I1) No function is left, and there is a step; at most one for each kind.
    - (I2) nn.attention is spelled out where the runtime has no call for it.
    - (I3) A step that trains or evaluates reports one loss.
    - (I4) No optimizer updates a parameter twice in a step, and each update has
      the gradient that the norm before it has of the parameter; if the optimizer
      has a direction, `train.direction` has that gradient and stands before the
      update.
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
    - (I5) All of this holds of the iterations of loops, and what an iteration yields has
      memory of its own.
  }];
}

def VerifyPrecision : VerifyPass<"precision"> {
  let summary = "Checks that tensors have the types that were chosen";
  let description = [{
    - (I1) No choice is left to carry out.
    - (I2) State is in half precision only in copies of parameters, which have
      the shape of their parameter, and each copy that is read is renewed. Weights
      that no optimizer changes may be: frozen ones, and all where there is nothing
      but a forward.
    - (I3) No loss is reported in half precision.
  }];
}

def VerifySchedule : VerifyPass<"schedule"> {
  let summary = "Checks that no repeated work was merged away";
  let description = [{
    - (I1) A step has as many recomputations and reloads as its schedule says, and
      none if it has no schedule: none was merged with what it repeats.
    - (I2) An op reads each of them.
    - (I3) Each variable has an offset before the arena, at a multiple of the
      alignment, and no two overlap.
    - (I4) None of them reads a variable that an op before it has written: it
      would compute something else.

    This pass runs again after later passes.
  }];
}

def VerifyMemory : VerifyPass<"memory"> {
  let summary = "Checks that no two tensors meet in the arena";
  let description = [{
    - (I1) Each tensor has a place, at a multiple of the alignment.
    - (I2) No two tensors that live at the same time overlap
      (Planning/Arena/ArenaVerify).
    - (I3) Nothing reads what has been overwritten, also not the kernel that
      overwrites it, and kernels overwrite only what the step itself makes. In
      the iteration of a loop, they overwrite only what the iteration makes.
    - (I4) The arena is no larger than the schedule has promised.
  }];
}

def VerifyDevice : VerifyPass<"device"> {
  let summary = "Checks that a program stays within its memory";
  let description = [{
    - (I1) Nothing is left but the device dialect and the variables.
    - (I2) Each buffer lies, aligned, within its part of the allocation or of the
      host's memory, and overlaps no other that lives at the same time in the
      same step. What lies in the arena or on the host says in which calls of a
      step it lives. The variable that a buffer names has its type.
    - (I3) Each address is within a buffer and has the type of its elements, and
      what a copy reads and writes is within its buffers.
    - (I4) Each launch names a kernel and has the pointers of that kernel, by their
      number and their types. If two of them point into one buffer, both are only
      read, or the kernel knows that they are aliased.
    - (I5) A step waits only for transfers that it has begun.
  }];
}

#endif // GPUOPT_PIPELINES_PASSES_TD
