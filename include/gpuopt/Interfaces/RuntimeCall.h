//===- RuntimeCall.h - A call of the runtime, as it is emitted --*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The call that an op becomes: a function of the runtime and its arguments. The
// conversion to the device dialect replaces tensors by addresses, and
// `device.call` holds the rest.
//
//   RuntimeCall call("scatter_add_rows");
//   call.pass(getIndices());
//   call.passInteger(count);
//   ...
//   call.passInteger(0, "beta");   // scatter_add_rows(ctx, m[kIds], 8, ...,
//                                  //                  /*beta=*/0);
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_RUNTIMECALL_H
#define GPUOPT_INTERFACES_RUNTIMECALL_H

#include "gpuopt/Interfaces/StridedView.h"
#include "mlir/IR/Types.h"
#include <string>
#include <variant>
#include <vector>

namespace gpuopt {

/// A constant of the emitted program whose type is a struct of the runtime:
/// `constexpr PoolShape kPool2x2 = {.kh = 2, .kw = 2, .stride = {2, 2}}`. Calls
/// that pass equal constants share one.
struct StructConstant {
  struct Field {
    std::string name;
    llvm::SmallVector<int64_t, 2> values; ///< A number or an array.
  };

  StructConstant(llvm::StringRef type, llvm::StringRef name)
      : type(type), name(name) {}

  /// Fields are given in the order of their declaration; those that have the
  /// struct's default value, `standard`, are left out.
  void field(llvm::StringRef name, int64_t value);
  void field(llvm::StringRef name, int64_t value, int64_t standard);
  void pair(llvm::StringRef name, int64_t first, int64_t second,
            int64_t standard);

  std::string type;
  std::string name; ///< Gets a number if it is taken.
  std::vector<Field> fields;
};

struct NullPointer {};
/// Stands for the step's scalars: its counter, the seed of random numbers, the
/// loss scale.
struct StepStatePointer {};

struct CallArgument {
  /// The argument. A tensor is an operand or a result of the op, and passed as
  /// its address.
  std::variant<mlir::Value, int64_t, double, NullPointer, StepStatePointer,
               StructConstant>
      value;
  /// The name of the parameter, for a comment before the argument.
  std::string name;
};

/// A call of `function(ctx, arguments..., {.option = value, ...})`.
class RuntimeCall {
public:
  /// `header`, as "gpuopt/ops/scatter.h", is included by the programs that make
  /// the call. A header that gpuopt/runtime.h includes need not be named.
  explicit RuntimeCall(llvm::StringRef function, llvm::StringRef header = "")
      : function(function), header(header) {}

  /// Adds an argument to those of the template that the function is, as in
  /// `attention<64, AttentionScores::Products>`: a type, which is the one that
  /// its elements have in memory, a number, or a constant of the runtime.
  void passToTemplate(mlir::Type element) {
    templateArguments.push_back(element);
  }
  void passToTemplate(int64_t number) { templateArguments.push_back(number); }
  void passToTemplate(llvm::StringRef constant) {
    templateArguments.push_back(constant.str());
  }

  void pass(mlir::Value tensor) { arguments.push_back({tensor, ""}); }
  void passInteger(int64_t value, llvm::StringRef name = "");
  void passNull(llvm::StringRef name);
  void passState() { arguments.push_back({StepStatePointer{}, ""}); }
  void passConstant(StructConstant constant);
  /// Adds an option. Options are the fields of a struct that is the last
  /// argument; they come in the order of its declaration.
  void setOption(llvm::StringRef name, mlir::Value tensor);
  void setOption(llvm::StringRef name, double value);
  void setOption(llvm::StringRef name, int64_t value);
  void setOption(llvm::StringRef name, StepStatePointer state);

  std::string function, header;
  std::vector<std::variant<mlir::Type, int64_t, std::string>> templateArguments;
  std::vector<CallArgument> arguments, options;
};

} // namespace gpuopt

#endif // GPUOPT_INTERFACES_RUNTIMECALL_H
