//===- DeviceKernelOps.td - Kernels and what they do -------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_DEVICE_IR_DEVICEKERNELOPS_TD
#define GPUOPT_DIALECT_DEVICE_IR_DEVICEKERNELOPS_TD

include "gpuopt/Dialect/Device/IR/DeviceOpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Device_KernelOp : Device_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "a kernel: what one block of threads does";
  let description = [{
    Block arguments are the kernel's parameters, named by `argumentNames`:
    pointers, then numbers, and last, for random numbers, the step's scalars.
    `threads` threads run the body once for each `device.block_index` in
    [0, blocks).

    Neighbouring threads form `groups` groups of equal size. The threads of each
    group walk a loop over lanes together, and what the loop combines is the
    result of that group; a loop over row groups deals its iterations out to the
    groups. With one group, which is the whole block, the result is the same for
    any number of threads.

    A multiprocessor shall have registers for `residentBlocks` blocks at once;
    0 leaves this to the compiler. Each pointer at one of the positions `aliased`
    may address the same elements as another pointer, and one of the two is
    written; no other two pointers share elements.

    Constraints:
    - (C1) one name per argument;
    - (C2) where there are several groups, each has 1, 2, 4, 8, 16 or 32 threads, and all together whole warps;
    - (C3) only pointers are aliased.

    ```mlir
    device.kernel @add blocks 8 threads 256 ["x", "y"] aliased [0, 1] { ... }
    device.kernel @sum blocks 24 threads 256 groups 16 resident 2 ["x", "y"] { ... }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$blocks, I64Attr:$threads,
                       DefaultValuedAttr<I64Attr, "1">:$groups, DefaultValuedAttr<I64Attr, "0">:$residentBlocks,
                       StrArrayAttr:$argumentNames, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$aliased,
                       DefaultValuedAttr<StrAttr, "\"\"">:$comment);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `blocks` $blocks `threads` $threads (`groups` $groups^)? (`resident` $residentBlocks^)? $argumentNames
    (`aliased` $aliased^)? attr-dict-with-keyword $body
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "int64_t":$blocks, "int64_t":$threads,
                                 "::mlir::ArrayAttr":$argumentNames, "::llvm::StringRef":$comment)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the number of threads of a group.
    int64_t getWidth() { return getThreads() / getGroups(); }
    /// Whether threads hold rows in their registers; their number and that of
    /// the elements of a row are then part of the text of the kernel.
    bool hasRowsInRegisters();
  }];
}

class Device_KernelBodyOp<string mnemonic, list<Trait> traits = []>
    : Device_Op<mnemonic, traits>;

def Device_BlockIndexOp : Device_KernelBodyOp<"block_index", [Pure]> {
  let summary = "index of this block of threads";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Device_DelinearizeOp : Device_KernelBodyOp<"delinearize", [Pure]> {
  let summary = "splits an index into digits, the last one fastest";
  let description = [{
    ```mlir
    %b, %t = device.delinearize %i by [4, 8] : index, index   // i = b * 8 + t
    ```

    Constraints:
    - (C1) one result per size;
    - (C2) sizes of at least 1.
  }];
  let arguments = (ins Index:$index, DenseI64ArrayAttr:$sizes);
  let results = (outs Variadic<Index>:$digits);
  let assemblyFormat = "$index `by` $sizes attr-dict `:` type($digits)";
  let hasVerifier = 1;
}

def Device_LoopOp : Device_KernelBodyOp<"loop", [SingleBlock]> {
  let summary = "a loop of a kernel, with values combined over its iterations";
  let description = [{
    The body runs for each index in [lower, upper). Its one argument is the
    index; its `device.yield` has one value per combiner, and the results are
    the combinations over all iterations. The order of combination is fixed by
    the runtime's primitives, not by the compiler.

    Over lanes, the results are uniform (combined over all lanes and the
    threads of the group); a sequential loop inside a loop over lanes combines
    lane by lane. A loop over row groups gives each iteration to one of the
    kernel's groups of threads. Inside a loop over lanes it combines lane by
    lane over all groups, and what follows in that loop is stored by the first
    group;
    outside, each group does all of its own iterations, and nothing is combined.

    `unroll` successive iterations load what they need before the first of them
    computes. The bounds of the loop are multiples of `multiple`.

    `sum_exp` adds up `exp(x - m)` over all values `x` that it gets, where `m` is
    what a `max` before it finds of the same values in the same loop.

    ```mlir
    %sum = device.loop lanes %lower to %upper [sum] -> (f32) {
    ^bb0(%i: index):
      %v = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
      device.yield %v : f32
    }
    ```

    Constraints:
    - (C1) a loop over row groups that combines values lies in a loop over lanes;
    - (C2) `unroll` and `multiple` are at least 1;
    - (C3) a `sum_exp` is in a loop over lanes, behind a `max` of the same floating-point values.
  }];
  let arguments = (ins Device_LoopKindAttr:$kind, Index:$lower, Index:$upper,
                       DefaultValuedAttr<I64Attr, "1">:$multiple, DefaultValuedAttr<I64Attr, "1">:$unroll,
                       TypedArrayAttrBase<Device_CombinerAttr, "combiners">:$combiners);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kind $lower `to` $upper (`multiple` $multiple^)? (`unroll` $unroll^)? $combiners
    (`->` `(` type($results)^ `)`)? $body attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How the loop combines value `number` of those that it yields.
    Combiner getCombiner(unsigned number);
    /// The `max` that the `sum_exp` at `number` refers to, or nothing.
    std::optional<unsigned> getMaximumOf(unsigned number);
    /// The `sum_exp` that refers to the `max` at `number`, or nothing.
    std::optional<unsigned> getSumExpOf(unsigned number);
  }];
}

def Device_YieldOp : Device_KernelBodyOp<"yield", [Terminator, HasParent<"LoopOp">]> {
  let summary = "what an iteration of a loop contributes";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Device_LoadOp : Device_KernelBodyOp<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads element `offset + sum(indices * strides)`";
  let description = [{
    `pattern` says how the lanes of the enclosing loop over lanes reach memory:
    `uniform` (no index varies by lane), `contiguous` (the loop's index with
    stride 1), `strided` (the loop's index with another stride) or `indirect`
    (an index that is itself loaded per lane). Without the index of the loop
    over lanes, the place is a multiple of `alignment` elements after an address
    that is aligned for any vector.

    Constraints:
    - (C1) one stride per index;
    - (C2) the result has the pointer's element type;
    - (C3) the alignment is at least 1.
  }];
  let arguments = (ins Device_Ptr:$pointer, Variadic<AnyTypeOf<[Index, I64]>>:$indices,
                       DenseI64ArrayAttr:$strides, I64Attr:$offset, Device_AccessPatternAttr:$pattern,
                       DefaultValuedAttr<I64Attr, "1">:$alignment);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $pointer `[` ($indices^ `:` type($indices))? `]` `strides` $strides `offset` $offset $pattern
    (`aligned` $alignment^)? attr-dict
    `:` type($pointer) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Device_StoreOp : Device_KernelBodyOp<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes element `offset + sum(indices * strides)`";
  let description = [{
    The attributes are those of device.load. A uniform store is done once for
    each block or, if groups of threads have rows of their own, for each row.
  }];
  let arguments = (ins AnyType:$value, Device_Ptr:$pointer, Variadic<AnyTypeOf<[Index, I64]>>:$indices,
                       DenseI64ArrayAttr:$strides, I64Attr:$offset, Device_AccessPatternAttr:$pattern,
                       DefaultValuedAttr<I64Attr, "1">:$alignment);
  let assemblyFormat = [{
    $value `,` $pointer `[` ($indices^ `:` type($indices))? `]` `strides` $strides `offset` $offset $pattern
    (`aligned` $alignment^)? attr-dict `:` type($value) `,` type($pointer)
  }];
  let hasVerifier = 1;
}

def Device_RowOp : Device_KernelBodyOp<"row"> {
  let summary = "memory of a block, or registers of its threads, for a row";
  let description = [{
    Holds what one walk over a row computes for later walks. A lane reads only
    elements that it has written itself: threads do not wait for each other.
    Half precision is kept in the type that it is computed in, so that a value
    that was kept has the bits of one that is computed anew.

    ```mlir
    %row = device.row 64 : !device.ptr<f32>
    %held = device.row 2048 registers : !device.ptr<f32>
    ```

    Constraints:
    - (C1) at least one element;
    - (C2) the row is in registers if the kernel has several groups.
  }];
  let arguments = (ins I64Attr:$size, UnitAttr:$inRegisters);
  let results = (outs Res<Device_Ptr, "", [MemAlloc]>:$result);
  let assemblyFormat = "$size (`registers` $inRegisters^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Device_CombineGroupsOp : Device_KernelBodyOp<"combine_groups", [SameOperandsAndResultType]> {
  let summary = "combines what all groups of a block have, lane by lane";
  let description = [{
    The first group gets what the groups have at the same place of their rows,
    combined in the order of the groups; what follows in the loop is stored by
    this group. All threads take part.

    ```mlir
    %total = device.combine_groups <sum> %own : f32
    ```

    Constraints:
    - (C1) it is in a loop over lanes that is in no loop over row groups, in a kernel with several groups.
  }];
  let arguments = (ins Device_CombinerAttr:$combiner, AnyFloat:$value);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$combiner $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Device_PositionOp : Device_KernelBodyOp<"position", [Pure]> {
  let summary = "the number `offset + sum(indices * strides)`";
  let description = [{
    `pattern` says how the number varies over the lanes of the enclosing loop,
    as for device.load: `uniform`, `contiguous` (by 1) or `strided`. Without the
    index of the loop over lanes, the number is a multiple of `alignment`.

    Constraints:
    - (C1) one stride per index;
    - (C2) the alignment is at least 1.
  }];
  let arguments = (ins Variadic<Index>:$indices, DenseI64ArrayAttr:$strides, I64Attr:$offset,
                       Device_AccessPatternAttr:$pattern, DefaultValuedAttr<I64Attr, "1">:$alignment);
  let results = (outs I64:$result);
  let assemblyFormat = [{
    `[` $indices `]` `strides` $strides `offset` $offset $pattern (`aligned` $alignment^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Device_InRangeOp : Device_KernelBodyOp<"in_range"> {
  let summary = "an index of a dimension, or 0: nn.in_range for one element";
  let description = [{
    An index outside of the dimension is noted in the step's state, with `name`
    and its `position` among the indices of that name; the first one that is
    noted stays.
  }];
  let arguments = (ins Arg<Device_StepStateType, "", [MemWrite]>:$state, I64:$index, I64:$position,
                       I64Attr:$size, StrAttr:$name);
  let results = (outs I64:$result);
  let assemblyFormat = "$name $index `at` $position `of` $size `in` $state attr-dict";
}

def Device_RandomOp : Device_KernelBodyOp<"random", [Pure]> {
  let summary = "a uniform number in [0, 1): nn.random_uniform for one element";
  let arguments = (ins Device_StepStateType:$state, I64:$element, I64Attr:$stream);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$state `,` $element `stream` $stream attr-dict `:` type($result)";
}

#endif // GPUOPT_DIALECT_DEVICE_IR_DEVICEKERNELOPS_TD
