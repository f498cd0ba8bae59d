//===- CompileFlags.h - The flags of the compile-time table -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A flag of kCompileSettings is declared by its name alone, beside the code
// that reads it. Its default, help, heading, commands and checks come from the
// table.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FLAGS_COMPILEFLAGS_H
#define GPUOPT_LIB_DRIVER_FLAGS_COMPILEFLAGS_H

#include "Flags/FlagGroups.h"
#include "gpuopt/settings/compile_table.h"

namespace gpuopt {

/// A modifier of LLVM's options that makes an option the flag of a row.
/// `values` says what the value can be if the table cannot: it is for flags
/// whose names the driver knows only when it runs.
class FromTable {
public:
  explicit FromTable(llvm::StringRef name, llvm::StringRef values = "");
  void apply(llvm::cl::Option &option) const;

  const CompileSetting &row() const { return setting; }

private:
  const CompileSetting &setting;
  llvm::StringRef values;
};

/// Returns what is wrong with a value that was read from `text`: "--precision
/// must be fp32, tf32, fp16 or bf16, but is 'fp8'"; empty if nothing is.
std::string errorOf(const CompileSetting &setting, llvm::StringRef text);
std::string errorOf(const CompileSetting &setting, int64_t value);
std::string errorOf(const CompileSetting &setting, double value);
std::string errorOf(const CompileSetting &setting, bool value);

/// Reads the default of a row; a row without one has an empty value.
template <class T>
T standardOf(const CompileSetting &setting);

/// A flag of the table. Values that the table does not allow are errors of the
/// command line.
template <class T>
class CompileFlag : public CheckedOpt<T> {
public:
  explicit CompileFlag(llvm::StringRef name, llvm::StringRef values = "")
      : CompileFlag(FromTable(name, values)) {}

  using CheckedOpt<T>::operator=;

  bool isGiven() const { return this->getNumOccurrences() > 0; }

  bool addOccurrence(unsigned position, llvm::StringRef name,
                     llvm::StringRef text, bool isMulti) override {
    if (CheckedOpt<T>::addOccurrence(position, name, text, isMulti))
      return true;
    std::string error = errorOf(setting, this->getValue());
    return !error.empty() && noteValueError(error);
  }

private:
  explicit CompileFlag(const FromTable &table)
      : CheckedOpt<T>(table, llvm::cl::init(standardOf<T>(table.row()))),
        setting(table.row()) {}

  const CompileSetting &setting;
};

/// A flag of the table that can be given several times.
class CompileFlags : public llvm::cl::list<std::string> {
public:
  explicit CompileFlags(llvm::StringRef name)
      : llvm::cl::list<std::string>(FromTable(name)) {}
};

/// Returns what the value of a row's flag can be, in words; empty for anything.
std::string valuesText(const CompileSetting &setting);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FLAGS_COMPILEFLAGS_H
