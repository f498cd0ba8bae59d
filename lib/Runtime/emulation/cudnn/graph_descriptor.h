// The descriptors of cuDNN's graph interface: attributes by name, which are set
// until the descriptor is finalized and mean something from then on.
#pragma once

#include "emulation/cudnn/convolution.h"
#include "emulation/cudnn/graph_operations.h"

#include <cstring>
#include <memory>

namespace gpuopt::emulation {

// The sums of the channels of a tensor, and of their squares: unique ids.
struct GraphSums {
  int64_t x = 0, sum = 0, sum_of_squares = 0;
};

// A convolution in a graph: its tensors have names and promise an alignment.
struct GraphConvolution {
  Convolution convolution;
  int64_t x = 0, w = 0, y = 0; // unique ids
  int64_t alignment = 1;       // the largest that a tensor promises
  double alpha = 1, beta = 0;
  std::optional<GraphSums> sums; // of y
};

// The engine that computes a graph.
struct Engine {
  int64_t number = 0;
  size_t workspace = 0;
  bool is_deterministic = true;
  std::vector<cudnnBackendNumericalNote_t> numerics;
  std::vector<cudnnBackendBehaviorNote_t> behaviors;
};

// The engines that a heuristic proposes, the best first; more than one of them
// is of no use to a careful caller.
std::vector<Engine> propose_engines(const GraphConvolution &graph,
                                    cudnnBackendHeurMode_t mode);
std::vector<Engine> propose_engines(const GraphOperations &graph,
                                    cudnnBackendHeurMode_t mode);

struct GraphDescriptor {
  struct Attribute {
    cudnnBackendAttributeType_t type;
    int64_t count;
    std::vector<char> bytes;
  };
  cudnnBackendDescriptorType_t type;
  bool is_final = false;
  std::map<int, Attribute> attributes;

  // The meaning of the attributes, once it is final.
  cudnnTensorStruct tensor;
  int64_t tensor_id = 0, tensor_alignment = 1;
  bool is_virtual = false, is_value = false;
  cudnnConvolutionStruct parameters;
  // A graph has one of these two, and so has what is made from it.
  std::optional<GraphConvolution> graph;
  std::shared_ptr<const GraphOperations> operations;
  std::optional<GraphSums> sums;           // of an operation
  std::optional<GraphOperation> operation; // of an operation
  std::vector<Engine> proposals;           // of a heuristic
  std::optional<Engine> engine; // of an engine, a configuration or a plan

  // Read an attribute that is needed; refuse a call that has not set it.
  const Attribute &attribute(cudnnBackendAttributeName_t name) const;
  template <class T>
  std::vector<T> all(cudnnBackendAttributeName_t name) const {
    const Attribute &found = attribute(name);
    std::vector<T> values(found.bytes.size() / sizeof(T));
    if (!values.empty())
      memcpy(values.data(), found.bytes.data(), values.size() * sizeof(T));
    return values;
  }
  template <class T>
  T one(cudnnBackendAttributeName_t name) const {
    return all<T>(name).at(0);
  }
  // A descriptor that was set, which still exists and is of this type.
  const GraphDescriptor &part(cudnnBackendAttributeName_t name,
                              cudnnBackendDescriptorType_t type) const;
};

// The descriptor behind a pointer; refuses one that does not exist.
GraphDescriptor &graph_descriptor(const void *pointer);

// Works out what the attributes mean; refuses what the manual forbids.
void finalize(GraphDescriptor &descriptor);

} // namespace gpuopt::emulation
