//===- DeviceOps.td - Operations of the device dialect -----*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_DEVICE_IR_DEVICEOPS_TD
#define GPUOPT_DIALECT_DEVICE_IR_DEVICEOPS_TD

include "gpuopt/Dialect/Device/IR/DeviceInterfaces.td"
include "gpuopt/Dialect/Device/IR/DeviceKernelOps.td"
include "gpuopt/Dialect/Device/IR/DeviceOpBase.td"
include "gpuopt/Dialect/Train/IR/TrainEnums.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Device_MemoryOp : Device_Op<"memory"> {
  let summary = "sizes of the program's one allocation, in bytes";
  let description = [{
    The allocation is [step scalars and hyperparameters | state, inputs,
    outputs, constants | arena]; `persistentBytes` covers all before the arena.
    Tensors that are offloaded wait in a second allocation, of `hostBytes`, in
    pinned memory of the host.

    ```mlir
    device.memory persistent 8192 arena 65536
    device.memory persistent 8192 arena 65536 host 4096
    ```
  }];
  let arguments = (ins I64Attr:$persistentBytes, I64Attr:$arenaBytes, DefaultValuedAttr<I64Attr, "0">:$hostBytes);
  let assemblyFormat = "`persistent` $persistentBytes `arena` $arenaBytes (`host` $hostBytes^)? attr-dict";
}

def Device_BufferOp : Device_Op<"buffer", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a range of the allocation";
  let description = [{
    `offset` counts bytes from the start of the allocation. A buffer of the
    arena or on the host lives during [`liveFrom`, `liveTo`) of `step`, counted
    in the ops of that step; all others live for ever. `origin` says which tensor
    of the model it holds. A buffer of state names its `train.variable`. A buffer
    of kind input, labels or output has the `externalName` that users know it by
    and, if it picks rows or classes, the range of its `indices`. If the kernel
    that writes it has several results, `resultNumber` says which of them the
    buffer holds. `role` says what it holds of its origin where that is known to
    be a statistic ("mean", "rstd") or a part of a sum ("weight_parts"). An input
    that is `placedIn` an output is read nowhere but in the step of kind
    `place_inputs`, which copies it there: the output is the input and what
    follows it along one dimension.

    Constraints:
    - (C1) the type is a tensor of static shape, dense or with rows that begin
      further apart than they are long;
    - (C2) the offset and the end of the buffer are numbers of 63 bits;
    - (C3) `resultNumber` is not negative;
    - (C4) `placedIn` names an output of the input's element type, whose shape is
      larger in one dimension.

    ```mlir
    device.buffer @fc1_out arena at 4096 : tensor<64x512xf32> live 3 to 18 in @micro_step
        {origin = "/fc1/Gemm_output_0"}
    device.buffer @fc1_weight state at 256 : tensor<64x512xf32> {variable = @fc1.weight, origin = "fc1.weight"}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Train_BufferKindAttr:$kind, I64Attr:$offset,
                       TypeAttr:$type, OptionalAttr<I64Attr>:$liveFrom, OptionalAttr<I64Attr>:$liveTo,
                       OptionalAttr<FlatSymbolRefAttr>:$step, StrAttr:$origin,
                       OptionalAttr<FlatSymbolRefAttr>:$variable, OptionalAttr<StrAttr>:$externalName,
                       OptionalAttr<ElementsAttr>:$value, OptionalAttr<Train_IndexRangeAttr>:$indices,
                       OptionalAttr<I64Attr>:$resultNumber, OptionalAttr<StrAttr>:$role,
                       OptionalAttr<FlatSymbolRefAttr>:$placedIn);
  let assemblyFormat = [{
    $sym_name $kind `at` $offset `:` $type (`live` $liveFrom^ `to` $liveTo)? (`in` $step^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "BufferKind":$kind, "int64_t":$offset,
                                 "::mlir::Type":$type, "::llvm::StringRef":$origin), [{
    build($_builder, $_state, name, kind, offset, type, {}, {}, {}, origin, {}, {}, {}, {}, {}, {}, {});
  }]>];
  let extraClassDeclaration = [{
    int64_t getSizeInBytes();
    /// Bytes from the start of the allocation to an element.
    int64_t getOffsetOf(int64_t element);
    /// Elements from the beginning to the end, with what lies between rows.
    int64_t getElementsInMemory();
    /// Elements from one row to the next.
    int64_t getRowPitch();
  }];
  let hasVerifier = 1;
}

def Device_AddressOp : Device_Op<"address", [Pure]> {
  let summary = "where a buffer begins, plus elements";
  let description = [{
    ```mlir
    %0 = device.address @qkv + 384 : !device.ptr<f32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$buffer, DefaultValuedAttr<I64Attr, "0">:$elements);
  let results = (outs Device_Ptr:$result);
  let assemblyFormat = "$buffer (`+` $elements^)? attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

def Device_StepOp : Device_Op<"step", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "the launches and library calls of one step, in order";
  let arguments = (ins SymbolNameAttr:$sym_name, Train_StepKindAttr:$kind);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $kind attr-dict-with-keyword $body";
}

def Device_RepeatOp : Device_Op<"repeat", [HasParent<"StepOp">, SingleBlock, NoTerminator,
                                          DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls that are made for each row of a table of buffers";
  let description = [{
    The calls of the body are made once for each of `rows`, in their order. A
    row has one buffer for each of `columns`, or a slice of one; in the
    iteration of that row, `device.column` stands for where it begins. What is
    the same in all iterations comes from `device.address`. An attribute of a
    call that differs from iteration to iteration stands in its
    `device.iterations`: an array with a dictionary for each iteration, of
    `comment` and `device.cost_key`. A call that only some iterations make has
    in these dictionaries `makes`, the name of the condition, in the iterations
    that make it and `skips`, with the same name, in the others; what the row of
    such an iteration has for the columns of that call means nothing. `name` is the name of the table in the
    emitted source. Loops of a step that have the same calls may share the
    `function` that the emitted source has for them.

    Constraints:
    - (C1) two rows or more;
    - (C2) column names differ, and each row has one buffer or slice per column;
    - (C3) the body has calls, `device.address` and `device.column` alone, and
      no other loops;
    - (C4) `device.iterations` has one dictionary per row;
    - (C5) the buffers of a column exist on the device and have the element type of its uses;
    - (C6) nothing but these attributes differs from iteration to iteration;
    - (C7) a slice begins behind the first element of its buffer;
    - (C8) loops of a step that share a function have the same columns, calls
      and conditions, and no column moves on within one buffer;
    - (C9) each iteration of a call either makes or skips it by one name, or none
      has such a name.

    ```mlir
    device.repeat "forward_layers" ["x", "y"] [[@h_0_x, @h_0_y], [@h_1_x, @h_1_y]] {
      %0 = device.column "x" : !device.ptr<f32>
      %1 = device.column "y" + 128 : !device.ptr<f32>
      device.launch @relu(%0, %1) {device.iterations = [{comment = "h.0"}, {comment = "h.1"} ]}
          : !device.ptr<f32>, !device.ptr<f32>
    }
    device.repeat "forward_chunks" ["x"] [[@x], [#device.slice<@x + 128>], [#device.slice<@x + 256>]] {
      // ... iteration i begins at element 128 * i of @x
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, StrArrayAttr:$columns, ArrayAttr:$rows, OptionalAttr<StrAttr>:$function);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name $columns $rows (`function` $function^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumIterations() { return getRows().size(); }
    /// Where a column begins in an iteration: `elements` behind the beginning of
    /// `buffer`. The column exists.
    SliceAttr sliceOf(::llvm::StringRef column, unsigned iteration);
    /// The elements by which a column begins later than in the iteration before, if
    /// it is in one buffer in all iterations and moves on by as much in each; else
    /// nothing.
    std::optional<int64_t> strideOf(::llvm::StringRef column);
    /// Whether this loop and another one can share a function, because each
    /// makes the same calls on the buffers of its own table.
    bool canShareFunction(RepeatOp other);
  }];
}

def Device_ColumnOp : Device_Op<"column", [HasParent<"RepeatOp">, Pure]> {
  let summary = "where this iteration's buffer or slice of a column begins, plus elements";
  let description = [{
    The op is like device.address, but the buffer is that of the iteration's
    row.

    Constraints:
    - (C1) the enclosing `device.repeat` has the column.

    ```mlir
    %0 = device.column "qkv" + 384 : !device.ptr<f32>
    ```
  }];
  let arguments = (ins StrAttr:$name, DefaultValuedAttr<I64Attr, "0">:$elements);
  let results = (outs Device_Ptr:$result);
  let assemblyFormat = "$name (`+` $elements^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Device_MultiTensorOp : Device_Op<"multi_tensor", [HasParent<"StepOp">, SingleBlock, NoTerminator]> {
  let summary = "calls of one kind on many tensors, made as one call";
  let description = [{
    One call of the runtime does what the calls of the body do; it gets a table
    with a row for each of them. If its work is elementwise, that is one launch
    for all tensors; else it works on the rows in their order.

    Constraints:
    - (C1) the body has two calls or more and, besides them, only `device.address`;
    - (C2) the calls are `MultiTensorCall`s of one op, with equal keys;
    - (C3) the calls that have a half type have the same one.

    ```mlir
    device.multi_tensor {
      %0 = device.address @a_sum : !device.ptr<f32>
      %1 = device.address @d_a : !device.ptr<f32>
      device.accumulate %1 into %0 count 64 : !device.ptr<f32>, !device.ptr<f32>
      %2 = device.address @b_sum : !device.ptr<f32>
      %3 = device.address @d_b : !device.ptr<f16>
      device.accumulate %3 into %2 count 8 : !device.ptr<f16>, !device.ptr<f32>
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The calls of the body, in their order.
    ::llvm::SmallVector<MultiTensorCall> getCalls();
    /// The half type of the calls that have one; null where none has.
    ::mlir::Type getHalfType();
  }];
}

// An op of a step. `section` is the heading under which it is printed; `comment` says what it computes, with the names
// of the ONNX nodes that it comes from. An op is printed as the one call that getPrintedCall says, or says itself in
// getVariables which variables its calls take.
class Device_StepOpBase<string mnemonic, dag operands, list<Trait> traits = [], string says = "getPrintedCall">
    : Device_Op<mnemonic, !listconcat(traits, [DeclareOpInterfaceMethods<Device_StepCall, [says]>])> {
  let arguments = !con(operands, (ins OptionalAttr<Device_SectionAttr>:$section,
                                      DefaultValuedAttr<StrAttr, "\"\"">:$comment));
}

def Device_LaunchOp : Device_StepOpBase<"launch",
    (ins FlatSymbolRefAttr:$kernel, Variadic<Device_Ptr>:$operands, OptionalAttr<ArrayAttr>:$numbers,
         OptionalAttr<I64Attr>:$blocks, OptionalAttr<I64Attr>:$threads), [], "getVariables"> {
  let summary = "runs a kernel";
  let description = [{
    The operands are the kernel's pointers, and `numbers` are the arguments that
    follow them; the runtime passes a last parameter for the step's scalars.
    `blocks` and `threads` are the kernel's own if the launch has none.

    ```mlir
    device.launch @sum(%0, %1) numbers [3136 : index, 0.125 : f32] blocks 8 threads 32
        : !device.ptr<f32>, !device.ptr<f32>
    ```

    Constraints:
    - (C1) numbers are of type index or floating-point.
  }];
  let assemblyFormat = [{
    $kernel `(` $operands `)` (`numbers` $numbers^)? (`blocks` $blocks^)? (`threads` $threads^)? attr-dict
    (`:` type($operands)^)?
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$kernel, "::mlir::ValueRange":$operands), [{
    build($_builder, $_state, kernel, operands, {}, {}, {}, {});
  }]>];
  let hasVerifier = 1;
}

def Device_CallOp : Device_StepOpBase<"call",
    (ins StrAttr:$function, OptionalAttr<ArrayAttr>:$templateArguments, Variadic<Device_Ptr>:$operands,
         ArrayAttr:$arguments, OptionalAttr<StrAttr>:$header), [], "getVariables"> {
  let summary = "a call of a function of the runtime";
  let description = [{
    The call is printed as `function<templateArguments...>(ctx, arguments...)`.
    An argument of a template is the type of elements, a number, or the name of
    a constant of the runtime. Any other argument is an operand, an integer, a
    floating-point number, `null`, the `state` of the step, or a constant of a
    struct type; a name before it is printed as a comment. Arguments in braces
    are the fields of one more argument, which holds options. The program
    includes `header` if gpuopt/runtime.h does not.

    ```mlir
    device.call "gemm"(GemmShape kGemm4x8x4 {m = 4, n = 8, k = 4}, %a, %b, %c, {bias = %d})
        : !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>
    device.call "conv_backward_weights"<f32>(ConvShape kConv3x3 {kh = 3, kw = 3}, %x, %dy, %dw, beta = 0)
        : !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>
    device.call "attention"<64, "AttentionScores::Products">(AttentionShape kAttention8x8_64 {...}, %q, %k, %v, %y, %s)
        : !device.ptr<f16>, !device.ptr<f16>, !device.ptr<f16>, !device.ptr<f16>, !device.ptr<f32>
    ```

    In the attribute `arguments`, `unit` stands for the next operand.

    Constraints:
    - (C1) there are as many operands as arguments that stand for one;
    - (C2) each argument is of one of these kinds, and options have names;
    - (C3) each argument of a template is a type, an integer or a string.
  }];
  let assemblyFormat = [{
    $function (`<` custom<TemplateArguments>($templateArguments)^ `>`)? `` custom<CallArguments>($operands, $arguments) (`from` $header^)? attr-dict
    (`:` type($operands)^)?
  }];
  let hasVerifier = 1;
}

def Device_ReportLossOp : Device_StepOpBase<"report_loss",
    (ins Device_Ptr:$sum, Device_Ptr:$weight, OptionalAttr<I64Attr>:$part)> {
  let summary = "adds to the step's loss and weight, or to one of the losses that it is the sum of";
  let assemblyFormat = "$sum `,` $weight (`part` $part^)? attr-dict `:` type($sum) `,` type($weight)";
}

def Device_GradNormOp : Device_StepOpBase<"grad_norm",
    (ins Device_Ptr:$scratch, Optional<Device_Ptr>:$lossScale, Variadic<Device_Ptr>:$gradients,
         DenseI64ArrayAttr:$counts, StrArrayAttr:$parameters, I64Attr:$targets),
    [AttrSizedOperandSegments], "getVariables"> {
  let summary = "norm of all gradients, and from it the factor of the update";
  let description = [{
    `counts` are the numbers of elements of the gradients. For each gradient in
    iteration, the sums of squares of its spans of 8192 elements are written to
    `scratch` (f64). `parameters` are the names of the parameters that the
    gradients belong to. With a loss scale, gradients are too large by scale /
    `targets`.

    Constraints:
    - (C1) one count and one parameter per gradient.
  }];
  let assemblyFormat = [{
    $scratch (`scale` $lossScale^)? `over` $targets `,` $gradients `counts` $counts `of` $parameters attr-dict
    `:` type($scratch) (`scale` type($lossScale)^)? `,` type($gradients)
  }];
  let hasVerifier = 1;
}

def Device_DirectionOp : Device_StepOpBase<"direction",
    (ins StrAttr:$optimizer, Device_Ptr:$gradient, Device_Ptr:$direction, Variadic<Device_Ptr>:$states,
         OptionalAttr<StrArrayAttr>:$stateNames, I64Attr:$count)> {
  let summary = "a parameter's train.direction, of `count` elements";
  let description = [{
    `stateNames` are the names of the states, in the order of the operands.

    Constraints:
    - (C1) the optimizer is declared and has a direction, and each of the states
      is declared;
    - (C2) there is one name for each state.
  }];
  let assemblyFormat = [{
    $optimizer $gradient `to` $direction (`state` $stateNames^ `(` $states `)`)? `count` $count attr-dict
    `:` type($gradient) `,` type($direction) (`state` type($states)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the states that the optimizer declares, in their order; null for
    /// one that the parameter does not have.
    ::llvm::SmallVector<::mlir::Value> getDeclaredStates();
  }];
}

def Device_UpdateOp : Device_StepOpBase<"update",
    (ins StrAttr:$optimizer, Device_Ptr:$parameter, Device_Ptr:$gradient, Variadic<Device_Ptr>:$states,
         Optional<Device_Ptr>:$copy, Optional<Device_Ptr>:$scratch, OptionalAttr<StrArrayAttr>:$stateNames,
         DenseI64ArrayAttr:$shape, UnitAttr:$decay, OptionalAttr<I64Attr>:$group),
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<Device_MultiTensorCall, ["getHalfType", "getNumElements"]>]> {
  let summary = "train.update on a parameter of a shape";
  let description = [{
    `stateNames` are the names of the states, in the order of the operands.
    `scratch` is memory that only this op uses, for optimizers that need some.
    `group` is the number of the parameter group whose hyperparameters count.

    Constraints:
    - (C1) the optimizer is declared, and so is each of the states;
    - (C2) there is one name for each state;
    - (C3) there is scratch memory if and only if the optimizer needs some.
  }];
  let assemblyFormat = [{
    $optimizer $parameter `,` $gradient (`state` $stateNames^ `(` $states `)`)? (`copy` $copy^)? (`scratch` $scratch^)?
    `shape` $shape (`decay` $decay^)? (`group` $group^)? attr-dict
    `:` type($parameter) `,` type($gradient) (`state` type($states)^)? (`copy` type($copy)^)?
    (`scratch` type($scratch)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the runtime's update is told the parameter's shape rather than
    /// the number of its elements.
    bool takesWholeShape();
    /// Returns how the runtime is told how large the parameter is: the number of
    /// its elements, or its shape as Matrices, `{count, rows, columns}`.
    ::std::string getSizeText();
    /// Returns the initialiser of the runtime's UpdateGroup: `true`, or
    /// `{true, 2}` in parameter group 2.
    ::std::string getGroupText();
    /// Returns the states that the optimizer declares, in their order; null for
    /// one that the parameter does not have.
    ::llvm::SmallVector<::mlir::Value> getDeclaredStates();
  }];
}

def Device_CheckFiniteOp : Device_StepOpBase<"check_finite",
    (ins Device_Ptr:$value, I64Attr:$count, OptionalAttr<DenseI64ArrayAttr>:$rows, I64Attr:$index, StrAttr:$name)> {
  let summary = "notes `index` where one of `count` elements is the first of the step that is infinite or NaN";
  let description = [{
    `rows` are the elements of a row and those from one row to the next, where
    these differ: what lies between rows is not looked at.

    Constraints:
    - (C1) `rows` are two numbers, of which the second is larger, and `count` is
      a multiple of the first.

    ```mlir
    device.check_finite %0 count 100514 rows [50257, 50304] index 3 name "/head/MatMul" : !device.ptr<f16>
    ```
  }];
  let assemblyFormat = "$value `count` $count (`rows` $rows^)? `index` $index `name` $name attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Device_SumPartsOp : Device_StepOpBase<"sum_parts",
    (ins Device_Ptr:$parts, Device_Ptr:$sum, I64Attr:$count, I64Attr:$columns),
    [DeclareOpInterfaceMethods<Device_MultiTensorCall, ["getNumElements", "getNumSpans"]>]> {
  let summary = "sum[i] = the sum of parts[p, i] over `count` parts, for `columns` columns";
  let description = [{
    Constraints:
    - (C1) parts and sum are f32, and there is at least one part.

    ```mlir
    device.sum_parts %0 to %1 count 256 columns 768 : !device.ptr<f32>, !device.ptr<f32>
    ```
  }];
  let assemblyFormat = [{
    $parts `to` $sum `count` $count `columns` $columns attr-dict `:` type($parts) `,` type($sum)
  }];
  let hasVerifier = 1;
}

def Device_SnapshotOp : Device_StepOpBase<"snapshot",
    (ins Device_Ptr:$value, Device_Ptr:$snapshot, I64Attr:$count),
    [DeclareOpInterfaceMethods<Device_MultiTensorCall>]> {
  let summary = "snapshot = value, `count` elements, in the first micro-step of a step";
  let assemblyFormat = "$value `in` $snapshot `count` $count attr-dict `:` type($value) `,` type($snapshot)";
}

def Device_RestoreOp : Device_StepOpBase<"restore",
    (ins Device_Ptr:$value, Device_Ptr:$snapshot, I64Attr:$count),
    [DeclareOpInterfaceMethods<Device_MultiTensorCall>]> {
  let summary = "value = snapshot, `count` elements, where the step is skipped";
  let assemblyFormat = "$value `from` $snapshot `count` $count attr-dict `:` type($value) `,` type($snapshot)";
}

def Device_RefreshOp : Device_StepOpBase<"refresh",
    (ins Device_Ptr:$copy, Device_Ptr:$value, I64Attr:$count),
    [DeclareOpInterfaceMethods<Device_MultiTensorCall>]> {
  let summary = "copy = value in another precision or the same, `count` elements";
  let assemblyFormat = "$copy `from` $value `count` $count attr-dict `:` type($copy) `,` type($value)";
}

def Device_CopyOp : Device_StepOpBase<"copy", (ins Device_Ptr:$source, Device_Ptr:$target, I64Attr:$count)> {
  let summary = "target = source, `count` elements";
  let assemblyFormat = "$source `to` $target `count` $count attr-dict `:` type($source) `,` type($target)";
}

// A copy to or from a buffer of kind `host`, on a stream beside the step's.
class Device_TransferOp<string mnemonic> : Device_StepOpBase<mnemonic,
    (ins Device_Ptr:$source, Device_Ptr:$target, I64Attr:$count, I64Attr:$event)> {
  let assemblyFormat = [{
    $source `to` $target `count` $count `event` $event attr-dict `:` type($source) `,` type($target)
  }];
}

def Device_OffloadOp : Device_TransferOp<"offload"> {
  let summary = "begins to copy `count` elements to the host";
  let description = [{
    The copy begins when all work that the step has begun before is done. When
    the copy is done, `event` lets the `device.await` of the same number go on.

    ```mlir
    device.offload %0 to %1 count 32 event 0 : !device.ptr<f32>, !device.ptr<f32>
    device.await 0
    ```
  }];
}

def Device_ReloadOp : Device_TransferOp<"reload"> {
  let summary = "begins to copy `count` elements back from the host";
  let description = [{
    The copy begins as that of device.offload does, and after all transfers that
    have begun before.
  }];
}

def Device_AwaitOp : Device_StepOpBase<"await", (ins I64Attr:$event)> {
  let summary = "lets the step's work go on when a transfer is done";
  let assemblyFormat = "$event attr-dict";
}

def Device_AccumulateOp : Device_StepOpBase<"accumulate",
    (ins Device_Ptr:$value, Device_Ptr:$target, I64Attr:$count),
    [DeclareOpInterfaceMethods<Device_MultiTensorCall, ["getHalfType"]>]> {
  let summary = "target += value, `count` elements; target = value in the first micro-step of a step";
  let assemblyFormat = "$value `into` $target `count` $count attr-dict `:` type($value) `,` type($target)";
}

#endif // GPUOPT_DIALECT_DEVICE_IR_DEVICEOPS_TD
