// Graphs of operations by plain loops: each operation reads and writes dense
// arrays of floats. Virtual tensors of a narrower type are rounded to it.
#include "emulation/cudnn/graph_operations.h"

#include "emulation/libraries/elements.h"
#include "emulation/machine/fault.h"

#include <array>
#include <cmath>
#include <limits>

namespace gpuopt::emulation {
namespace {

using Index = std::array<int64_t, 4>;

class Loops {
public:
  Loops(const GraphPointers &pointers, const std::map<int64_t, float> &values)
      : pointers(pointers), values(values) {}

  void run(const GraphOperation &operation) {
    const Array x = read(operation.x);
    Array y(operation.y.layout);
    switch (operation.kind) {
    case GraphOperation::Kind::Product:
      multiply(x, read(*operation.b), y);
      break;
    case GraphOperation::Kind::Reduction:
      reduce(operation.reduction, x, y);
      break;
    case GraphOperation::Kind::Pointwise:
      compute(operation, x, y);
      break;
    }
    write(operation.y, y);
  }

private:
  // A dense array. Where it has one element, all indices mean that one.
  struct Array {
    explicit Array(const cudnnTensorStruct &layout)
        : layout(layout), numbers(size_t(layout.elements())) {}

    float &at(const Index &i) {
      size_t place = 0;
      for (size_t d = 0; d < 4; d++)
        place = place * size_t(layout.size[d]) +
                size_t(layout.size[d] == 1 ? 0 : i[d]);
      return numbers[place];
    }
    float at(const Index &i) const { return const_cast<Array *>(this)->at(i); }

    cudnnTensorStruct layout;
    std::vector<float> numbers;
  };

  template <class F>
  static void for_each(const cudnnTensorStruct &layout, const F &f) {
    Index i;
    for (i[0] = 0; i[0] < layout.size[0]; i[0]++)
      for (i[1] = 0; i[1] < layout.size[1]; i[1]++)
        for (i[2] = 0; i[2] < layout.size[2]; i[2]++)
          for (i[3] = 0; i[3] < layout.size[3]; i[3]++)
            f(i);
  }

  Array read(const GraphTensor &tensor) const {
    if (tensor.is_virtual) {
      const auto found = between.find(tensor.id);
      if (found == between.end())
        throw Fault("cudnnBackendExecute: virtual tensor " +
                    std::to_string(tensor.id) +
                    " is read before an operation writes it");
      return found->second;
    }
    Array array(tensor.layout);
    if (tensor.is_value) {
      array.numbers[0] = values.at(tensor.id);
      return array;
    }
    const cudaDataType_t type = element_type(tensor.layout.type);
    for_each(tensor.layout, [&](const Index &i) {
      array.at(i) =
          float(read_element(type, pointers.at(tensor.id),
                             tensor.layout.offset(i[0], i[1], i[2], i[3])));
    });
    return array;
  }

  void write(const GraphTensor &tensor, Array &array) {
    const cudnnDataType_t narrow = tensor.layout.type;
    if (tensor.is_virtual) {
      if (narrow == CUDNN_DATA_HALF || narrow == CUDNN_DATA_BFLOAT16)
        for (float &number : array.numbers) {
          uint16_t rounded;
          write_element(element_type(narrow), &rounded, 0, double(number));
          number = float(read_element(element_type(narrow), &rounded, 0));
        }
      between.insert_or_assign(tensor.id, std::move(array));
      return;
    }
    for_each(tensor.layout, [&](const Index &i) {
      write_element(element_type(narrow), pointers.at(tensor.id),
                    tensor.layout.offset(i[0], i[1], i[2], i[3]),
                    double(array.at(i)));
    });
  }

  // A head of b may serve a group of heads.
  static void multiply(const Array &a, const Array &b, Array &c) {
    const int64_t group = c.layout.size[1] / b.layout.size[1];
    for_each(c.layout, [&](const Index &i) {
      float sum = 0;
      for (int64_t k = 0; k < a.layout.size[3]; k++)
        sum +=
            a.at({i[0], i[1], i[2], k}) * b.at({i[0], i[1] / group, k, i[3]});
      c.at(i) = sum;
    });
  }

  static void reduce(cudnnReduceTensorOp_t reduction, const Array &x,
                     Array &y) {
    const bool is_sum = reduction == CUDNN_REDUCE_TENSOR_ADD;
    for (float &number : y.numbers)
      number = is_sum ? 0 : -std::numeric_limits<float>::infinity();
    for_each(x.layout, [&](const Index &i) {
      float &to = y.at(i);
      to = is_sum ? to + x.at(i) : std::fmax(to, x.at(i));
    });
  }

  void compute(const GraphOperation &operation, const Array &x,
               Array &y) const {
    const std::optional<Array> b = read_if(operation.b),
                               t = read_if(operation.t);
    for_each(y.layout, [&](const Index &i) {
      const float left = x.at(i), right = b ? b->at(i) : 0;
      const bool is_true = t && t->at(i) != 0;
      y.at(i) = result_of(operation, left, right, is_true, i);
    });
  }
  std::optional<Array> read_if(const std::optional<GraphTensor> &tensor) const {
    return tensor ? std::optional<Array>(read(*tensor)) : std::nullopt;
  }

  static float result_of(const GraphOperation &operation, float x, float b,
                         bool t, const Index &i) {
    switch (operation.mode) {
    case CUDNN_POINTWISE_ADD:
      return x + b;
    case CUDNN_POINTWISE_SUB:
      return x - b;
    case CUDNN_POINTWISE_MUL:
      return x * b;
    case CUDNN_POINTWISE_DIV:
      return x / b;
    case CUDNN_POINTWISE_EXP:
      return std::exp(x);
    case CUDNN_POINTWISE_LOG:
      return std::log(x);
    case CUDNN_POINTWISE_CMP_GE:
      return x >= b;
    case CUDNN_POINTWISE_BINARY_SELECT:
      return t ? x : b;
    default: // CUDNN_POINTWISE_GEN_INDEX
      return float(i[size_t(operation.axis)]);
    }
  }

  const GraphPointers &pointers;
  const std::map<int64_t, float> &values;
  std::map<int64_t, Array> between; // the virtual tensors
};

} // namespace

void compute(const GraphOperations &operations, const GraphPointers &pointers,
             const std::map<int64_t, float> &values) {
  Loops loops(pointers, values);
  for (const GraphOperation &operation : operations)
    loops.run(operation);
}

} // namespace gpuopt::emulation
