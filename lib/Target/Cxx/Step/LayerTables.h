//===- LayerTables.h - The buffers of a loop's iterations -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device.repeat is printed as a loop over a table, whose rows are of a
// struct with one buffer for each column:
//
//   struct ForwardLayer {
//     Buffer<float> ln_1;               // f32[8,64] "h.*.ln_1/layer_norm_*"
//     Buffer<float> attn_c_attn_weight; // f32[64,192] "h.*.attn.c_attn.weight"
//   };
//   constexpr ForwardLayer kForwardLayers[] = {
//       {.ln_1 = 17408, .attn_c_attn_weight = 4096},
//       {.ln_1 = 21504, .attn_c_attn_weight = 8192},
//   };
//   for (const ForwardLayer &layer : kForwardLayers)
//     ... m[layer.ln_1]
//
// A column that moves on by as many elements in each iteration within one
// buffer needs no table, but the number of the iteration:
//
//   for (int64_t chunk = 0; chunk < 8; ++chunk)
//     ... m[kLogits] + chunk * 1024
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_LAYERTABLES_H
#define GPUOPT_LIB_TARGET_CXX_LAYERTABLES_H

#include "Names.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace gpuopt::cxx {

/// Where a column begins: `elements` behind the beginning of a buffer, and
/// another `perIteration` times the number of the iteration.
struct ColumnAddress {
  std::string buffer;
  int64_t elements = 0, perIteration = 0;
  std::string
      iteration; ///< The variable with the number of the iteration: "chunk".
};

class LayerTables {
public:
  explicit LayerTables(ProgramNames &names) : names(names) {}

  /// Prints the tables of all loops of a step, and gives their names.
  void print(device::StepOp step, const mlir::SymbolTable &symbols,
             llvm::raw_ostream &stream);

  /// Prints the head of a loop: "for (const ForwardLayer &layer :
  /// kForwardLayers) {".
  void printLoopHead(device::RepeatOp repeat, llvm::raw_ostream &stream) const;
  /// Returns the parameter and the argument by which a function with the calls
  /// of loops gets the current row: "const ForwardLayer &layer" and "layer".
  std::pair<std::string, std::string> rowOf(device::RepeatOp repeat) const;
  /// Returns what is true in an iteration that makes a call which not all make:
  /// "layer.recomputes_ln_1".
  std::string conditionOf(mlir::Operation *call) const;
  /// Returns where a column begins in the current iteration: at "layer.ln_1".
  ColumnAddress addressOf(device::ColumnOp column) const;

private:
  struct Table {
    std::string type, name; ///< Empty if no column or condition needs it.
    std::string row;        ///< The variable with a row: "layer".
    std::string iteration;  ///< That with its number, if a column needs it.
    llvm::StringMap<std::string> fields; ///< By column or condition.
  };
  void print(device::RepeatOp repeat, const mlir::SymbolTable &symbols,
             llvm::raw_ostream &stream);
  void printType(device::RepeatOp repeat, const Table &table,
                 const mlir::SymbolTable &symbols, llvm::raw_ostream &stream);
  /// Returns the table of the loop that an op is in, or null.
  const Table *tableOf(mlir::Operation *op) const;

  ProgramNames &names;
  llvm::DenseMap<mlir::Operation *, Table> tables;
  llvm::StringMap<std::string> types; ///< By the function that takes the rows.
};

/// Returns what texts that differ only in numbers have in common, with a star
/// for each number that differs: "h.*.attn/softmax_*". If some texts differ in
/// more, as those of the first or last layer may, it returns what most of them
/// have in common.
std::string commonPattern(llvm::ArrayRef<llvm::StringRef> texts);

/// Returns the comments of a call in all iterations of its loop; outside of a
/// loop, the call's own comment.
llvm::SmallVector<llvm::StringRef> commentsOf(mlir::Operation *call);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_LAYERTABLES_H
