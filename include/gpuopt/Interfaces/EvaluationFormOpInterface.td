//===- EvaluationFormOpInterface.td - Ops that training changes *- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_EVALUATIONFORMOPINTERFACE_TD
#define GPUOPT_INTERFACES_EVALUATIONFORMOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def EvaluationFormOpInterface : OpInterface<"EvaluationFormOpInterface"> {
  let cppNamespace = "::gpuopt";
  let description = [{
    An op that computes something else when a model is evaluated than when it is
    trained: dropout does nothing, and normalisation takes running statistics.
    Ops without the interface are the same in both.
  }];
  let methods = [
    InterfaceMethod<[{
        Turns the op into what it is in evaluation, or replaces its results and
        erases it.
      }],
      "void", "becomeEvaluation">
  ];
}

#endif // GPUOPT_INTERFACES_EVALUATIONFORMOPINTERFACE_TD
