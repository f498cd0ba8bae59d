// Graphs of products, pointwise operations and reductions, as cuDNN's attention
// is one: what their descriptors mean, and how they are computed by plain
// loops, one operation after the other.
#pragma once

#include "emulation/cudnn/descriptors.h"

#include <map>
#include <optional>
#include <vector>

namespace gpuopt::emulation {

struct GraphDescriptor;

// A tensor between operations is virtual, which means that no one gives it
// memory; one by value is a float of the host.
struct GraphTensor {
  int64_t id = 0, alignment = 1;
  cudnnTensorStruct layout;
  bool is_virtual = false, is_value = false;

  bool is_in_memory() const { return !is_virtual && !is_value; }
  // Returns the bytes from its first element to its last one.
  size_t extent() const;
};

struct GraphOperation {
  enum class Kind { Product, Pointwise, Reduction } kind = Kind::Product;
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
  int64_t axis = 0; // of an index
  cudnnReduceTensorOp_t reduction = CUDNN_REDUCE_TENSOR_ADD;
  // y = x b, mode(x, b, t) or the sum, or the largest, of x.
  GraphTensor x, y;
  std::optional<GraphTensor> b, t;
};
using GraphOperations = std::vector<GraphOperation>;

// Works out what an operation's attributes mean; none for a descriptor of
// another type.
std::optional<GraphOperation> operation_of(const GraphDescriptor &descriptor);

// Returns why cuDNN has no engine for a graph; null if it has one.
const char *reason_against(const GraphOperations &operations);

// Where the tensors lie that are not virtual, by their ids.
using GraphPointers = std::map<int64_t, void *>;

// Refuses tensors that lie elsewhere than in the device's memory, or less
// aligned than they promise, or that overlap with what is written.
void check_operands(const GraphOperations &operations,
                    const GraphPointers &pointers, void *workspace,
                    size_t bytes);

// Computes a graph. `values` are those of the tensors by value.
void compute(const GraphOperations &operations, const GraphPointers &pointers,
             const std::map<int64_t, float> &values);

} // namespace gpuopt::emulation
