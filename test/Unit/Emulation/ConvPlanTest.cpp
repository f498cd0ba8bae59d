// Plans of convolutions on the emulated cuDNN, whose heuristic proposes engines
// that a careful caller leaves: 1 is not deterministic, 2 is compiled when it
// is needed, 3 adds in half precision, 4 (for floats) rounds to TF32, 5 needs
// more workspace than there is, and 8 (for sums) is not deterministic without
// saying so. 6 needs 16 KiB, and 9 (not for sums) and 7, the fallback's,
// nothing.
#include "Machine.h"

#include "emulation/cudart/device.h"
#include "gpuopt/ops/conv_plan_cuda.h"

namespace {

using namespace gpuopt;

struct ConvPlanTest : Emulation {
  ConvPlanTest() { cudnnCreate(&handle); }
  ~ConvPlanTest() override { cudnnDestroy(handle); }

  static ConvGraph graph_of(cudnnDataType_t type, bool allows_tf32 = false) {
    ConvGraph graph{{}, kConvForward, type, allows_tf32, 16};
    ConvShape &s = graph.shape;
    s.n = 1, s.h = s.w = s.oh = s.ow = 4;
    s.c = s.oc = 8, s.kh = s.kw = 1;
    return graph;
  }
  CudnnPlanResult plan(const ConvGraph &graph, int64_t room = 64 << 10) {
    return plan_convolution(PlanDevice(handle), graph, room);
  }

  cudnnHandle_t handle = nullptr;
};

TEST_F(ConvPlanTest, LeavesEnginesThatMayNotBeTaken) {
  EXPECT_EQ(plan(graph_of(CUDNN_DATA_HALF)).plan->engine(), 6);
  EXPECT_EQ(plan(graph_of(CUDNN_DATA_DOUBLE)).plan->engine(), 6);
  EXPECT_EQ(plan(graph_of(CUDNN_DATA_FLOAT)).plan->engine(), 6);
  EXPECT_EQ(plan(graph_of(CUDNN_DATA_FLOAT, true)).plan->engine(), 4);
}

TEST_F(ConvPlanTest, LeavesEnginesForSumsThatSayNothing) {
  ConvGraph graph = graph_of(CUDNN_DATA_HALF);
  graph.adds_sums = 1;
  EXPECT_EQ(plan(graph).plan->engine(), 6);
  // The fallback's has no notes either.
  const CudnnPlanResult none = plan(graph, (16 << 10) - 1);
  EXPECT_FALSE(none.plan);
  EXPECT_EQ(none.reason,
            "an engine does not say whether it always gives the same bits");
}

TEST_F(ConvPlanTest, KeepsToTheWorkspace) {
  const ConvGraph graph = graph_of(CUDNN_DATA_HALF);
  EXPECT_EQ(plan(graph, 16 << 10).plan->workspace_bytes(), 16 << 10);
  const CudnnPlanResult smaller = plan(graph, (16 << 10) - 1);
  EXPECT_EQ(smaller.plan->engine(), 9);
  EXPECT_EQ(smaller.plan->workspace_bytes(), 0);
  const CudnnPlanResult none = plan(graph, -1);
  EXPECT_FALSE(none.plan);
  EXPECT_EQ(none.reason, "an engine needs a workspace of 0 B");
}

TEST_F(ConvPlanTest, SaysWhyThereIsNone) {
  ConvGraph graph = graph_of(CUDNN_DATA_HALF);
  graph.shape.oh = 5;
  EXPECT_TRUE(contains(plan(graph).reason, "y of a convolution is"));
  emulation::device().machine.has_engines = false;
  EXPECT_EQ(plan(graph_of(CUDNN_DATA_HALF)).reason, "cuDNN proposes no engine");
  emulation::device().machine.has_engines = true;
}

TEST_F(ConvPlanTest, FindsPlansByTheirNames) {
  const ConvGraph graph = graph_of(CUDNN_DATA_HALF);
  const PlanDevice device(handle);
  std::vector<std::string> names;
  for (const CudnnPlan &plan :
       plans_of_convolution(device, graph, 64 << 10, kTimedPlans).plans)
    names.push_back(plan.name());
  EXPECT_EQ(names, (std::vector<std::string>{"engine 6", "engine 9"}));
  EXPECT_EQ(plans_of_convolution(device, graph, 64 << 10, 1).plans.size(), 1u);
  const auto find = [&](const char *name) {
    return find_convolution_plan(device, graph, 64 << 10, name);
  };
  EXPECT_EQ(find("engine 7").plan->engine(), 7);
  EXPECT_EQ(find("engine 3").reason, "an engine adds in half precision");
  EXPECT_EQ(find("engine 10").reason, "cuDNN does not propose 'engine 10'");
}

// A plan outlives what it was made from.
TEST_F(ConvPlanTest, ChecksWhatItIsGiven) {
  const CudnnPlan plan = *this->plan(graph_of(CUDNN_DATA_FLOAT)).plan;
  OnDevice<float> x(128 + 1), w(64), y(128), workspace(16 << 10);
  execute_convolution(plan, handle, {x.data, w.data, y.data}, workspace.data);
  EXPECT_EQ(error_of_work(), "");
  const auto error = [&](const void *input, const void *scratch) {
    return error_of([&] {
      execute_convolution(plan, handle, {input, w.data, y.data},
                          const_cast<void *>(scratch));
    });
  };
  EXPECT_TRUE(contains(
      error(x.data + 1, workspace.data),
      "tensor 120 is not at a multiple of the 16 bytes that it promises"));
  EXPECT_TRUE(contains(error(y.data, workspace.data), "overlap"));
  EXPECT_TRUE(contains(error(x.data, x.data), "overlap"));
}

} // namespace
