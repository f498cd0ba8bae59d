//===- TrainedWeights.h - The weights that a training has saved -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its source is compiled without MLIR's headers, as it reads the file with the
// trainer's own code.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_TRAINEDWEIGHTS_H
#define GPUOPT_LIB_DRIVER_FILES_TRAINEDWEIGHTS_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpuopt {

class TrainedWeights {
public:
  /// Reads a file of safetensors; returns what is wrong with it, or nothing.
  std::string load(const std::string &path);

  bool has(const std::string &name) const { return tensors.count(name) > 0; }
  /// Sets `bytes` to the elements of a tensor in a type, as MLIR spells it.
  /// Those of f32 can be rounded to halves, of which they were read. Returns
  /// what is wrong: another shape or type; empty if nothing is.
  std::string read(const std::string &name, const std::string &type,
                   const std::vector<int64_t> &shape, std::string &bytes) const;
  std::vector<std::string> names() const;
  /// Returns the hash of the graph that was trained; empty if the file does not
  /// tell.
  const std::string &graphHash() const { return graph; }
  /// Returns the step after which a run saved the weights; empty if the file
  /// does not tell.
  std::optional<int64_t> step() const;
  /// Returns whether two tensors have the same type, shape and elements, as a
  /// tied weight has under each of its names.
  bool areSame(const std::string &one, const std::string &other) const;

private:
  struct Tensor {
    std::string dtype;
    std::vector<int64_t> shape;
    const uint8_t *data;
    size_t bytes;
  };
  std::shared_ptr<void> file; // mapped
  std::map<std::string, Tensor> tensors;
  std::string graph, stepText;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_TRAINEDWEIGHTS_H
