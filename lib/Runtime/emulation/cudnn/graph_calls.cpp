// The functions of cuDNN's graph interface.
#include "emulation/cudart/device.h"
#include "emulation/cudnn/graph_descriptor.h"
#include "emulation/libraries/operands.h"

#include <algorithm>
#include <set>

namespace gpuopt::emulation {
namespace {

std::set<const void *> &existing_descriptors() {
  static std::set<const void *> all;
  return all;
}

// Attributes whose values have no type of their own here have four bytes.
size_t size_of_attribute(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_DOUBLE:
  case CUDNN_TYPE_HANDLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    return 8;
  case CUDNN_TYPE_CHAR:
  case CUDNN_TYPE_BOOLEAN:
    return 1;
  default:
    return 4;
  }
}

bool is_known(cudnnBackendDescriptorType_t type) {
  constexpr cudnnBackendDescriptorType_t kKnown[] = {
      CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
      CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
      CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
      CUDNN_BACKEND_ENGINE_DESCRIPTOR,
      CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
      CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
      CUDNN_BACKEND_MATMUL_DESCRIPTOR,
      CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
      CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
      CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
      CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
      CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR,
      CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
      CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
      CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
      CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
      CUDNN_BACKEND_REDUCTION_DESCRIPTOR,
      CUDNN_BACKEND_TENSOR_DESCRIPTOR,
      CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
  return std::find(std::begin(kKnown), std::end(kKnown), type) !=
         std::end(kKnown);
}

// Gives values of an attribute; a caller that has room for none asks how many
// there are.
template <class T>
void give(const std::vector<T> &values, int64_t requested, int64_t *count,
          void *array) {
  *count = requested == 0
               ? int64_t(values.size())
               : std::min<int64_t>(requested, int64_t(values.size()));
  if (array)
    memcpy(array, values.data(), size_t(*count) * sizeof(T));
}

// Gives configurations or engines: the caller has made the descriptors.
void give_engines(const GraphDescriptor &from,
                  cudnnBackendDescriptorType_t type,
                  const std::vector<Engine> &engines, int64_t requested,
                  int64_t *count, void *array) {
  *count = int64_t(engines.size());
  if (requested == 0)
    return;
  *count = std::min(*count, requested);
  for (int64_t i = 0; i < *count; i++) {
    GraphDescriptor &made = graph_descriptor(static_cast<void **>(array)[i]);
    if (made.type != type || made.is_final)
      refuse(CUDNN_STATUS_BAD_PARAM,
             "engines are read into descriptors of another type");
    made.graph = from.graph;
    made.operations = from.operations;
    made.engine = engines[size_t(i)];
    made.is_final = true;
  }
}

void give_attribute(const GraphDescriptor &d, cudnnBackendAttributeName_t name,
                    int64_t requested, int64_t *count, void *array) {
  switch (name) {
  case CUDNN_ATTR_ENGINEHEUR_RESULTS:
    return give_engines(d, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, d.proposals,
                        requested, count, array);
  case CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG:
    return give_engines(d, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, {*d.engine},
                        requested, count, array);
  case CUDNN_ATTR_ENGINECFG_ENGINE:
    return give_engines(d, CUDNN_BACKEND_ENGINE_DESCRIPTOR, {*d.engine},
                        requested, count, array);
  case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES: // emulated engines have no knobs
    return give(std::vector<void *>(), requested, count, array);
  case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
    return give<int64_t>({d.engine->number}, requested, count, array);
  case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
    return give(d.engine->numerics, requested, count, array);
  case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
    return give(d.engine->behaviors, requested, count, array);
  case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
    return give<int64_t>({int64_t(d.engine->workspace)}, requested, count,
                         array);
  default:
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "the emulation does not give attribute " +
               std::to_string(int(name)) + " of cuDNN's descriptors");
  }
}

// The pointer of a tensor of a graph.
void *operand(const GraphDescriptor &pack, const GraphConvolution &graph,
              int64_t id) {
  const auto ids = pack.all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto data = pack.all<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  const auto found = std::find(ids.begin(), ids.end(), id);
  if (found == ids.end() || ids.size() != data.size())
    refuse(CUDNN_STATUS_BAD_PARAM,
           "a variant pack has no pointer for tensor " + std::to_string(id));
  void *pointer = data[size_t(found - ids.begin())];
  if (reinterpret_cast<uintptr_t>(pointer) % uintptr_t(graph.alignment) != 0)
    refuse(CUDNN_STATUS_BAD_PARAM,
           "tensor " + std::to_string(id) + " is not at a multiple of the " +
               std::to_string(graph.alignment) + " bytes that it promises");
  return pointer;
}

// cuDNN takes no pointer of a tensor that the graph lacks.
void check_ids(const std::vector<GraphOperation> &operations,
               const std::vector<int64_t> &ids) {
  for (const int64_t id : ids) {
    const auto is_used = [&](const GraphOperation &operation) {
      return operation.x.id == id || operation.y.id == id ||
             (operation.b && operation.b->id == id) ||
             (operation.t && operation.t->id == id);
    };
    if (std::none_of(operations.begin(), operations.end(), is_used))
      refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
             "a variant pack has a pointer for tensor " + std::to_string(id) +
                 ", which the graph does not have");
  }
}

// Enqueues a graph of operations. Tensors by value are read now.
void execute_operations(cudnnHandle_t handle, const GraphDescriptor &plan,
                        const GraphDescriptor &pack) {
  const auto ids = pack.all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto data = pack.all<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  check_ids(*plan.operations, ids);
  GraphPointers pointers;
  for (size_t i = 0; i < std::min(ids.size(), data.size()); i++)
    pointers[ids[i]] = data[i];
  std::map<int64_t, float> values;
  for (const GraphOperation &operation : *plan.operations)
    if (operation.b && operation.b->is_value) {
      const auto found = pointers.find(operation.b->id);
      if (found == pointers.end())
        refuse(CUDNN_STATUS_BAD_PARAM,
               "a variant pack has no pointer for tensor " +
                   std::to_string(operation.b->id));
      values[operation.b->id] = *static_cast<const float *>(found->second);
    }
  const size_t bytes = plan.engine->workspace;
  void *workspace =
      bytes ? pack.one<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE) : nullptr;
  check_operands(*plan.operations, pointers, workspace, bytes);
  enqueue(
      stream_of(handle->stream),
      [operations = plan.operations, pointers, values, workspace, bytes] {
        Operands::spoil(workspace, bytes);
        compute(*operations, pointers, values);
      },
      library_kernel("cudnnBackendExecute"));
}

void execute(cudnnHandle_t handle, const GraphDescriptor &plan,
             const GraphDescriptor &pack) {
  if (plan.type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR || !plan.is_final ||
      pack.type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR || !pack.is_final)
    refuse(CUDNN_STATUS_BAD_PARAM,
           "cudnnBackendExecute expects a plan and a variant pack, finalized");
  if (plan.operations)
    return execute_operations(handle, plan, pack);
  const GraphConvolution &graph = *plan.graph;
  ConvolutionCall call{graph.convolution,
                       operand(pack, graph, graph.x),
                       operand(pack, graph, graph.w),
                       operand(pack, graph, graph.y),
                       graph.alpha,
                       graph.beta};
  if (graph.sums) {
    const auto floats = [&](int64_t id) {
      return static_cast<float *>(operand(pack, graph, id));
    };
    call.sum = floats(graph.sums->sum);
    call.sum_of_squares = floats(graph.sums->sum_of_squares);
  }
  call.convolution.is_deterministic = plan.engine->is_deterministic;
  const size_t bytes = plan.engine->workspace;
  void *workspace =
      bytes ? pack.one<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE) : nullptr;
  check_operands(call, "cudnnBackendExecute", workspace, bytes);
  enqueue(
      stream_of(handle->stream),
      [call, workspace, bytes] {
        Operands::spoil(workspace, bytes);
        compute(call);
      },
      library_kernel("cudnnBackendExecute"));
}

} // namespace

GraphDescriptor &graph_descriptor(const void *pointer) {
  if (!existing_descriptors().count(pointer))
    refuse(CUDNN_STATUS_BAD_PARAM,
           "a descriptor does not exist, or does not any more");
  return *static_cast<GraphDescriptor *>(const_cast<void *>(pointer));
}

} // namespace gpuopt::emulation

using namespace gpuopt::emulation;

cudnnStatus_t
cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                             cudnnBackendDescriptor_t *descriptor) {
  return call<Cudnn>([&] {
    if (!is_known(type))
      refuse(CUDNN_STATUS_NOT_SUPPORTED,
             "the emulation lacks cuDNN's descriptors of type " +
                 std::to_string(int(type)));
    auto *made = new GraphDescriptor;
    made->type = type;
    existing_descriptors().insert(made);
    *descriptor = made;
  });
}

cudnnStatus_t
cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  return call<Cudnn>([&] {
    delete &graph_descriptor(descriptor);
    existing_descriptors().erase(descriptor);
  });
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type,
                                       int64_t count, const void *array) {
  return call<Cudnn>([&] {
    GraphDescriptor &d = graph_descriptor(descriptor);
    if (d.is_final)
      refuse(CUDNN_STATUS_BAD_PARAM,
             "an attribute of a finalized descriptor is set");
    const char *bytes = static_cast<const char *>(array);
    d.attributes[name] = {
        type, count, {bytes, bytes + size_t(count) * size_of_attribute(type)}};
  });
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t,
                                       int64_t requested, int64_t *count,
                                       void *array) {
  return call<Cudnn>([&] {
    const GraphDescriptor &d = graph_descriptor(descriptor);
    if (!d.is_final)
      refuse(CUDNN_STATUS_BAD_PARAM,
             "a descriptor is read that is not finalized");
    give_attribute(d, name, requested, count, array);
  });
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  return call<Cudnn>([&] { finalize(graph_descriptor(descriptor)); });
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                  cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  return call<Cudnn>(
      [&] { execute(handle, graph_descriptor(plan), graph_descriptor(pack)); });
}
