// Threads of a block: barriers, shared memory, exchanges within warps, atomics.
#include "Machine.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace gpuopt::emulation;

namespace {

// Each thread takes the value of its neighbour to the right.
__global__ void rotate(const int *from, int *to, bool has_barrier) {
  __shared__ int held[256];
  held[threadIdx.x] = from[threadIdx.x];
  if (has_barrier)
    __syncthreads();
  to[threadIdx.x] = held[(threadIdx.x + 1) % blockDim.x];
}

std::vector<int> numbers(int n) {
  std::vector<int> all(static_cast<size_t>(n));
  for (int i = 0; i < n; i++)
    all[size_t(i)] = i;
  return all;
}

bool rotates_wrongly(bool has_barrier) {
  OnDevice<int> from(numbers(256)), to(256);
  cudaDeviceSynchronize();
  run(nullptr, 1, 256, rotate, from.data, to.data, has_barrier);
  std::vector<int> expected = numbers(256);
  std::rotate(expected.begin(), expected.begin() + 1, expected.end());
  return to.values() != expected;
}

using BlockTest = Emulation;

TEST_F(BlockTest, BarrierOrdersThreads) {
  EXPECT_EQ(count_seeds(20, [] { return rotates_wrongly(true); }), 0);
}

TEST_F(BlockTest, MissingBarrierShows) {
  EXPECT_EQ(count_seeds(20, [] { return rotates_wrongly(false); }), 20);
}

__global__ void wait_apart() {
  if (threadIdx.x < 40)
    __syncthreads();
  else
    __syncthreads();
}

TEST_F(BlockTest, ReportsDifferentBarriers) {
  run(nullptr, 1, 64, wait_apart);
  const std::string error = error_of_work();
  EXPECT_TRUE(contains(error, "block 0, thread 40 waits at __syncthreads (") &&
              contains(error, "but block 0, thread 0 at another one"))
      << error;
}

__global__ void leave_early() {
  if (threadIdx.x == 7 && blockIdx.x == 2)
    return;
  __syncthreads();
}

TEST_F(BlockTest, ReportsThreadsThatHaveLeft) {
  run(nullptr, 3, 64, leave_early);
  const std::string error = error_of_work();
  EXPECT_TRUE(contains(error, "but block 2, thread 7 has left the kernel"))
      << error;
}

TEST_F(BlockTest, NothingRunsAfterAFault) {
  run(nullptr, 3, 64, leave_early);
  EXPECT_NE(error_of_work(), "");
  EXPECT_EQ(run(nullptr, 1, 1, wait_apart), cudaErrorLaunchFailure);
  EXPECT_TRUE(contains(cudaGetErrorString(cudaErrorLaunchFailure),
                       "has left the kernel"));
  cudaDeviceReset();
  EXPECT_EQ(run(nullptr, 1, 1, wait_apart), cudaSuccess);
}

__global__ void read_shared(float *to) {
  __shared__ float held[4];
  to[blockIdx.x] = held[0];
  held[0] = 1;
}

#if defined(__clang__) || !defined(__SANITIZE_ADDRESS__)
TEST_F(BlockTest, SharedMemoryIsPoisonedBetweenBlocks) {
  OnDevice<float> to(8);
  run(nullptr, 8, 1, read_shared, to.data);
  for (float value : to.values())
    EXPECT_TRUE(std::isnan(value));
}
#endif

__global__ void note_order(int *next, int *order) {
  order[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(next, 1);
}

TEST_F(BlockTest, SeedsChangeTheOrder) {
  std::set<std::vector<int>> orders;
  count_seeds(5, [&] {
    OnDevice<int> next(std::vector<int>{0}), order(128);
    cudaDeviceSynchronize();
    run(nullptr, 2, 64, note_order, next.data, order.data);
    std::vector<int> all = order.values();
    orders.insert(all);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, numbers(128));
    return false;
  });
  EXPECT_EQ(orders.size(), 5u);
}

// ---- Warps -----------------------------------------------------------------

__global__ void reduce_warps(const int *from, int *to) {
  int value = from[threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  to[threadIdx.x] = value;
}

TEST_F(BlockTest, ButterflySums) {
  OnDevice<int> from(numbers(64)), to(64);
  cudaDeviceSynchronize();
  run(nullptr, 1, 64, reduce_warps, from.data, to.data);
  const std::vector<int> sums = to.values();
  for (size_t i = 0; i < 64; i++)
    EXPECT_EQ(sums[i], i < 32 ? 31 * 32 / 2 : 31 * 32 / 2 + 32 * 32);
}

__global__ void shuffle_all_ways(int *to) {
  const int lane = int(threadIdx.x);
  int *mine = to + 6 * lane;
  mine[0] = __shfl_sync(~0u, lane, 5);
  mine[1] = __shfl_up_sync(~0u, lane, 3);
  mine[2] = __shfl_down_sync(~0u, lane, 3, 8);
  mine[3] = int(__ballot_sync(~0u, lane % 3 == 0) >> lane & 1);
  mine[4] = __any_sync(~0u, lane == 9);
  mine[5] = __all_sync(~0u, lane != 9);
}

TEST_F(BlockTest, ShufflesAndVotes) {
  OnDevice<int> to(6 * 32);
  run(nullptr, 1, 32, shuffle_all_ways, to.data);
  const std::vector<int> all = to.values();
  for (int lane = 0; lane < 32; lane++) {
    const int *mine = all.data() + 6 * lane;
    EXPECT_EQ(mine[0], 5);
    EXPECT_EQ(mine[1], lane < 3 ? lane : lane - 3);
    EXPECT_EQ(mine[2], lane % 8 < 5 ? lane + 3 : lane);
    EXPECT_EQ(mine[3], lane % 3 == 0);
    EXPECT_EQ(mine[4], 1);
    EXPECT_EQ(mine[5], 0);
  }
}

__global__ void shuffle_in_part(unsigned mask) {
  if (threadIdx.x < 16)
    __shfl_xor_sync(mask, 1, 1);
}

TEST_F(BlockTest, MasksNameWhoComes) {
  run(nullptr, 1, 32, shuffle_in_part, 0xffffu);
  EXPECT_EQ(error_of_work(), "");
  run(nullptr, 1, 32, shuffle_in_part, 0xffffffffu);
  EXPECT_TRUE(contains(error_of_work(), "thread 0 waits for lanes of its warp "
                                        "that its mask names and that never "
                                        "come"));
  cudaDeviceReset();
  run(nullptr, 1, 32, shuffle_in_part, 0xff00u);
  EXPECT_TRUE(contains(error_of_work(),
                       "gives a mask that does not name its own lane"));
}

__global__ void read_absent_lane() {
  if (threadIdx.x < 16)
    __shfl_sync(0xffffu, 1, 20);
}

TEST_F(BlockTest, LanesReadWhoIsNamed) {
  run(nullptr, 1, 32, read_absent_lane);
  EXPECT_TRUE(contains(error_of_work(),
                       "reads lane 20 of its warp, which its mask does not "
                       "name"));
}

TEST_F(BlockTest, RefusesSizesThatNoGpuHas) {
  EXPECT_EQ(run(nullptr, 1, 2048, wait_apart), cudaErrorInvalidConfiguration);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidConfiguration),
               "a block of 2048 x 1 x 1 threads; it may have from 1 to 1024, "
               "at most 64 deep");
  EXPECT_EQ(run(nullptr, 0, 32, wait_apart), cudaErrorInvalidConfiguration);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidConfiguration),
               "a grid of 0 x 1 x 1 blocks; it may have from 1 to 2147483647 x "
               "65535 x 65535");
}

TEST_F(BlockTest, RefusesWhatItLacks) {
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = dim3(1);
  config.numAttrs = 1;
  EXPECT_EQ(cudaLaunchKernelEx(&config, wait_apart), cudaErrorNotSupported);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorNotSupported),
               "the emulation lacks attributes of launches");
}

} // namespace
