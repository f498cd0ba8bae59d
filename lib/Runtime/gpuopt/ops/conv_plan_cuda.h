// A convolution, or one of its two gradients, as a graph of cuDNN, and the plan
// that cuDNN makes for it. Activations are NHWC and weights [oc, kh, kw,
// c / groups]. A second operation of a graph may add up the channels of y, and
// their squares, where y is made.
//
// No engine is taken that is compiled when it is needed: with those, what is
// chosen would depend on whether NVRTC is installed.
#pragma once

#include "gpuopt/ops/conv_shape.h"
#include "gpuopt/ops/cudnn_plan.h"

#ifdef GPUOPT_HAS_CUDNN_PLANS
namespace gpuopt {

// All that a plan depends on beside the device.
struct ConvGraph {
  ConvShape shape;
  int64_t kind;          // ConvKind
  int64_t type;          // cudnnDataType_t of x, w and y
  int64_t allows_tf32;   // for products of floats
  int64_t alignment;     // of x, w and y, in bytes
  int64_t adds_sums = 0; // of y's channels, in a forward convolution
};

namespace detail {

// The names by which a plan knows its tensors when it is executed.
constexpr int64_t kConvX = 'x', kConvW = 'w', kConvY = 'y';
constexpr int64_t kConvSum = 's', kConvSumOfSquares = 'q';

// Sizes are [n, c, h, w] whatever the order in memory is, which is NHWC.
inline CudnnDescriptor conv_tensor(const ConvGraph &graph, int64_t name,
                                   int64_t n, int64_t c, int64_t h, int64_t w) {
  CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, name)
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, cudnnDataType_t(graph.type))
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, graph.alignment)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::vector<int64_t>{n, c, h, w})
      .set(CUDNN_ATTR_TENSOR_STRIDES,
           std::vector<int64_t>{h * w * c, 1, w * c, c})
      .finalize();
  return tensor;
}

// Half precision is multiplied exactly and summed in single precision.
inline cudnnDataType_t compute_type_of(int64_t type) {
  return type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

inline CudnnDescriptor conv_parameters(const ConvGraph &graph) {
  const ConvShape &s = graph.shape;
  const auto pair = [](const int64_t (&values)[2]) {
    return std::vector<int64_t>{values[0], values[1]};
  };
  CudnnDescriptor parameters(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  parameters.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, compute_type_of(graph.type))
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t(2))
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, pair(s.pad_begin))
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, pair(s.pad_end))
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, pair(s.stride))
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, pair(s.dilation))
      .finalize();
  return parameters;
}

// The attributes of the operation of each kind.
struct ConvAttributes {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t parameters, x, w, y, alpha, beta;
};

inline const ConvAttributes &conv_attributes_of(int64_t kind) {
  static const ConvAttributes attributes[] = {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}};
  return attributes[kind];
}

inline CudnnDescriptor conv_operation(const ConvGraph &graph,
                                      const CudnnDescriptor &y) {
  const ConvShape &s = graph.shape;
  const ConvAttributes &attributes = conv_attributes_of(graph.kind);
  const CudnnDescriptor x = conv_tensor(graph, kConvX, s.n, s.c, s.h, s.w),
                        w = conv_tensor(graph, kConvW, s.oc, s.c / s.groups,
                                        s.kh, s.kw),
                        parameters = conv_parameters(graph);
  CudnnDescriptor operation(attributes.operation);
  operation.set(attributes.parameters, parameters)
      .set(attributes.x, x)
      .set(attributes.w, w)
      .set(attributes.y, y);
  if (compute_type_of(graph.type) == CUDNN_DATA_DOUBLE)
    operation.set(attributes.alpha, 1.0).set(attributes.beta, 0.0);
  else
    operation.set(attributes.alpha, 1.0f).set(attributes.beta, 0.0f);
  return operation.finalize();
}

// sum[c] and sum_of_squares[c] over all pixels of y
inline CudnnDescriptor sums_operation(const ConvGraph &graph,
                                      const CudnnDescriptor &y) {
  ConvGraph of_floats = graph;
  of_floats.type = CUDNN_DATA_FLOAT;
  const int64_t channels = graph.shape.oc;
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_GENSTATS_SUM_SQSUM)
      .set(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, y)
      .set(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC,
           conv_tensor(of_floats, kConvSum, 1, channels, 1, 1))
      .set(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC,
           conv_tensor(of_floats, kConvSumOfSquares, 1, channels, 1, 1));
  return operation.finalize();
}

inline CudnnDescriptor operation_graph_of(const ConvGraph &graph,
                                          const PlanDevice &device) {
  const ConvShape &s = graph.shape;
  const CudnnDescriptor y = conv_tensor(graph, kConvY, s.n, s.oc, s.oh, s.ow);
  std::vector<CudnnDescriptor> all{conv_operation(graph, y)};
  if (graph.adds_sums)
    all.push_back(sums_operation(graph, y));
  return operation_graph_of(all, device);
}

} // namespace detail

// Returns which engines may compute a convolution, in at most `workspace_limit`
// bytes of workspace.
inline EngineRules engine_rules_of(const ConvGraph &graph,
                                   int64_t workspace_limit) {
  EngineRules rules;
  rules.may_round_to_tf32 = graph.type != CUDNN_DATA_FLOAT || graph.allows_tf32;
  rules.workspace_limit = workspace_limit;
  // Those that cuDNN 9.19 has for sums are without notes, although they run on
  // tensor cores. Their kernels for Hopper add up by atomics (REDG.E.ADD.F32),
  // in an order that changes from run to run.
  rules.must_have_notes = graph.adds_sums;
  return rules;
}

// Returns the plan of the first engine of cuDNN's heuristic that may be taken
// and needs at most `workspace_limit` bytes.
inline CudnnPlanResult plan_convolution(const PlanDevice &device,
                                        const ConvGraph &graph,
                                        int64_t workspace_limit) {
  return plan_graph(device, engine_rules_of(graph, workspace_limit),
                    [&] { return detail::operation_graph_of(graph, device); });
}

// So many plans are timed, at most, to choose the fastest.
constexpr size_t kTimedPlans = 8;

// Returns the plans of the first `most` of such engines.
inline CudnnPlansResult plans_of_convolution(const PlanDevice &device,
                                             const ConvGraph &graph,
                                             int64_t workspace_limit,
                                             size_t most) {
  return plans_of_graph(
      device, engine_rules_of(graph, workspace_limit), most,
      [&] { return detail::operation_graph_of(graph, device); });
}

// Returns the plan that has the name, of a plan that was made earlier.
inline CudnnPlanResult find_convolution_plan(const PlanDevice &device,
                                             const ConvGraph &graph,
                                             int64_t workspace_limit,
                                             const std::string &name) {
  return find_plan(device, engine_rules_of(graph, workspace_limit), name,
                   [&] { return detail::operation_graph_of(graph, device); });
}

// Enqueues a convolution in the handle's stream.
inline void execute_convolution(const CudnnPlan &plan, cudnnHandle_t handle,
                                const ConvTensors &tensors, void *workspace) {
  CudnnOperands operands;
  operands.add(detail::kConvX, tensors.x);
  operands.add(detail::kConvW, tensors.w);
  operands.add(detail::kConvY, tensors.y);
  if (tensors.sum) {
    operands.add(detail::kConvSum, tensors.sum);
    operands.add(detail::kConvSumOfSquares, tensors.sum_of_squares);
  }
  plan.execute(handle, operands, workspace);
}

} // namespace gpuopt
#endif // GPUOPT_HAS_CUDNN_PLANS
