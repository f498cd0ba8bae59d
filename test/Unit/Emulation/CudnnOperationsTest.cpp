// Graphs of products, pointwise operations and reductions on the emulated
// cuDNN: what it refuses. AttentionLibraryTest.cpp has what it computes.
#include "Machine.h"

#include "gpuopt/ops/cudnn_plan.h"

namespace {

using namespace gpuopt;

using Sizes = std::vector<int64_t>;

// A dense tensor of four dimensions.
CudnnDescriptor tensor(int64_t id, const Sizes &sizes, bool is_virtual = true,
                       cudnnDataType_t type = CUDNN_DATA_FLOAT) {
  Sizes strides(4);
  int64_t stride = 1;
  for (size_t d = 4; d-- > 0; stride *= sizes[d])
    strides[d] = stride;
  CudnnDescriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t(16))
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, sizes)
      .set(CUDNN_ATTR_TENSOR_STRIDES, strides)
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
  return made.finalize();
}

CudnnDescriptor product(const CudnnDescriptor &a, const CudnnDescriptor &b,
                        const CudnnDescriptor &c,
                        cudnnDataType_t type = CUDNN_DATA_FLOAT) {
  CudnnDescriptor how(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, type).finalize();
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a)
      .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b)
      .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c)
      .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
  return operation.finalize();
}

CudnnDescriptor pointwise(cudnnPointwiseMode_t mode, const CudnnDescriptor &x,
                          const CudnnDescriptor *b, const CudnnDescriptor &y) {
  CudnnDescriptor how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT)
      .finalize();
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  if (b)
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
  return operation.finalize();
}

CudnnDescriptor reduction(cudnnReduceTensorOp_t mode, const CudnnDescriptor &x,
                          const CudnnDescriptor &y) {
  CudnnDescriptor how(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  how.set(CUDNN_ATTR_REDUCTION_OPERATOR, mode)
      .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT)
      .finalize();
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x)
      .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y)
      .set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, how);
  return operation.finalize();
}

struct CudnnOperationsTest : Emulation {
  CudnnOperationsTest() { cudnnCreate(&handle); }
  ~CudnnOperationsTest() override { cudnnDestroy(handle); }

  CudnnPlanResult plan(const std::vector<CudnnDescriptor> &operations) {
    EngineRules rules;
    rules.may_be_compiled_at_run_time = true;
    const PlanDevice device(handle);
    return plan_graph(device, rules, [&] {
      return detail::operation_graph_of(operations, device);
    });
  }
  template <class F>
  static void expect_error(const std::string &text, F f) {
    const std::string error = error_of(f);
    EXPECT_TRUE(contains(error, text)) << error;
  }

  cudnnHandle_t handle = nullptr;
};

TEST_F(CudnnOperationsTest, ChecksSizes) {
  const CudnnDescriptor wide = tensor(1, {1, 1, 4, 8}),
                        square = tensor(2, {1, 1, 8, 8}),
                        row = tensor(3, {1, 1, 4, 1});
  expect_error("the sizes of a product do not fit: [1, 1, 4, 8] times [1, 1, "
               "4, 8] gives [1, 1, 8, 8]",
               [&] { product(wide, wide, square); });
  expect_error("an operand of a pointwise operation does not fit its result, "
               "[1, 1, 8, 8]",
               [&] { pointwise(CUDNN_POINTWISE_ADD, wide, &wide, square); });
  expect_error("the result of a reduction, [1, 1, 8, 8], does not fit its "
               "operand, [1, 1, 4, 8]",
               [&] { reduction(CUDNN_REDUCE_TENSOR_ADD, wide, square); });
  product(wide, square, wide);
  pointwise(CUDNN_POINTWISE_SUB, wide, &row, wide);
  reduction(CUDNN_REDUCE_TENSOR_MAX, wide, row);
}

TEST_F(CudnnOperationsTest, ChecksWhatIsComputed) {
  const CudnnDescriptor x = tensor(1, {1, 1, 8, 8}),
                        y = tensor(2, {1, 1, 8, 8});
  expect_error(
      "the emulation computes products and reductions of graphs in float",
      [&] { product(x, x, y, CUDNN_DATA_HALF); });
  expect_error("the emulation lacks pointwise operations of mode 12",
               [&] { pointwise(CUDNN_POINTWISE_COS, x, nullptr, y); });
  const std::string operands =
      "a pointwise operation has too few operands, or too many";
  expect_error(operands,
               [&] { pointwise(CUDNN_POINTWISE_ADD, x, nullptr, y); });
  expect_error(operands, [&] { pointwise(CUDNN_POINTWISE_EXP, x, &x, y); });
  expect_error(operands,
               [&] { pointwise(CUDNN_POINTWISE_BINARY_SELECT, x, &x, y); });
  expect_error("the emulation has reductions to a sum and to the largest",
               [&] { reduction(CUDNN_REDUCE_TENSOR_MIN, x, y); });
  expect_error("the emulation lacks tensors by value that are no floats", [] {
    CudnnDescriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, int64_t(1))
        .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_HALF)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t(16))
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, Sizes{1, 1, 1, 1})
        .set(CUDNN_ATTR_TENSOR_STRIDES, Sizes{1, 1, 1, 1})
        .set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true)
        .finalize();
  });
}

TEST_F(CudnnOperationsTest, HasEnginesForAttentionAlone) {
  const CudnnDescriptor x = tensor(1, {1, 1, 8, 8}, false),
                        y = tensor(2, {1, 1, 8, 8}, false);
  EXPECT_TRUE(plan({product(x, x, y)}).plan);
  EXPECT_EQ(plan({pointwise(CUDNN_POINTWISE_EXP, x, nullptr, y)}).reason,
            "cuDNN proposes no engine");
  EXPECT_EQ(last_cudnn_message(),
            "a graph of operations is no attention: it does not begin and end "
            "with a product");
  const CudnnDescriptor odd = tensor(3, {1, 1, 8, 12}, false, CUDNN_DATA_HALF);
  EXPECT_FALSE(plan({product(x, odd, tensor(4, {1, 1, 8, 12}, false))}).plan);
  EXPECT_EQ(last_cudnn_message(),
            "a tensor of attention cannot be read by 16 bytes");
}

TEST_F(CudnnOperationsTest, ChecksWhatItIsGiven) {
  const CudnnDescriptor a = tensor(1, {1, 1, 8, 8}, false),
                        b = tensor(2, {1, 1, 8, 8}, false),
                        c = tensor(3, {1, 1, 8, 8}, false);
  const CudnnPlan plan = *this->plan({product(a, b, c)}).plan;
  const OnDevice<float> x(64 + 1), y(64);
  const auto error = [&](const void *left, const void *result) {
    return error_of([&] {
      CudnnOperands operands;
      operands.add(1, left);
      operands.add(2, x.data);
      if (result)
        operands.add(3, result);
      plan.execute(handle, operands, nullptr);
    });
  };
  EXPECT_EQ(error(x.data, y.data), "");
  EXPECT_EQ(error_of_work(), "");
  EXPECT_TRUE(contains(
      error(x.data + 1, y.data),
      "tensor 1 is not at a multiple of the 16 bytes that it promises"));
  EXPECT_TRUE(contains(error(x.data, nullptr),
                       "a variant pack has no pointer for tensor 3"));
  CudnnOperands more;
  for (int64_t id : {1, 2, 3, 4})
    more.add(id, id == 3 ? y.data : x.data);
  expect_error(
      "a variant pack has a pointer for tensor 4, which the graph does "
      "not have",
      [&] { plan.execute(handle, more, nullptr); });
  EXPECT_TRUE(contains(error(x.data, x.data), "overlaps"));
}

// Tensors by value are read when the graph is executed.
TEST_F(CudnnOperationsTest, TakesValuesFromTheHost) {
  const CudnnDescriptor a = tensor(1, {1, 1, 8, 8}, false),
                        between = tensor(2, {1, 1, 8, 8}),
                        c = tensor(3, {1, 1, 8, 8}, false);
  CudnnDescriptor value(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  value.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, int64_t(4))
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t(16))
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, Sizes{1, 1, 1, 1})
      .set(CUDNN_ATTR_TENSOR_STRIDES, Sizes{1, 1, 1, 1})
      .set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true)
      .finalize();
  const CudnnDescriptor scaled = tensor(5, {1, 1, 8, 8});
  const CudnnPlan plan =
      *this->plan({product(a, a, between),
                   pointwise(CUDNN_POINTWISE_MUL, between, &value, scaled),
                   product(scaled, a, c)})
           .plan;
  std::vector<float> identity(64);
  for (size_t i = 0; i < 8; i++)
    identity[9 * i] = 1;
  const OnDevice<float> x(identity), y(64);
  CudnnOperands operands;
  operands.add(1, x.data);
  operands.add(3, y.data);
  expect_error("a variant pack has no pointer for tensor 4",
               [&] { plan.execute(handle, operands, nullptr); });
  float number = 3;
  operands.add(4, &number);
  plan.execute(handle, operands, nullptr);
  number = 5;
  EXPECT_EQ(y.values().at(9), 3);
  EXPECT_EQ(y.values().at(1), 0);
}

TEST_F(CudnnOperationsTest, OperationsComeInTheirOrder) {
  const CudnnDescriptor a = tensor(1, {1, 1, 8, 8}, false),
                        between = tensor(2, {1, 1, 8, 8}),
                        c = tensor(3, {1, 1, 8, 8}, false);
  const CudnnPlan plan =
      *this->plan({product(a, between, c), product(a, a, between)}).plan;
  const OnDevice<float> x(64), y(64);
  CudnnOperands operands;
  operands.add(1, x.data);
  operands.add(3, y.data);
  plan.execute(handle, operands, nullptr);
  EXPECT_TRUE(contains(error_of_work(),
                       "cudnnBackendExecute: virtual tensor 2 is read before "
                       "an operation writes it"));
}

} // namespace
