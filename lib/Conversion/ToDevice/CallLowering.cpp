//===- CallLowering.cpp - Calls of the runtime on addresses ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallLowering.h"

using namespace mlir;
using namespace gpuopt;

namespace {

/// Turns arguments into attributes, and notes the operands that they stand for.
class ArgumentBuilder {
public:
  ArgumentBuilder(OpBuilder &builder,
                  llvm::function_ref<Value(Value)> addressOf)
      : builder(builder), addressOf(addressOf) {}

  ArrayAttr build(const RuntimeCall &call) {
    SmallVector<Attribute> arguments = attributesOf(call.arguments);
    if (!call.options.empty())
      arguments.push_back(builder.getArrayAttr(attributesOf(call.options)));
    return builder.getArrayAttr(arguments);
  }

  SmallVector<Value> operands;

private:
  SmallVector<Attribute> attributesOf(ArrayRef<CallArgument> arguments) {
    return llvm::map_to_vector(
        arguments, [&](const CallArgument &argument) -> Attribute {
          Attribute value =
              std::visit([&](const auto &value) { return attributeOf(value); },
                         argument.value);
          if (argument.name.empty())
            return value;
          return device::NamedArgumentAttr::get(
              builder.getContext(), builder.getStringAttr(argument.name),
              value);
        });
  }

  Attribute attributeOf(Value tensor) {
    operands.push_back(addressOf(tensor));
    return builder.getUnitAttr();
  }
  Attribute attributeOf(int64_t number) {
    return builder.getI64IntegerAttr(number);
  }
  Attribute attributeOf(double number) {
    return builder.getF64FloatAttr(number);
  }
  Attribute attributeOf(NullPointer) { return word(device::Word::Null); }
  Attribute attributeOf(StepStatePointer) { return word(device::Word::State); }
  Attribute word(device::Word word) {
    return device::WordAttr::get(builder.getContext(), word);
  }
  Attribute attributeOf(const StructConstant &constant) {
    SmallVector<NamedAttribute> fields;
    for (const StructConstant::Field &field : constant.fields) {
      Attribute value = builder.getDenseI64ArrayAttr(field.values);
      if (field.values.size() == 1)
        value = builder.getI64IntegerAttr(field.values.front());
      fields.emplace_back(builder.getStringAttr(field.name), value);
    }
    return device::StructAttr::get(builder.getContext(), constant.type,
                                   constant.name, fields);
  }

  OpBuilder &builder;
  llvm::function_ref<Value(Value)> addressOf;
};

} // namespace

/// Returns null where there are none.
static ArrayAttr templateArgumentsOf(OpBuilder &builder,
                                     const RuntimeCall &call) {
  struct Visitor {
    OpBuilder &builder;
    Attribute operator()(Type element) { return TypeAttr::get(element); }
    Attribute operator()(int64_t number) {
      return builder.getI64IntegerAttr(number);
    }
    Attribute operator()(const std::string &constant) {
      return builder.getStringAttr(constant);
    }
  };
  if (call.templateArguments.empty())
    return nullptr;
  return builder.getArrayAttr(
      llvm::map_to_vector(call.templateArguments, [&](const auto &argument) {
        return std::visit(Visitor{builder}, argument);
      }));
}

device::CallOp gpuopt::buildCall(ImplicitLocOpBuilder &builder,
                                 const RuntimeCall &call,
                                 llvm::function_ref<Value(Value)> addressOf) {
  ArgumentBuilder arguments(builder, addressOf);
  ArrayAttr passed = arguments.build(call);
  StringAttr header =
      call.header.empty() ? StringAttr() : builder.getStringAttr(call.header);
  return builder.create<device::CallOp>(
      builder.getStringAttr(call.function), templateArgumentsOf(builder, call),
      arguments.operands, passed, header, device::SectionAttr());
}
