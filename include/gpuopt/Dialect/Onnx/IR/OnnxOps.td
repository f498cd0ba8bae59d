//===- OnnxOps.td - Operations of the onnx dialect ---------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_ONNX_IR_ONNXOPS_TD
#define GPUOPT_DIALECT_ONNX_IR_ONNXOPS_TD

include "gpuopt/Dialect/Onnx/IR/OnnxDialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Onnx_Op<string mnemonic, list<Trait> traits = []>
    : Op<Onnx_Dialect, mnemonic, traits>;

def Onnx_GraphOp : Onnx_Op<"graph", [FunctionOpInterface, IsolatedFromAbove,
    OpAsmOpInterface, SingleBlock]> {
  let summary = "the graph of an ONNX model";
  let description = [{
    The graph is a function from the model's inputs to its outputs. Its one block
    defines every value before its use, whatever the order in the file was.
    `inputNames` and `outputNames` are the names in the file, in the order of the
    arguments and of the operands of `onnx.return`. `opsets` maps each operator
    domain that the model imports to its version; the default domain is spelled
    `ai.onnx`.

    ```mlir
    onnx.graph @net(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>)
        attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
      %y = onnx.node "Relu"(%x) as ["y"] : (tensor<4x8xf32>) -> tensor<4x8xf32>
      onnx.return %y : tensor<4x8xf32>
    }
    ```

    Constraints:
    - (C1) `inputNames` names every argument.
    - (C2) `outputNames` names every result.
    - (C3) the arguments are ranked tensors of static shape.
    - (C4) `opsets` maps domains to `i64` versions of at least 1.
    - (C5) the domain of every `onnx.node` in the graph is in `opsets`.
    - (C6) the block ends in an `onnx.return` of the result types.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
      TypeAttrOf<FunctionType>:$function_type,
      StrArrayAttr:$inputNames,
      StrArrayAttr:$outputNames,
      DictionaryAttr:$opsets,
      OptionalAttr<DictArrayAttr>:$arg_attrs,
      OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    // Creates the entry block with one argument per input; the caller appends
    // the nodes and the onnx.return.
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
      "::llvm::ArrayRef<::llvm::StringRef>":$inputNames,
      "::llvm::ArrayRef<::llvm::StringRef>":$outputNames,
      "::mlir::DictionaryAttr":$opsets)>
  ];
  let extraClassDeclaration = [{
    /// The name under which `opsets` lists the default domain, which nodes
    /// spell as the empty string.
    static constexpr ::llvm::StringLiteral kDefaultDomain = "ai.onnx";

    /// Returns the version of a domain ("" or "ai.onnx" for the default one)
    /// that the model imports; nothing if it does not import the domain.
    ::std::optional<int64_t> getOpset(::llvm::StringRef domain);

    /// FunctionOpInterface.
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }

    /// OpAsmOpInterface: arguments print under the names of the inputs.
    void getAsmBlockArgumentNames(::mlir::Region &region, ::mlir::OpAsmSetValueNameFn setName);
  }];
}

def Onnx_ReturnOp : Onnx_Op<"return", [Pure, Terminator, ReturnLike,
    ParentOneOf<["GraphOp", "NodeOp"]>]> {
  let summary = "the outputs of a graph";
  let description = [{
    The op ends an `onnx.graph`, or a graph inside of an `onnx.node`; its operands
    are the outputs.

    ```mlir
    onnx.return %y : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$outputs);
  let assemblyFormat = "($outputs^ `:` type($outputs))? attr-dict";
}

def Onnx_NodeOp : Onnx_Op<"node", [OpAsmOpInterface]> {
  let summary = "one node of an ONNX graph";
  let description = [{
    Applies the operator `opType` of `domain` to `inputs`. Its meaning is that
    of the ONNX specification at the version of the domain that the enclosing
    `onnx.graph` imports. An omitted optional input is an `onnx.none`; an
    omitted output in the middle has type `none` and the name `""`; trailing
    omitted ones do not appear. `onnxAttributes` holds the attributes of the
    node under their names: `i64`, `f32`, string, `array<i64>`, `array<f32>`,
    array of strings, tensor, array of tensors. An attribute that is a graph is a
    `unit`, and the graphs are the regions of the op, in the order of their
    attributes' names. Their nodes may read values of the graphs around them. The
    names of the outputs follow `as`.

    ```mlir
    %y = onnx.node "Conv"(%x, %w, %none) {group = 1 : i64, pads = array<i64: 1, 1, 1, 1>} as ["conv1_out"]
      : (tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32>, none) -> tensor<4x16x8x8xf32>
    %z = onnx.node "If"(%condition) {else_branch, then_branch} as ["z"] : (tensor<i1>) -> tensor<4x8xf32> {
      onnx.return %y : tensor<4x8xf32>
    }, {
      %e = onnx.node "Exp"(%y) as ["e"] : (tensor<4x8xf32>) -> tensor<4x8xf32>
      onnx.return %e : tensor<4x8xf32>
    }
    %g = onnx.node "BiasGelu" in "com.microsoft" (%y, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> !onnx.unknown
    ```

    Constraints:
    - (C1) `opType` is not empty.
    - (C2) `resultNames`, if present, has one name per result.
    - (C3) each attribute is of one of the kinds above.
    - (C4) `domain` is not `ai.onnx`: the default domain is the empty string.
    - (C5) each attribute that is a graph has a region, which ends in an
      `onnx.return`.
  }];
  let arguments = (ins StrAttr:$opType,
      DefaultValuedStrAttr<StrAttr, "">:$domain,
      Variadic<AnyType>:$inputs,
      DefaultValuedAttr<DictionaryAttr, "{}">:$onnxAttributes,
      OptionalAttr<StrArrayAttr>:$resultNames);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region VariadicRegion<SizedRegion<1>>:$graphs);
  let assemblyFormat = [{
    $opType (`in` $domain^)? `(` $inputs `)` ($onnxAttributes^)?
    (`as` $resultNames^)? attr-dict-with-keyword
    `:` functional-type($inputs, $outputs) ($graphs^)?
  }];
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$resultTypes, "::llvm::StringRef":$opType,
      "::mlir::ValueRange":$inputs,
      CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$attributes,
      CArg<"::llvm::ArrayRef<::llvm::StringRef>", "{}">:$resultNames,
      CArg<"::llvm::StringRef", "{}">:$domain, CArg<"unsigned", "0">:$graphs)>
  ];
  let extraClassDeclaration = [{
    /// Returns the graph that is the attribute of that name; null if there is
    /// none.
    ::mlir::Region *getSubgraph(::llvm::StringRef name);

    /// Returns whether the node is of this type of the default domain.
    bool is(::llvm::StringRef opType) { return getDomain().empty() && getOpType() == opType; }

    /// Returns the version of this node's domain that the enclosing graph
    /// imports; 0 outside of a graph.
    int64_t getOpset();

    /// Returns the name of the node's location, or else the node's type.
    ::llvm::StringRef getNodeName();

    /// Returns input `index`; null if it is omitted (an `onnx.none` or past the
    /// end).
    ::mlir::Value getInput(unsigned index);
    /// Returns output `index`; null if it is omitted.
    ::mlir::Value getOutput(unsigned index);

    /// Returns the attribute of that name; null if the node has none.
    ::mlir::Attribute getOnnxAttribute(::llvm::StringRef name) { return getOnnxAttributes().get(name); }
    bool hasOnnxAttribute(::llvm::StringRef name) { return static_cast<bool>(getOnnxAttribute(name)); }

    /// Each of these returns the attribute of a name if it is of one kind. An
    /// attribute of another kind counts as absent; getOnnxAttribute returns it.
    ::std::optional<int64_t> getInt(::llvm::StringRef name);
    int64_t getInt(::llvm::StringRef name, int64_t otherwise) { return getInt(name).value_or(otherwise); }
    ::std::optional<double> getFloat(::llvm::StringRef name);
    double getFloat(::llvm::StringRef name, double otherwise) { return getFloat(name).value_or(otherwise); }
    ::std::optional<::llvm::StringRef> getString(::llvm::StringRef name);
    ::llvm::StringRef getString(::llvm::StringRef name, ::llvm::StringRef otherwise) {
      return getString(name).value_or(otherwise);
    }
    ::std::optional<::llvm::SmallVector<int64_t>> getInts(::llvm::StringRef name);
    ::llvm::SmallVector<int64_t> getInts(::llvm::StringRef name, ::llvm::ArrayRef<int64_t> otherwise);
    ::std::optional<::llvm::SmallVector<double>> getFloats(::llvm::StringRef name);
    ::std::optional<::llvm::SmallVector<::llvm::StringRef>> getStrings(::llvm::StringRef name);
    ::mlir::ElementsAttr getTensor(::llvm::StringRef name);

    /// OpAsmOpInterface: results print under the names of the outputs.
    void getAsmResultNames(::mlir::OpAsmSetValueNameFn setName);
  }];
}

def Onnx_NoneOp : Onnx_Op<"none", [Pure, OpAsmOpInterface]> {
  let summary = "an omitted optional input";
  let description = [{
    The op is an operand of an `onnx.node` where the file has an empty name.

    ```mlir
    %none = onnx.none : none
    ```
  }];
  let results = (outs NoneType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, $_builder.getNoneType()); }]>];
  let extraClassDeclaration = [{
    /// OpAsmOpInterface.
    void getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) { setName(getResult(), "none"); }
  }];
}

def Onnx_InitializerOp : Onnx_Op<"initializer", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a tensor that is stored in the model's file or beside it";
  let description = [{
    This is the initializer `name` of the graph. If it is small, or if the file
    does not hold it as plain bytes, `value` has its elements. Otherwise, as for
    most of a model's bytes, `source` says where the elements are, and whoever
    needs them reads them. If the file says whether the initializer is a
    parameter, `trained` repeats that, and `tied` has the other names under which
    the exported module knows it. If the file says whether the initializer is a
    constant of the program, which files of weights do not have, `constant`
    repeats that; otherwise its elements and its uses tell.

    ```mlir
    %t = onnx.initializer "table" trained false = dense<[1.0, 2.0]> : tensor<2xf32>
    %w = onnx.initializer "fc.weight" at <"mlp.onnx", offset = 96, size = 1024> : tensor<128x2xf32>
    %b = onnx.initializer "fc.bias" = dense<0.0> : tensor<2xf32>
    %e = onnx.initializer "head.weight" trained true tied ["embedding.weight"] = dense<1.0> : tensor<4x2xf32>
    %f = onnx.initializer "rotary.inv_freq" constant true trained false = dense<[1.0, 0.01]> : tensor<2xf32>
    %s = onnx.initializer "rotary.scale" constant false trained false = dense<2.0> : tensor<f32>
    ```

    Constraints:
    - (C1) exactly one of `value` and `source` is present.
    - (C2) `value` has the type of the result.
    - (C3) `source` is as long as the elements of the result, each rounded up to bytes.
    - (C4) a constant has a `value`, and is not trained.
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<ElementsAttr>:$value,
      OptionalAttr<Onnx_FileAttr>:$source, OptionalAttr<BoolAttr>:$trained,
      OptionalAttr<StrArrayAttr>:$tied, OptionalAttr<BoolAttr>:$isConstant);
  let results = (outs StaticShapeTensorOf<[AnyInteger, AnyFloat, AnyComplex]>:$result);
  let assemblyFormat = [{
    $name (`constant` $isConstant^)? (`trained` $trained^)? (`tied` $tied^)?
    custom<InitializerElements>($value, $source, type($result)) attr-dict
  }];
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::ElementsAttr":$value), [{
      build($_builder, $_state, value.getType(), name, value, FileAttr(), ::mlir::BoolAttr(), ::mlir::ArrayAttr(), ::mlir::BoolAttr());
    }]>,
    OpBuilder<(ins "::llvm::StringRef":$name, "FileAttr":$source, "::mlir::RankedTensorType":$type), [{
      build($_builder, $_state, type, name, ::mlir::ElementsAttr(), source, ::mlir::BoolAttr(), ::mlir::ArrayAttr(), ::mlir::BoolAttr());
    }]>
  ];
  let extraClassDeclaration = [{
    /// Returns the bytes that a tensor of this type takes in a file.
    static int64_t getSizeInBytes(::mlir::RankedTensorType type);
  }];
}

#endif // GPUOPT_DIALECT_ONNX_IR_ONNXOPS_TD
