//===- LoraAdapter.h - What an adapter adds to weights ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The folder of an adapter that PEFT has saved. The weight of a module W
// becomes W + scale * B A; weights that were trained as a whole
// (modules_to_save, biases) replace those of the model, and so does a W that
// the adapter has itself.
//
// Its source is compiled without MLIR's headers, as it reads the file with the
// trainer's own code.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_LORAADAPTER_H
#define GPUOPT_LIB_DRIVER_FILES_LORAADAPTER_H

#include "Files/LoraConfig.h"

#include <memory>
#include <string>
#include <vector>

namespace gpuopt {

class LoraAdapter {
public:
  /// Reads a folder; returns what is wrong with it, or nothing.
  std::string load(const std::string &folder);

  /// Finds the initializers of the weights, by the names of all initializers:
  /// the own name of each, and further ones of a tied weight. The names may
  /// differ by what modules around the model put in front of all of them.
  /// Returns which weight has several initializers, or one that is not certain
  /// or is changed otherwise under another of its names; or nothing. `missing`
  /// are the weights without any.
  std::string match(const std::vector<std::vector<std::string>> &initializers,
                    std::vector<std::string> &missing);

  size_t size() const { return weights.size(); }

  /// Returns the weight that `match` has found for an initializer; empty if
  /// there is none.
  std::string weightOf(const std::string &initializer) const;

  /// Changes the elements of an initializer by a weight of the adapter. `type`
  /// is spelled as MLIR does. Returns what is wrong: another shape, a type
  /// that is not floating-point; or nothing.
  std::string apply(const std::string &weight, const std::string &type,
                    const std::vector<int64_t> &shape, std::string &bytes);

  /// Returns, after all calls of `apply`, why it is not known which way round
  /// a weight was to be changed; or nothing.
  std::string checkOrientation() const;

private:
  struct Matrix {
    std::vector<int64_t> shape;
    std::vector<double> numbers; ///< Row by row.
  };
  struct Weight {
    Matrix a, b;  ///< [rank, in...] and [out, rank...].
    Matrix whole; ///< In place of the model's.
    bool isEmbedding = false;
    bool isBase = false; ///< The product of A and B is added to `whole`.
    double scale = 1;
  };
  Matrix productOf(const Weight &weight) const;
  std::string termOf(const std::string &name, Matrix &term) const;
  bool areSame(const Weight &x, const Weight &y) const;
  std::string add(const std::string &key, Matrix matrix);
  std::string addWhole(const std::string &name, Matrix matrix);
  std::string complete(const std::string &path);

  LoraConfig config;
  std::map<std::string, Weight> weights; ///< By "layer.q_proj.weight".
  std::map<std::string, std::string> weightByInitializer;
  std::string turnedWeight; ///< The model has this weight transposed.
  std::string squareWeight; ///< Nothing shows which way round this weight is.
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_LORAADAPTER_H
