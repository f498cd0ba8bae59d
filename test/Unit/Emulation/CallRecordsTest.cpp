// Calls of a step as CUPTI's records tell them, in the real layout of these.
#include "Machine.h"

#include "gpuopt/device/call_records.h"
#include "gpuopt/device/call_timing.h"

#ifdef EMULATED_CUPTI
#include <dlfcn.h>

#include <cstdlib>

namespace {

using gpuopt::CallRecords;
using gpuopt::DeviceWork;
using gpuopt::TimedCall;
using gpuopt::WorkKind;

__global__ void add_one(float *p) { *p += 1; }

// Once loaded, it is what CUPTI's name stands for in this process.
bool load_emulated_cupti() { return dlopen(EMULATED_CUPTI, RTLD_NOW); }

struct CallRecordsTest : Emulation {
  void SetUp() override {
    Emulation::SetUp();
    ASSERT_TRUE(load_emulated_cupti()) << dlerror();
  }
  // Runs a function of three calls: two kernels, none, and a fill and a copy.
  std::vector<TimedCall> run_three_calls(CallRecords &records) {
    records.begin_function();
    {
      const gpuopt::ObserverScope scope(ctx, records);
      const gpuopt::Calls calls{ctx};
      gpuopt::Context &first = calls;
      gpuopt::launch(first, 3, 64, add_one, value.data);
      gpuopt::launch(first, 1, 32, add_one, value.data);
      [[maybe_unused]] gpuopt::Context &second = calls;
      gpuopt::Context &third = calls;
      gpuopt::set_zero(third, value.data, 4);
      gpuopt::copy(third, value.data + 1, value.data, 4);
    }
    records.end_function();
    std::vector<std::vector<TimedCall>> functions = records.take();
    EXPECT_EQ(functions.size(), 1u);
    return functions.empty() ? std::vector<TimedCall>() : functions[0];
  }

  gpuopt::Context ctx;
  OnDevice<float> value{2};
};

TEST_F(CallRecordsTest, EachCallHasItsWork) {
  CallRecords records;
  ASSERT_TRUE(records.begin()) << records.why_not();
  for (int step = 0; step < 3; step++) {
    const std::vector<TimedCall> calls = run_three_calls(records);
    ASSERT_EQ(calls.size(), 3u);
    ASSERT_EQ(calls[0].work.size(), 2u);
    const DeviceWork &kernel = calls[0].work[0];
    EXPECT_EQ(kernel.kind, WorkKind::Kernel);
    EXPECT_EQ(kernel.name, "kernel(float*)");
    EXPECT_EQ(kernel.grid[0], 3);
    EXPECT_EQ(kernel.block[0], 64);
    EXPECT_EQ(kernel.function, "cudaLaunchKernelExC");
    EXPECT_EQ(kernel.thread, gettid());
    EXPECT_EQ(calls[0].work[1].block[0], 32);
    EXPECT_TRUE(calls[1].work.empty());
    EXPECT_EQ(calls[1].duration, 0);
    ASSERT_EQ(calls[2].work.size(), 2u);
    EXPECT_EQ(calls[2].work[0].kind, WorkKind::Fill);
    EXPECT_EQ(calls[2].work[0].name, "Memset");
    EXPECT_EQ(calls[2].work[0].function, "cudaMemsetAsync");
    EXPECT_EQ(calls[2].work[1].kind, WorkKind::Copy);
    EXPECT_EQ(calls[2].work[1].name, "Memcpy DtoD");
    EXPECT_EQ(calls[2].work[1].bytes, 4);
  }
  EXPECT_TRUE(records.take_others().empty());
  EXPECT_EQ(records.dropped(), 0u);
}

// The clock is the host's: work runs after the function that launched it began,
// which lies within the call.
TEST_F(CallRecordsTest, TimesAreOfTheHostsClock) {
  CallRecords records;
  ASSERT_TRUE(records.begin()) << records.why_not();
  const std::vector<TimedCall> calls = run_three_calls(records);
  for (const TimedCall &call : calls)
    for (const DeviceWork &work : call.work) {
      EXPECT_GE(work.host_begin, call.host_begin);
      EXPECT_LE(work.host_begin + work.host_duration,
                call.host_begin + call.host_duration);
      EXPECT_GE(work.begin, work.host_begin);
      EXPECT_LT(work.begin - call.host_begin, 60e9);
    }
  ASSERT_EQ(calls.size(), 3u);
  const std::vector<DeviceWork> &work = calls[0].work;
  ASSERT_EQ(work.size(), 2u);
  EXPECT_EQ(calls[0].begin, work[0].begin);
  EXPECT_EQ(calls[0].duration, work[0].duration + work[1].duration);
}

// What runs beside the step belongs to none of its calls.
TEST_F(CallRecordsTest, OtherWorkIsOfNoCall) {
  CallRecords records;
  ASSERT_TRUE(records.begin()) << records.why_not();
  gpuopt::set_zero(ctx, value.data, 8);
  for (const TimedCall &call : run_three_calls(records))
    EXPECT_LE(call.work.size(), 2u);
  const std::vector<DeviceWork> others = records.take_others();
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0].bytes, 8);
  // When nothing is recorded, nothing is told.
  records.end();
  gpuopt::set_zero(ctx, value.data, 8);
  ASSERT_TRUE(records.begin());
  run_three_calls(records);
  EXPECT_TRUE(records.take_others().empty());
}

TEST_F(CallRecordsTest, SaysWhyThereAreNone) {
  setenv("GPUOPT_EMULATED_CUPTI_IS_TAKEN", "1", 1);
  CallRecords records;
  EXPECT_FALSE(records.begin());
  EXPECT_EQ(records.why_not(),
            "cuptiActivityEnable: "
            "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED");
  unsetenv("GPUOPT_EMULATED_CUPTI_IS_TAKEN");
}

} // namespace
#endif
