// What the descriptors of products, pointwise operations and reductions mean,
// and which of their graphs have engines.
#include "emulation/cudnn/graph_operations.h"

#include "emulation/cudnn/graph_descriptor.h"
#include "emulation/libraries/elements.h"
#include "emulation/libraries/operands.h"

#include <algorithm>

namespace gpuopt::emulation {

size_t GraphTensor::extent() const {
  int64_t last = 0;
  for (int d = 0; d < 4; d++)
    last += (layout.size[d] - 1) * layout.stride[d];
  return size_t(last + 1) * size_of(element_type(layout.type));
}

// ---- Descriptors -----------------------------------------------------------

static GraphTensor tensor_of(const GraphDescriptor &d,
                             cudnnBackendAttributeName_t name) {
  const GraphDescriptor &part = d.part(name, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  return {part.tensor_id, part.tensor_alignment, part.tensor, part.is_virtual,
          part.is_value};
}

static std::optional<GraphTensor>
optional_tensor_of(const GraphDescriptor &d, cudnnBackendAttributeName_t name) {
  if (!d.attributes.count(name))
    return std::nullopt;
  return tensor_of(d, name);
}

static void expect_floats(const GraphDescriptor &d,
                          cudnnBackendAttributeName_t name) {
  if (d.one<cudnnDataType_t>(name) != CUDNN_DATA_FLOAT)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "the emulation computes products and reductions of graphs in float");
}

static GraphOperation product_of(const GraphDescriptor &d) {
  expect_floats(
      d.part(CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_BACKEND_MATMUL_DESCRIPTOR),
      CUDNN_ATTR_MATMUL_COMP_TYPE);
  GraphOperation product;
  product.kind = GraphOperation::Kind::Product;
  product.x = tensor_of(d, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
  product.b = tensor_of(d, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
  product.y = tensor_of(d, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
  const cudnnTensorStruct &a = product.x.layout, &b = product.b->layout,
                          &c = product.y.layout;
  if (a.size[3] != b.size[2] || c.size[2] != a.size[2] ||
      c.size[3] != b.size[3] || a.size[0] != c.size[0] ||
      b.size[0] != c.size[0] || a.size[1] != c.size[1] ||
      c.size[1] % b.size[1] != 0)
    refuse(CUDNN_STATUS_BAD_PARAM,
           "the sizes of a product do not fit: " + text_of(a) + " times " +
               text_of(b) + " gives " + text_of(c));
  return product;
}

static bool is_known(cudnnPointwiseMode_t mode) {
  constexpr cudnnPointwiseMode_t kKnown[] = {
      CUDNN_POINTWISE_ADD,          CUDNN_POINTWISE_SUB,
      CUDNN_POINTWISE_MUL,          CUDNN_POINTWISE_DIV,
      CUDNN_POINTWISE_EXP,          CUDNN_POINTWISE_LOG,
      CUDNN_POINTWISE_GEN_INDEX,    CUDNN_POINTWISE_CMP_GE,
      CUDNN_POINTWISE_BINARY_SELECT};
  return std::find(std::begin(kKnown), std::end(kKnown), mode) !=
         std::end(kKnown);
}

// Whether a tensor has y's size, or one element in some of its dimensions.
static bool fits(const GraphTensor &tensor, const GraphTensor &y) {
  for (int d = 0; d < 4; d++)
    if (tensor.layout.size[d] != 1 && tensor.layout.size[d] != y.layout.size[d])
      return false;
  return true;
}

static GraphOperation pointwise_of(const GraphDescriptor &d) {
  const GraphDescriptor &how =
      d.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
             CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  GraphOperation operation;
  operation.kind = GraphOperation::Kind::Pointwise;
  operation.mode = how.one<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
  if (!is_known(operation.mode))
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "the emulation lacks pointwise operations of mode " +
               std::to_string(int(operation.mode)));
  if (operation.mode == CUDNN_POINTWISE_GEN_INDEX)
    operation.axis = how.one<int64_t>(CUDNN_ATTR_POINTWISE_AXIS);
  operation.x = tensor_of(d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
  operation.y = tensor_of(d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  operation.b = optional_tensor_of(d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  operation.t = optional_tensor_of(d, CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
  const bool is_select = operation.mode == CUDNN_POINTWISE_BINARY_SELECT;
  const bool is_unary = operation.mode == CUDNN_POINTWISE_EXP ||
                        operation.mode == CUDNN_POINTWISE_LOG ||
                        operation.mode == CUDNN_POINTWISE_GEN_INDEX;
  if (operation.b.has_value() == is_unary ||
      operation.t.has_value() != is_select)
    refuse(CUDNN_STATUS_BAD_PARAM,
           "a pointwise operation has too few operands, or too many");
  if (!fits(operation.x, operation.y) ||
      (operation.b && !fits(*operation.b, operation.y)) ||
      (operation.t && !fits(*operation.t, operation.y)))
    refuse(CUDNN_STATUS_BAD_PARAM,
           "an operand of a pointwise operation does not fit its result, " +
               text_of(operation.y.layout));
  return operation;
}

static GraphOperation reduction_of(const GraphDescriptor &d) {
  const GraphDescriptor &how = d.part(CUDNN_ATTR_OPERATION_REDUCTION_DESC,
                                      CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  expect_floats(how, CUDNN_ATTR_REDUCTION_COMP_TYPE);
  GraphOperation operation;
  operation.kind = GraphOperation::Kind::Reduction;
  operation.reduction =
      how.one<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR);
  if (operation.reduction != CUDNN_REDUCE_TENSOR_ADD &&
      operation.reduction != CUDNN_REDUCE_TENSOR_MAX)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "the emulation has reductions to a sum and to the largest");
  operation.x = tensor_of(d, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
  operation.y = tensor_of(d, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
  if (!fits(operation.y, operation.x))
    refuse(CUDNN_STATUS_BAD_PARAM,
           "the result of a reduction, " + text_of(operation.y.layout) +
               ", does not fit its operand, " + text_of(operation.x.layout));
  return operation;
}

std::optional<GraphOperation> operation_of(const GraphDescriptor &d) {
  switch (d.type) {
  case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
    return product_of(d);
  case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    return pointwise_of(d);
  case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
    return reduction_of(d);
  default:
    return std::nullopt;
  }
}

// ---- Engines ---------------------------------------------------------------

// Calls f with each tensor of a graph, and whether it is a result.
template <class F>
static void for_each_tensor(const GraphOperations &operations, const F &f) {
  for (const GraphOperation &operation : operations) {
    f(operation.x, false);
    for (const auto &operand : {operation.b, operation.t})
      if (operand)
        f(*operand, false);
    f(operation.y, true);
  }
}

// cuDNN's kernels copy 16 bytes at a time.
static bool has_vectors(const GraphTensor &tensor) {
  constexpr int64_t kHalves = 8;
  for (int d = 0; d < 4; d++) {
    const int64_t size = tensor.layout.size[d],
                  stride = tensor.layout.stride[d];
    if (size > 1 && (stride == 1 ? size : stride) % kHalves != 0)
      return false;
  }
  return true;
}

const char *reason_against(const GraphOperations &operations) {
  const char *reason = nullptr;
  if (operations.front().kind != GraphOperation::Kind::Product ||
      operations.back().kind != GraphOperation::Kind::Product)
    reason = "a graph of operations is no attention: it does not begin and end "
             "with a product";
  for_each_tensor(operations, [&](const GraphTensor &tensor, bool) {
    const bool is_half = tensor.layout.type == CUDNN_DATA_HALF ||
                         tensor.layout.type == CUDNN_DATA_BFLOAT16;
    if (tensor.is_in_memory() && is_half && !has_vectors(tensor))
      reason = "a tensor of attention cannot be read by 16 bytes";
  });
  return reason;
}

void check_operands(const GraphOperations &operations,
                    const GraphPointers &pointers, void *workspace,
                    size_t bytes) {
  Operands operands("cudnnBackendExecute");
  for_each_tensor(operations, [&](const GraphTensor &tensor, bool is_result) {
    if (!tensor.is_in_memory())
      return;
    const auto found = pointers.find(tensor.id);
    const std::string name = "tensor " + std::to_string(tensor.id);
    if (found == pointers.end())
      refuse(CUDNN_STATUS_BAD_PARAM,
             "a variant pack has no pointer for " + name);
    if (reinterpret_cast<uintptr_t>(found->second) %
            uintptr_t(tensor.alignment) !=
        0)
      refuse(CUDNN_STATUS_BAD_PARAM, name + " is not at a multiple of the " +
                                         std::to_string(tensor.alignment) +
                                         " bytes that it promises");
    if (is_result)
      operands.writes(name, found->second, tensor.extent());
    else
      operands.reads(name, found->second, tensor.extent());
  });
  operands.writes("the workspace", workspace, bytes);
}

} // namespace gpuopt::emulation
