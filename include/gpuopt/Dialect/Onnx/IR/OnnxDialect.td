//===- OnnxDialect.td - The onnx dialect ------------------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_ONNX_IR_ONNXDIALECT_TD
#define GPUOPT_DIALECT_ONNX_IR_ONNXDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Onnx_Dialect : Dialect {
  let name = "onnx";
  let summary = "an ONNX model, exactly as the file says";
  let description = [{
    This is the form in which a model enters gpuopt: one `onnx.node` per node of
    the file, with the node's type, domain, attributes, inputs and outputs, but
    without what they mean. Parsing and meaning are apart: the importer knows
    protobuf and nothing of convolutions; the conversion to `nn` knows
    convolutions and nothing of protobuf, so its tests are text.

    - Every location is a `NameLoc` with the name of the ONNX node.
    - Weights stay in their files; `onnx.initializer` says where they lie.
    - A module holds one `onnx.graph`, whose inputs have static shapes. The
      types of other values are what the file claims, with `?` for a dimension
      that it does not give, and `!onnx.unknown` if it says nothing at all.
    - Unsigned integers of the file are `ui8`, `ui16`, ...; signed ones and
      booleans are signless (`i64`, `i1`).

    ```mlir
    onnx.graph @mlp(%x: tensor<4x8xf32>) -> (tensor<4x2xf32>)
        attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
      %w = onnx.initializer "fc.weight" at <"mlp.onnx", offset = 96, size = 1024> : tensor<128x2xf32>
      %b = onnx.initializer "fc.bias" = dense<0.0> : tensor<2xf32>
      %y = onnx.node "Gemm"(%x, %w, %b) {transB = 1 : i64} as ["y"]
        : (tensor<4x8xf32>, tensor<128x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
      onnx.return %y : tensor<4x2xf32>
    }
    ```
  }];
  let cppNamespace = "::gpuopt::onnx";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

def Onnx_UnknownType : TypeDef<Onnx_Dialect, "Unknown"> {
  let mnemonic = "unknown";
  let summary = "the type of a value for which the file gives no type";
  let description = [{
    The file need not state the type of an intermediate value, and has kinds
    of value (sequences, optionals) that are no tensors. The conversion to `nn`
    infers what they are.
  }];
}

def Onnx_FileAttr : AttrDef<Onnx_Dialect, "File"> {
  let mnemonic = "file";
  let summary = "a range of bytes in a file";
  let description = [{
    The range holds the elements of a tensor, little-endian, dense and in
    row-major order, with one byte for each boolean. `file` is a path that can be
    opened from the compiler's working directory.

    ```mlir
    #onnx.file<"models/gpt2.onnx", offset = 4096, size = 154389504>
    ```
  }];
  let parameters = (ins StringRefParameter<"path of the file">:$file,
      "int64_t":$offset, "int64_t":$sizeInBytes);
  let assemblyFormat = [{
    `<` $file `,` `offset` `=` $offset `,` `size` `=` $sizeInBytes `>`
  }];
  let genVerifyDecl = 1;
}

#endif // GPUOPT_DIALECT_ONNX_IR_ONNXDIALECT_TD
