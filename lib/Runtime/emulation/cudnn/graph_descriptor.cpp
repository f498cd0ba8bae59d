#include "emulation/cudnn/graph_descriptor.h"

#include "emulation/cudart/device.h"

namespace gpuopt::emulation {

const GraphDescriptor::Attribute &
GraphDescriptor::attribute(cudnnBackendAttributeName_t name) const {
  const auto found = attributes.find(name);
  if (found == attributes.end() || found->second.count < 1)
    refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor of type " +
                                       std::to_string(int(type)) +
                                       " is finalized without its attribute " +
                                       std::to_string(int(name)));
  return found->second;
}

const GraphDescriptor &
GraphDescriptor::part(cudnnBackendAttributeName_t name,
                      cudnnBackendDescriptorType_t expected) const {
  const GraphDescriptor &found = graph_descriptor(one<void *>(name));
  if (found.type != expected || !found.is_final)
    refuse(CUDNN_STATUS_BAD_PARAM,
           "attribute " + std::to_string(int(name)) +
               " is a descriptor of type " + std::to_string(int(found.type)) +
               (found.is_final ? "" : " that is not finalized") +
               "; expected is type " + std::to_string(int(expected)));
  return found;
}

// ---- What attributes mean --------------------------------------------------

static void finalize_tensor(GraphDescriptor &d) {
  const auto size = d.all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto stride = d.all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  if (size.size() != 4 || stride.size() != 4)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "the emulation lacks tensors that have not four dimensions");
  const auto is_set = [&](cudnnBackendAttributeName_t name) {
    return d.attributes.count(name) && d.one<char>(name);
  };
  d.is_virtual = is_set(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  d.is_value = is_set(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  d.tensor.type = d.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  const bool is_index =
      d.tensor.type == CUDNN_DATA_INT32 || d.tensor.type == CUDNN_DATA_BOOLEAN;
  if (!d.is_virtual || !is_index)
    element_type(d.tensor.type);
  if (d.is_value && d.tensor.type != CUDNN_DATA_FLOAT)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "the emulation lacks tensors by value that are no floats");
  for (size_t i = 0; i < 4; i++) {
    if (size[i] < 1 || stride[i] < 1)
      refuse(CUDNN_STATUS_BAD_PARAM,
             "a dimension or a stride of a tensor is not positive");
    d.tensor.size[i] = size[i];
    d.tensor.stride[i] = stride[i];
  }
  d.tensor_id = d.one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  d.tensor_alignment = d.one<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
}

static void read_pair(const GraphDescriptor &d,
                      cudnnBackendAttributeName_t name, int64_t least,
                      int64_t (&pair)[2]) {
  const auto values = d.all<int64_t>(name);
  if (values.size() != 2 || values[0] < least || values[1] < least)
    refuse(CUDNN_STATUS_BAD_PARAM, "attribute " + std::to_string(int(name)) +
                                       " has not two values of at least " +
                                       std::to_string(least));
  pair[0] = values[0], pair[1] = values[1];
}

static void finalize_convolution(GraphDescriptor &d) {
  if (d.one<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS) != 2)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "the emulation lacks convolutions that have not two dimensions");
  cudnnConvolutionStruct &c = d.parameters;
  read_pair(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0, c.pad);
  read_pair(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 0, c.pad_end);
  read_pair(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1, c.stride);
  read_pair(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, 1, c.dilation);
  c.compute = d.one<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  c.flips_filter = d.one<cudnnConvolutionMode_t>(
                       CUDNN_ATTR_CONVOLUTION_CONV_MODE) == CUDNN_CONVOLUTION;
}

namespace {
// The attributes of an operation, by its kind.
struct OperationNames {
  cudnnBackendDescriptorType_t type;
  ConvolutionKind kind;
  cudnnBackendAttributeName_t convolution, x, w, y, alpha, beta;
};
} // namespace

static const OperationNames kOperations[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     ConvolutionKind::Forward,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     ConvolutionKind::BackwardData,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     ConvolutionKind::BackwardFilter,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}};

// Scales are float or double, whichever type they were set with.
static double read_scale(const GraphDescriptor &d,
                         cudnnBackendAttributeName_t name) {
  return d.attribute(name).type == CUDNN_TYPE_DOUBLE
             ? d.one<double>(name)
             : double(d.one<float>(name));
}

static void finalize_operation(GraphDescriptor &d,
                               const OperationNames &names) {
  GraphConvolution graph;
  const auto take = [&](cudnnBackendAttributeName_t name, int64_t &id,
                        cudnnTensorStruct &tensor) {
    const GraphDescriptor &part = d.part(name, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    tensor = part.tensor;
    id = part.tensor_id;
    graph.alignment = std::max(graph.alignment, part.tensor_alignment);
  };
  Convolution &c = graph.convolution;
  c.kind = names.kind;
  take(names.x, graph.x, c.x);
  take(names.w, graph.w, c.w);
  take(names.y, graph.y, c.y);
  c.convolution =
      d.part(names.convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)
          .parameters;
  // Graphs have no attribute for groups: the channels tell.
  c.convolution.groups = std::max<int64_t>(1, c.x.size[1] / c.w.size[1]);
  check(c);
  graph.alpha = read_scale(d, names.alpha);
  graph.beta = read_scale(d, names.beta);
  d.graph = graph;
}

static void finalize_sums(GraphDescriptor &d) {
  if (d.one<cudnnGenStatsMode_t>(CUDNN_ATTR_OPERATION_GENSTATS_MODE) !=
          CUDNN_GENSTATS_SUM_SQSUM ||
      d.one<cudnnDataType_t>(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC) !=
          CUDNN_DATA_FLOAT)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "statistics are sums and sums of squares, in float");
  const auto part =
      [&](cudnnBackendAttributeName_t name) -> const GraphDescriptor & {
    return d.part(name, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  };
  const GraphDescriptor &x = part(CUDNN_ATTR_OPERATION_GENSTATS_XDESC),
                        &sum = part(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC),
                        &squares =
                            part(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC);
  const int64_t channels = x.tensor.size[1];
  for (const GraphDescriptor *sums : {&sum, &squares})
    if (sums->tensor.type != CUDNN_DATA_FLOAT ||
        sums->tensor.size[1] != channels || sums->tensor.elements() != channels)
      refuse(CUDNN_STATUS_BAD_PARAM,
             "the sums of the channels of " + text_of(x.tensor) +
                 " are floats of size [1, " + std::to_string(channels) +
                 ", 1, 1], but the tensor for them is " +
                 text_of(sums->tensor));
  d.sums = GraphSums{x.tensor_id, sum.tensor_id, squares.tensor_id};
}

// Returns the operations of a graph if all are products, pointwise operations
// or reductions.
static std::shared_ptr<const GraphOperations>
operations_of(const std::vector<void *> &descriptors) {
  GraphOperations operations;
  for (const void *pointer : descriptors) {
    const GraphDescriptor &d = graph_descriptor(pointer);
    if (!d.is_final || !d.operation)
      return nullptr;
    operations.push_back(*d.operation);
  }
  return std::make_shared<GraphOperations>(std::move(operations));
}

// A graph is a convolution, or one and the sums of its result, or operations
// like those of attention.
static void finalize_operation_graph(GraphDescriptor &d) {
  const auto operations = d.all<void *>(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  d.operations = operations_of(operations);
  if (d.operations)
    return;
  const GraphDescriptor &first = graph_descriptor(operations[0]),
                        &last = graph_descriptor(operations.back());
  const bool has_sums = operations.size() == 2 && last.is_final && last.sums;
  if ((operations.size() != 1 && !has_sums) || !first.is_final || !first.graph)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "the emulation lacks graphs of anything but one convolution, and "
           "the sums of its result");
  d.graph = first.graph;
  if (!has_sums)
    return;
  if (last.sums->x != first.graph->y ||
      first.graph->convolution.kind != ConvolutionKind::Forward)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "the emulation lacks the sums of a tensor that is not y of a "
           "convolution");
  d.graph->sums = last.sums;
}

static void finalize_heuristic(GraphDescriptor &d) {
  const GraphDescriptor &operations =
      d.part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
             CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (!operations.attributes.count(CUDNN_ATTR_OPERATIONGRAPH_HANDLE))
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "the emulation plans graphs for the GPU of a handle alone");
  if (const int failure = device().machine.engine_failure)
    refuse(cudnnStatus_t(failure), "the emulated heuristic was told to fail");
  const auto mode = d.one<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE);
  d.graph = operations.graph;
  d.operations = operations.operations;
  d.proposals = d.operations ? propose_engines(*d.operations, mode)
                             : propose_engines(*d.graph, mode);
  if (d.proposals.empty())
    refuse(CUDNN_STATUS_NOT_SUPPORTED, "cuDNN has no engine for a graph");
}

static void finalize_plan(GraphDescriptor &d) {
  const GraphDescriptor &configuration =
      d.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
             CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  d.graph = configuration.graph;
  d.operations = configuration.operations;
  d.engine = configuration.engine;
}

void finalize(GraphDescriptor &d) {
  for (const OperationNames &names : kOperations)
    if (d.type == names.type)
      finalize_operation(d, names);
  d.operation = operation_of(d);
  if (d.type == CUDNN_BACKEND_TENSOR_DESCRIPTOR)
    finalize_tensor(d);
  else if (d.type == CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR)
    finalize_sums(d);
  else if (d.type == CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)
    finalize_convolution(d);
  else if (d.type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
    finalize_operation_graph(d);
  else if (d.type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
    finalize_heuristic(d);
  else if (d.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
    finalize_plan(d);
  d.is_final = true;
}

// ---- Engines ---------------------------------------------------------------

// cuDNN 9.28 adds up channels in half precision alone, and vectors of eight.
static bool has_engine_for_sums(const Convolution &c) {
  return c.x.type == CUDNN_DATA_HALF && c.convolution.groups == 1 &&
         c.x.size[1] % 8 == 0 && c.y.size[1] % 8 == 0;
}

std::vector<Engine> propose_engines(const GraphConvolution &graph,
                                    cudnnBackendHeurMode_t mode) {
  constexpr size_t kWorkspaceBytes = 16 << 10;
  if (!device().machine.has_engines ||
      (graph.sums && !has_engine_for_sums(graph.convolution)))
    return {};
  if (mode == CUDNN_HEUR_MODE_FALLBACK)
    return {{7, 0, true, {}, {}}};
  if (mode != CUDNN_HEUR_MODE_A)
    return {};
  std::vector<Engine> engines{
      {1, kWorkspaceBytes, false, {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, {}},
      {2, 0, true, {}, {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION}},
      {3, 0, true, {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}, {}},
      {5, Memory::kDeviceBytes, true, {}, {}},
      {6, kWorkspaceBytes, true, {}, {}}};
  if (graph.convolution.x.type == CUDNN_DATA_HALF)
    engines.back().numerics = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE};
  if (!graph.sums) // another way to compute the same
    engines.push_back({9, 0, true, engines.back().numerics, {}});
  // cuDNN 9.19 does not note that the sums are in no fixed order.
  if (graph.sums)
    engines.insert(engines.begin(), {8, kWorkspaceBytes, false, {}, {}});
  if (graph.convolution.x.type == CUDNN_DATA_FLOAT)
    engines.insert(
        engines.begin() + 3,
        {4, kWorkspaceBytes, true, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, {}});
  return engines;
}

// cuDNN 9.19 has two engines for the forward of attention, which NVRTC
// compiles.
std::vector<Engine> propose_engines(const GraphOperations &operations,
                                    cudnnBackendHeurMode_t mode) {
  if (!device().machine.has_engines)
    return {};
  if (const char *reason = reason_against(operations))
    refuse(CUDNN_STATUS_NOT_SUPPORTED, reason);
  const std::vector<cudnnBackendBehaviorNote_t> compiled{
      CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION};
  if (mode == CUDNN_HEUR_MODE_FALLBACK)
    return {{1, 0, true, {}, compiled}};
  if (mode != CUDNN_HEUR_MODE_A)
    return {};
  return {{3, 0, true, {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, compiled},
          {4, size_t(1) << 20, true, {}, compiled},
          {2, 256, true, {}, compiled}};
}

} // namespace gpuopt::emulation
