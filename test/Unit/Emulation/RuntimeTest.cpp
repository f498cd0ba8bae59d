// gpuopt's own CUDA headers on the emulated machine.
#include "Machine.h"

#include "gpuopt/device/device.h"
#include "gpuopt/kernels/block.h"

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

} // namespace
