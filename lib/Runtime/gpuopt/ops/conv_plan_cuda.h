// A convolution, or one of its two gradients, as a graph of cuDNN, and the plan
// that cuDNN makes for it: an engine (a family of kernels) with its workspace.
// Activations are NHWC and weights [oc, kh, kw, c / groups]. A second operation
// of a graph may add up the channels of y, and their squares, where y is made.
//
// A plan is made for a device that is there, or, without a GPU, for the
// description of one. Only engines that always give the same bits are taken,
// and none that is compiled when it is needed: with those, what is chosen would
// depend on whether NVRTC is installed.
#pragma once

#include "gpuopt/device/error.h"
#include "gpuopt/ops/conv_shape.h"
#include "gpuopt/ops/cudnn_descriptor.h"

#include <algorithm>
#include <optional>

// Descriptions of devices came with cuDNN 9.8.
#if CUDNN_VERSION >= 90800
#define GPUOPT_HAS_CONV_PLANS
#endif

#ifdef GPUOPT_HAS_CONV_PLANS
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

// Returns how cuDNN describes the GPU of a handle.
inline std::string describe_device(cudnnHandle_t handle) {
  CudnnDescriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(CUDNN_ATTR_DEVICEPROP_HANDLE, handle).finalize();
  const auto text =
      device.get_all<char>(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
  return std::string(text.begin(), text.end()).c_str();
}

// The device that a plan is for: a GPU that is there, or a description.
class PlanDevice {
public:
  explicit PlanDevice(cudnnHandle_t handle) : handle(handle) {}
  // `json` is what describe_device has returned on such a device.
  explicit PlanDevice(const std::string &json)
      : description(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) {
    description
        ->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
              std::vector<char>(json.begin(), json.end()))
        .finalize();
  }

  cudnnHandle_t handle = nullptr;
  std::optional<CudnnDescriptor> description;
};

class ConvPlan {
public:
  explicit ConvPlan(const CudnnDescriptor &finalized)
      : plan(finalized),
        bytes(plan.get<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)) {}

  int64_t workspace_bytes() const { return bytes; }
  // The number that cuDNN gives the engine among those of the graph.
  int64_t engine() const {
    const auto configurations =
        plan.get_descriptors(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                             CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    const auto engines = configurations.at(0).get_descriptors(
        CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    return engines.at(0).get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  }
  // The text from which read_conv_plan makes the same plan, for the same
  // version of cuDNN.
  std::string serialize() const {
    const auto text =
        plan.get_all<char>(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
    return std::string(text.begin(), text.end());
  }
  // Enqueues the convolution in the handle's stream; `workspace` has
  // workspace_bytes().
  void execute(cudnnHandle_t handle, const ConvTensors &tensors,
               void *workspace) const;

private:
  CudnnDescriptor plan;
  int64_t bytes;
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
  CudnnDescriptor operations(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  operations.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, all);
  if (device.handle)
    operations.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, device.handle);
  operations.finalize();
  return operations;
}

// Returns the engines that cuDNN proposes, the fastest by its estimate first;
// none if it knows none.
inline std::vector<CudnnDescriptor>
propose_engines(const CudnnDescriptor &operations, const PlanDevice &device,
                cudnnBackendHeurMode_t mode) {
  CudnnDescriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, operations)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  if (device.description)
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *device.description);
  if (!heuristic.try_finalize())
    return {};
  return heuristic.get_descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                   CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
}

// Returns why an engine is not taken, null if it is.
inline const char *objection_to(const CudnnDescriptor &configuration,
                                const ConvGraph &graph) {
  const auto engines = configuration.get_descriptors(
      CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  const auto numerics = engines.at(0).get_all<cudnnBackendNumericalNote_t>(
      CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
  const auto behaviors = engines.at(0).get_all<cudnnBackendBehaviorNote_t>(
      CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE);
  const auto has = [](const auto &notes, auto note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  };
  if (has(numerics, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC))
    return "an engine does not always give the same bits";
  if (has(numerics, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))
    return "an engine adds in half precision";
  if (has(behaviors, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION))
    return "an engine is compiled when it is needed";
  if (graph.type == CUDNN_DATA_FLOAT && !graph.allows_tf32 &&
      (has(numerics, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ||
       has(numerics, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)))
    return "an engine rounds operands to TF32";
  return nullptr;
}

} // namespace detail

// A plan, or why there is none.
struct ConvPlanResult {
  std::optional<ConvPlan> plan;
  std::string reason;
};

namespace detail {

// Asks for an engine's plan within a workspace.
inline ConvPlanResult try_engine(const CudnnDescriptor &configuration,
                                 const ConvGraph &graph,
                                 int64_t workspace_limit) {
  if (const char *objection = objection_to(configuration, graph))
    return {std::nullopt, objection};
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  if (!plan.try_finalize())
    return {std::nullopt,
            "cuDNN refuses its own proposal: " + last_cudnn_message()};
  const ConvPlan found(plan);
  if (found.workspace_bytes() <= workspace_limit)
    return {found, ""};
  return {std::nullopt, "an engine needs a workspace of " +
                            human_bytes(double(found.workspace_bytes()))};
}

} // namespace detail

// Returns the plan of the first engine of cuDNN's heuristic that may be taken
// and needs at most `workspace_limit` bytes. Throws where cuDNN fails for
// another reason than that it cannot compute the graph.
inline ConvPlanResult plan_convolution(const PlanDevice &device,
                                       const ConvGraph &graph,
                                       int64_t workspace_limit) {
  ConvPlanResult result{std::nullopt, "cuDNN proposes no engine"};
  try {
    const CudnnDescriptor operations =
        detail::operation_graph_of(graph, device);
    for (auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
      for (const CudnnDescriptor &configuration :
           detail::propose_engines(operations, device, mode)) {
        result = detail::try_engine(configuration, graph, workspace_limit);
        if (result.plan)
          return result;
      }
  } catch (const CudnnError &refused) {
    if (!is_refusal(refused.status))
      throw Error(std::string(refused.what()) +
                  ", which says: " + last_cudnn_message());
    result.reason = last_cudnn_message() + ": " + refused.what();
  }
  return result;
}

// Makes a plan from what ConvPlan::serialize has returned, for a description.
inline ConvPlan read_conv_plan(const PlanDevice &device,
                               const std::string &text) {
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
           std::vector<char>(text.begin(), text.end()))
      .set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device.description.value())
      .finalize();
  return ConvPlan(plan);
}

inline void ConvPlan::execute(cudnnHandle_t handle, const ConvTensors &tensors,
                              void *workspace) const {
  const auto pointer = [](const void *p) { return const_cast<void *>(p); };
  std::vector<int64_t> ids{detail::kConvX, detail::kConvW, detail::kConvY};
  std::vector<void *> pointers{pointer(tensors.x), pointer(tensors.w),
                               pointer(tensors.y)};
  if (tensors.sum) {
    ids.insert(ids.end(), {detail::kConvSum, detail::kConvSumOfSquares});
    pointers.insert(pointers.end(), {tensors.sum, tensors.sum_of_squares});
  }
  CudnnDescriptor operands(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  operands.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids)
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, pointers)
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace)
      .finalize();
  CHECK_CUDNN(cudnnBackendExecute(handle, plan.get(), operands.get()));
}

} // namespace gpuopt
#endif // GPUOPT_HAS_CONV_PLANS
