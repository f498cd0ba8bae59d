// gpuopt's own CUDA headers on the emulated machine.
#include "Machine.h"

#include "emulation/cudart/device.h"
#include "gpuopt/device/device.h"
#include "gpuopt/kernels/block.h"
#include "gpuopt/ops/conv.h"

// Programs with a convolution check the version of cuDNN as they start.
template struct gpuopt::detail::ConvCall<float>;

namespace {

using RuntimeTest = Emulation;

// The zeros must not come after what is copied to the memory next.
TEST_F(RuntimeTest, FreshMemoryIsZeroBeforeItsFirstUse) {
  EXPECT_EQ(count_seeds(20,
                        [] {
                          gpuopt::Context ctx;
                          const int one = 1;
                          int back = 0;
                          char *memory = ctx.allocate(sizeof one);
                          gpuopt::copy_to_device(ctx, memory, &one, sizeof one);
                          cudaDeviceSynchronize();
                          gpuopt::copy_to_host(ctx, &back, memory, sizeof back);
                          return back != 1;
                        }),
            0);
}

KERNEL void sums_of_rows(const float *x, float *sums, int64_t columns) {
  gpuopt::Lanes<float> sum(0.0f);
  for (int64_t i = gpuopt::first_lane(); i < columns; i += gpuopt::lane_step())
    sum += gpuopt::load(x + gpuopt::block() * columns + i, columns - i);
  // Twice, so that the second reduction must not overtake the first.
  const float once = gpuopt::block_sum(sum);
  const float again = gpuopt::block_sum(sum);
  if (gpuopt::first_thread())
    sums[gpuopt::block()] = once + again;
}

TEST_F(RuntimeTest, BlockSumsAreRightInAnyOrder) {
  constexpr int64_t kRows = 4, kColumns = 301;
  std::vector<float> x(kRows * kColumns);
  for (size_t i = 0; i < x.size(); i++)
    x[i] = float(int(i % 7));
  EXPECT_EQ(count_seeds(10,
                        [&] {
                          gpuopt::Context ctx;
                          OnDevice<float> from(x), to(kRows);
                          cudaDeviceSynchronize();
                          gpuopt::launch(ctx, kRows, 96, sums_of_rows,
                                         from.data, to.data, kColumns);
                          const std::vector<float> sums = to.values();
                          bool wrong = false;
                          for (size_t r = 0; r < kRows; r++) {
                            float expected = 0;
                            for (size_t i = 0; i < kColumns; i++)
                              expected += 2 * x[r * kColumns + i];
                            wrong |= sums[r] != expected;
                          }
                          return wrong;
                        }),
            0);
}

__global__ void increase(int *number) { ++*number; }

TEST_F(RuntimeTest, ReplayCapturesTheSecondRun) {
  gpuopt::Context ctx;
  auto *number = reinterpret_cast<int *>(ctx.allocate(256)); // zero at first
  gpuopt::Replay replay;
  int calls = 0, runs = 0;
  for (int i = 0; i < 4; i++)
    replay.run(ctx, [&] {
      calls++;
      gpuopt::launch(ctx, 1, 1, increase, number);
    });
  gpuopt::copy_to_host(ctx, &runs, number, sizeof runs);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(runs, 4);
}

// What fails while it is captured leaves the stream as it was.
TEST_F(RuntimeTest, ReplayEndsACaptureThatFails) {
  gpuopt::Context ctx;
  auto *number = reinterpret_cast<int *>(ctx.allocate(256));
  gpuopt::Replay replay;
  bool fails = false;
  const auto run = [&] {
    replay.run(ctx, [&] {
      gpuopt::launch(ctx, 1, 1, increase, number);
      if (fails)
        throw gpuopt::Error("a choice is refused");
    });
  };
  run();
  fails = true;
  EXPECT_THROW(run(), gpuopt::Error);
  int runs = 0;
  gpuopt::copy_to_host(ctx, &runs, number, sizeof runs);
  EXPECT_EQ(runs, 1);
  fails = false;
  run();
  gpuopt::copy_to_host(ctx, &runs, number, sizeof runs);
  EXPECT_EQ(runs, 2);
}

// ---- Machines that a program cannot run on ---------------------------------

struct UnfitMachine : Emulation {
  ~UnfitMachine() override { machine = {}; }

  template <class Body>
  static std::string error_of(Body body) {
    try {
      body();
    } catch (const gpuopt::Error &error) {
      return error.what();
    }
    return "";
  }
  static std::string start() {
    return error_of([] { gpuopt::Context ctx; });
  }
  gpuopt::emulation::Machine &machine = gpuopt::emulation::device().machine;
};

TEST_F(UnfitMachine, OfAnOldGpu) {
  machine.compute_capability = 75;
  EXPECT_EQ(start(),
            "the GPU 'emulated GPU' has compute capability 7.5, but programs "
            "of gpuopt need at least 8.0 (Ampere); compile with --target host "
            "for the processor");
  machine.compute_capability = 80;
  EXPECT_EQ(start(), "");
}

TEST_F(UnfitMachine, OfAnOldDriver) {
  machine.driver_version = 0;
  EXPECT_EQ(start(), "this program needs an NVIDIA GPU, but no NVIDIA driver "
                     "is loaded; compile with --target host for the processor");
  machine.driver_version = CUDART_VERSION - 1000;
  EXPECT_EQ(start(), "the NVIDIA driver is for CUDA " +
                         gpuopt::cuda_version_text(machine.driver_version) +
                         ", but this program was built with CUDA " +
                         gpuopt::cuda_version_text(CUDART_VERSION) +
                         "; update the driver, or build with an older CUDA "
                         "Toolkit");
  machine.driver_version = CUDART_VERSION / 1000 * 1000; // 13.0 runs 13.x
  EXPECT_EQ(start(), "");
}

TEST_F(UnfitMachine, WithoutAGpu) {
  machine.device_count = 0;
  int count = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorNoDevice),
               "no CUDA-capable device is detected");
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(start(), "this program needs an NVIDIA GPU, but CUDA finds none; "
                     "compile with --target host for the processor");
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_EQ(start(),
            "this program needs an NVIDIA GPU, but CUDA finds none "
            "(CUDA_VISIBLE_DEVICES is ''); compile with --target host for the "
            "processor");
  unsetenv("CUDA_VISIBLE_DEVICES");
  machine.device_count = 1;
  EXPECT_EQ(start(), "");
}

// A program may be built for newer GPUs than all that gpuopt supports.
TEST_F(UnfitMachine, OfAGpuOlderThanTheProgram) {
  auto start_built_for = [](const std::vector<int> &architectures) {
    return error_of([&] { gpuopt::check_device(0, architectures); });
  };
  machine.compute_capability = 80;
  EXPECT_EQ(start_built_for({900, 860}),
            "the GPU 'emulated GPU' has compute capability 8.0, but this "
            "program was built for 8.6 and later; build it with "
            "-DCMAKE_CUDA_ARCHITECTURES=80");
  EXPECT_EQ(start_built_for({900, 800}), "");
  machine.compute_capability = 100;
  EXPECT_EQ(start_built_for({900, 800}), "");
}

TEST_F(UnfitMachine, HasNoProductsOfWarpgroups) {
  EXPECT_TRUE(gpuopt::has_warpgroup_products(0));
  for (const int other : {80, 89, 100, 120}) {
    machine.compute_capability = other;
    EXPECT_FALSE(gpuopt::has_warpgroup_products(0)) << other;
  }
}

// It is found before the first convolution.
TEST_F(UnfitMachine, OfAnOldCudnn) {
  machine.cudnn_version = 90100;
  EXPECT_EQ(start(),
            "this program was built with cuDNN " +
                gpuopt::detail::cudnn_version_text(CUDNN_VERSION) +
                ", but finds 9.1.0 when it runs; install the newer one, or "
                "build with the older one");
  machine.cudnn_version = CUDNN_VERSION + 1;
  EXPECT_EQ(start(), "");
}

} // namespace
