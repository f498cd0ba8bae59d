//===- NNOpBase.td - What ops of the nn dialect share ------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_NNOPBASE_TD
#define GPUOPT_DIALECT_NN_IR_NNOPBASE_TD

include "gpuopt/Dialect/NN/IR/NNDialect.td"
include "gpuopt/Interfaces/CostOpInterface.td"
include "gpuopt/Interfaces/DifferentiableOpInterface.td"
include "gpuopt/Interfaces/EvaluationFormOpInterface.td"
include "gpuopt/Interfaces/RuntimeCallOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar NN_Tensor = StaticShapeTensorOf<[AnyFloat, AnySignlessInteger]>;
defvar NN_FloatTensor = StaticShapeTensorOf<[AnyFloat]>;
defvar NN_IndexTensor = StaticShapeTensorOf<[I64]>;

class NN_Op<string mnemonic, list<Trait> traits = []>
    : Op<NN_Dialect, mnemonic, !listconcat([Pure], traits)>;

// An op whose result types follow from its operands and attributes.
class NN_InferredOp<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat([InferTypeOpAdaptor], traits)>;

defvar Differentiable = DeclareOpInterfaceMethods<DifferentiableOpInterface>;
defvar Costly = DeclareOpInterfaceMethods<CostOpInterface>;
// A call whose operands and results are dense and share one precision.
defvar RuntimeCall = DeclareOpInterfaceMethods<RuntimeCallOpInterface>;
// A product of a library: it has factors and takes workspace.
defvar ProductCall = DeclareOpInterfaceMethods<RuntimeCallOpInterface, ["getFactors", "getWorkspaceInBytes"]>;
defvar MatrixUnits = DeclareOpInterfaceMethods<CostOpInterface, ["usesMatrixUnits"]>;
// The same where lanes have more to do than the operations say.
defvar MatrixUnitsWithWarpWork = DeclareOpInterfaceMethods<CostOpInterface, ["usesMatrixUnits", "addWarpWork"]>;
defvar EvaluationForm = DeclareOpInterfaceMethods<EvaluationFormOpInterface>;
// An op whose result can be a view of its operand's memory.
def View : NativeOpTrait<"ViewTrait"> {
  let cppNamespace = "::gpuopt";
}

#endif // GPUOPT_DIALECT_NN_IR_NNOPBASE_TD
