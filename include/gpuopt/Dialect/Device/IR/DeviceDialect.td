//===- DeviceDialect.td - The device dialect ---------------*- tablegen -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_DEVICE_IR_DEVICEDIALECT_TD
#define GPUOPT_DIALECT_DEVICE_IR_DEVICEDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Device_Dialect : Dialect {
  let name = "device";
  let cppNamespace = "::gpuopt::device";
  let summary = "the program after all decisions";
  let description = [{
    Names, offsets, grids and order are decided; what is left is to print it.
    A module holds one `device.memory`, `device.kernel`s, `device.step`s, and a
    `device.buffer` for every range of memory that a tensor takes.

    Kernel bodies are scalar `arith` and `math` ops, one element each, within
    `device.loop`s. A loop over *lanes* runs its body for several neighbouring
    elements at once, on all threads of a block or of a group of them; a value
    computed inside it from its index varies by lane, and everything else is
    uniform. This maps to the types of the runtime's lanes.h.
  }];
  let dependentDialects = ["::gpuopt::train::TrainDialect"];
  let discardableAttrs = (ins
    // On a module, the number of elements that a thread of a GPU works on at
    // once, unless it is 4. With 8, a thread moves 16 bytes of half precision at
    // a time.
    "::mlir::IntegerAttr":$lanes,
    // On an op of a step, the CostKey of the op: its origin and its work.
    "::mlir::ArrayAttr":$cost_key,
    // On a call in a device.repeat, for each iteration a dictionary of the attributes
    // that differ from iteration to iteration.
    "::mlir::ArrayAttr":$iterations,
    // On a call of a step that computes something again, which the plan did not save.
    "::mlir::UnitAttr":$recomputed);
  let hasOperationAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Device_Type<string name, string typeMnemonic> : TypeDef<Device_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Device_PtrType : Device_Type<"Ptr", "ptr"> {
  let summary = "address of elements in device memory";
  let description = [{
    Booleans (i1) take one byte each.
  }];
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$element), [{
    return $_get(element.getContext(), element);
  }]>];
}

def Device_StepStateType : Device_Type<"StepState", "step_state"> {
  let summary = "address of the step's scalars: step counter, seed, loss, ...";
}

def Device_Section : I32EnumAttr<"Section", "the heading under which a call is printed", [
    I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"Backward", 1, "backward">,
    I32EnumAttrCase<"Optimizer", 2, "optimizer">]> {
  let cppNamespace = "::gpuopt::device";
  let genSpecializedAttr = 0;
}
def Device_SectionAttr : EnumAttr<Device_Dialect, Device_Section, "section"> {
  let assemblyFormat = "`<` $value `>`";
}

def Device_LoopKind : I32EnumAttr<"LoopKind", "how a loop runs", [
    I32EnumAttrCase<"Lanes", 0, "lanes">, I32EnumAttrCase<"Sequential", 1, "sequential">,
    I32EnumAttrCase<"RowGroups", 2, "row_groups">]> {
  let cppNamespace = "::gpuopt::device";
  let genSpecializedAttr = 0;
}
def Device_LoopKindAttr : EnumAttr<Device_Dialect, Device_LoopKind, "loop_kind">;

def Device_Combiner : I32EnumAttr<"Combiner", "how a loop combines values", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Prod", 3, "prod">,
    I32EnumAttrCase<"SumExp", 4, "sum_exp">]> {
  let cppNamespace = "::gpuopt::device";
  let genSpecializedAttr = 0;
}
def Device_CombinerAttr : EnumAttr<Device_Dialect, Device_Combiner, "combiner"> {
  let assemblyFormat = "`<` $value `>`";
}

def Device_AccessPattern : I32EnumAttr<"AccessPattern", "how the lanes of a loop reach memory", [
    I32EnumAttrCase<"Uniform", 0, "uniform">, I32EnumAttrCase<"Contiguous", 1, "contiguous">,
    I32EnumAttrCase<"Strided", 2, "strided">, I32EnumAttrCase<"Indirect", 3, "indirect">]> {
  let cppNamespace = "::gpuopt::device";
  let genSpecializedAttr = 0;
}
def Device_AccessPatternAttr : EnumAttr<Device_Dialect, Device_AccessPattern, "access_pattern">;

//===----------------------------------------------------------------------===//
// What calls pass
//===----------------------------------------------------------------------===//

def Device_Word : I32EnumAttr<"Word", "an argument that has a name of its own", [
    I32EnumAttrCase<"Null", 0, "null">, I32EnumAttrCase<"State", 1, "state">]> {
  let cppNamespace = "::gpuopt::device";
  let genSpecializedAttr = 0;
}
def Device_WordAttr : EnumAttr<Device_Dialect, Device_Word, "word"> {
  let assemblyFormat = "`<` $value `>`";
}

class Device_Attr<string name, string attrMnemonic> : AttrDef<Device_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Device_NamedArgumentAttr : Device_Attr<"NamedArgument", "named"> {
  let summary = "an argument, and what its parameter is called";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::Attribute":$value);
  let assemblyFormat = "`<` $name `,` $value `>`";
}

def Device_StructAttr : Device_Attr<"Struct", "struct"> {
  let summary = "a constant whose type is a struct of the runtime";
  let description = [{
    `name` is the name of the constant in the program unless something else has
    that name. A field is an integer or an array of integers; a field that is
    left out has the struct's default.

    ```mlir
    #device.struct<PoolShape kPool2x2 {kh = 2, kw = 2, stride = [2, 2]}>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$structType, StringRefParameter<>:$name,
                        ArrayRefParameter<"::mlir::NamedAttribute">:$fields);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// What tables have
//===----------------------------------------------------------------------===//

def Device_SliceAttr : Device_Attr<"Slice", "slice"> {
  let summary = "a buffer from one of its elements on";
  let description = [{
    A cell of a `device.repeat` whose iterations work on different parts of a
    buffer.

    ```mlir
    #device.slice<@logits + 384>
    ```
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$buffer, "int64_t":$elements);
  let assemblyFormat = "`<` $buffer `+` $elements `>`";
}

#endif // GPUOPT_DIALECT_DEVICE_IR_DEVICEDIALECT_TD
