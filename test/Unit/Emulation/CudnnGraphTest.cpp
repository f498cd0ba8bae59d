// What the emulated cuDNN refuses in descriptors of its graph interface.
#include "Machine.h"

#include "emulation/cudart/device.h"
#include "gpuopt/ops/conv_plan_cuda.h"

namespace {

using namespace gpuopt;

struct CudnnGraphTest : Emulation {
  CudnnGraphTest() { cudnnCreate(&handle); }
  ~CudnnGraphTest() override { cudnnDestroy(handle); }

  static CudnnDescriptor tensor(const std::vector<int64_t> &sizes,
                                const std::vector<int64_t> &strides) {
    CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, int64_t(1))
        .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t(16))
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, sizes)
        .set(CUDNN_ATTR_TENSOR_STRIDES, strides);
    return tensor;
  }
  static ConvGraph graph() {
    ConvGraph graph{{}, kConvForward, CUDNN_DATA_FLOAT, 0, 16};
    ConvShape &s = graph.shape;
    s.n = s.h = s.w = s.oh = s.ow = s.c = s.oc = s.kh = s.kw = 1;
    return graph;
  }
  template <class F>
  static void expect_error(const std::string &text, F f) {
    const std::string error = error_of(f);
    EXPECT_TRUE(contains(error, text)) << error;
  }

  cudnnHandle_t handle = nullptr;
};

TEST_F(CudnnGraphTest, DescriptorsAreSetThenFinalizedThenRead) {
  CudnnDescriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  expect_error("a descriptor of type 17 is finalized without its attribute 902",
               [&] { d.finalize(); });
  expect_error("a descriptor is read that is not finalized",
               [&] { d.get<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID); });
  CudnnDescriptor whole = tensor({1, 1, 1, 1}, {1, 1, 1, 1});
  whole.finalize();
  expect_error("an attribute of a finalized descriptor is set",
               [&] { whole.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, int64_t(2)); });
  expect_error(
      "the emulation does not give attribute 906 of cuDNN's descriptors",
      [&] { whole.get<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID); });
  expect_error("the emulation lacks cuDNN's descriptors of type 32",
               [] { CudnnDescriptor{CUDNN_BACKEND_RNG_DESCRIPTOR}; });
  cudnnBackendDescriptor_t gone;
  cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &gone);
  cudnnBackendDestroyDescriptor(gone);
  EXPECT_EQ(cudnnBackendFinalize(gone), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(last_cudnn_message(),
            "a descriptor does not exist, or does not any more");
}

TEST_F(CudnnGraphTest, TensorsHaveFourDimensions) {
  expect_error("the emulation lacks tensors that have not four dimensions",
               [] { tensor({1, 1}, {1, 1}).finalize(); });
  expect_error("a dimension or a stride of a tensor is not positive",
               [] { tensor({1, 1, 1, 1}, {1, 1, 1, 0}).finalize(); });
}

TEST_F(CudnnGraphTest, ConvolutionsHaveTwoDimensions) {
  CudnnDescriptor d(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  d.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t(3));
  expect_error("the emulation lacks convolutions that have not two dimensions",
               [&] { d.finalize(); });
  d.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t(2))
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, int64_t(1));
  expect_error("attribute 105 has not two values of at least 0",
               [&] { d.finalize(); });
}

TEST_F(CudnnGraphTest, OperationsTakeFinalizedTensors) {
  CudnnDescriptor open = tensor({1, 1, 1, 1}, {1, 1, 1, 1});
  CudnnDescriptor d(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  d.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, open);
  expect_error("attribute 704 is a descriptor of type 17 that is not "
               "finalized; expected is type 17",
               [&] { d.finalize(); });
  CudnnDescriptor operations(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  operations.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, open);
  expect_error(
      "the emulation lacks graphs of anything but one convolution, and "
      "the sums of its result",
      [&] { operations.finalize(); });
}

TEST_F(CudnnGraphTest, SumsAreThoseOfAConvolution) {
  ConvGraph convolution = graph();
  const auto part = [&](int64_t name, int64_t channels, int64_t width) {
    return detail::conv_tensor(convolution, name, 1, channels, 1, width);
  };
  const auto sums_of = [](const CudnnDescriptor &x,
                          const CudnnDescriptor &sum) {
    CudnnDescriptor sums(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR);
    sums.set(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_GENSTATS_SUM_SQSUM)
        .set(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, sum)
        .set(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, sum);
    return sums;
  };
  expect_error("the sums of the channels of [1, 2, 1, 5] are floats of size "
               "[1, 2, 1, 1], but the tensor for them is [1, 2, 1, 5]",
               [&] { sums_of(part('y', 2, 5), part('s', 2, 5)).finalize(); });
  const CudnnDescriptor y = part('y', 1, 1);
  CudnnDescriptor operations(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  operations.set(CUDNN_ATTR_OPERATIONGRAPH_OPS,
                 std::vector<CudnnDescriptor>{
                     detail::conv_operation(convolution, y),
                     sums_of(part('z', 1, 1), part('s', 1, 1)).finalize()});
  expect_error("the emulation lacks the sums of a tensor that is not y of a "
               "convolution",
               [&] { operations.finalize(); });
  CudnnDescriptor in_double = sums_of(y, part('s', 1, 1));
  in_double.set(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_DATA_DOUBLE);
  expect_error("statistics are sums and sums of squares, in float",
               [&] { in_double.finalize(); });
}

// What goes wrong is not taken for a graph that cuDNN cannot compute.
TEST_F(CudnnGraphTest, OnlyRefusalsMeanThatThereIsNoPlan) {
  emulation::device().machine.engine_failure =
      CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
  expect_error("the emulated heuristic was told to fail",
               [&] { plan_convolution(PlanDevice(handle), graph(), 1 << 20); });
  emulation::device().machine.engine_failure = CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  EXPECT_FALSE(plan_convolution(PlanDevice(handle), graph(), 1 << 20).plan);
  emulation::device().machine.engine_failure = CUDNN_STATUS_SUCCESS;
  EXPECT_TRUE(plan_convolution(PlanDevice(handle), graph(), 1 << 20).plan);
}

TEST_F(CudnnGraphTest, EnginesAreReadAsConfigurations) {
  CudnnDescriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic
      .set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
           detail::operation_graph_of(graph(), PlanDevice(cudnnHandle_t())))
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  expect_error("the emulation plans graphs for the GPU of a handle alone",
               [&] { heuristic.finalize(); });
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                detail::operation_graph_of(graph(), PlanDevice(handle)));
  emulation::device().machine.has_engines = false;
  expect_error("cuDNN has no engine for a graph",
               [&] { heuristic.finalize(); });
  emulation::device().machine.has_engines = true;
  heuristic.finalize();
  expect_error("engines are read into descriptors of another type", [&] {
    heuristic.get_descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                              CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  });
}

TEST_F(CudnnGraphTest, PlansNeedAPointerForEachTensor) {
  const PlanDevice device(handle);
  const auto engines =
      detail::propose_engines(detail::operation_graph_of(graph(), device),
                              device, CUDNN_HEUR_MODE_FALLBACK);
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engines.at(0)).finalize();
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  EXPECT_NE(cudnnBackendExecute(handle, plan.get(), pack.get()),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(last_cudnn_message(),
            "cudnnBackendExecute expects a plan and a variant pack, finalized");
  OnDevice<float> x(1);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, int64_t('y'))
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, static_cast<void *>(x.data))
      .finalize();
  EXPECT_NE(cudnnBackendExecute(handle, plan.get(), pack.get()),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(last_cudnn_message(),
            "a variant pack has no pointer for tensor 120");
}

} // namespace
