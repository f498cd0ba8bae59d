// Products of warpgroups: what they read of shared memory, and what a kernel
// that forgets a step of theirs is told.
#include "Machine.h"

#include "../Runtime/Values.h"
#include "gpuopt/kernels/warpgroup_cuda.h"

#include <cmath>

namespace {

using namespace gpuopt;
using detail::SwizzledRows;

using WarpgroupTest = Emulation;

constexpr int kThreads = 128, kRows = 64, kColumns = 64;
constexpr size_t kTileBytes = kRows * kColumns * sizeof(f16);

// Small integers, so that each sum is exact.
float number(int i) { return float((i * 7 + i / 5) % 13 - 6); }

// Which step a kernel leaves out.
enum class Without { Nothing, Fence, Barrier, Arrival, Wait };

template <class T>
void copy_tiles(T *tiles, const T *from, Without without) {
  for (int i = int(threadIdx.x); i < 2 * kRows * kColumns / 8; i += kThreads)
    ptx::cp_async(tiles + SwizzledRows::place(i / 8, i % 8 * 8), from + 8 * i,
                  16);
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
  if (without != Without::Fence)
    ptx::fence_proxy_async();
  if (without != Without::Barrier)
    __syncthreads();
}

// Writes A B^T and (A B^T) B, where A and B are tiles of 64 x 64. The second
// product has half of the first one's numbers, so that it rounds nothing.
template <class T>
__global__ void multiply(const T *from, float *transposed, float *plain,
                         Without without) {
  T *tiles = reinterpret_cast<T *>(ptx::dynamic_memory());
  copy_tiles(tiles, from, without);
  const T *b = tiles + kRows * kColumns;
  float c[8][4], d[8][4] = {};
  if (without != Without::Arrival)
    ptx::warpgroup_arrive();
  detail::begin_multiply_transposed(c, detail::matrix_descriptor(tiles), b);
  ptx::warpgroup_commit();
  if (without != Without::Wait)
    ptx::warpgroup_wait<0>();
  const int row = detail::strip_row(0) + int(threadIdx.x) / 32 * 16;
  for (int n = 0; n < 8; n++)
    for (int i = 0; i < 4; i++)
      transposed[(row + i / 2 * 8) * kColumns + detail::strip_column(n, i)] =
          c[n][i];
  for (auto &of_column : c)
    for (float &x : of_column)
      x = float(int(x) % 8);
  detail::HeldStrip<8> held;
  held.template hold<T>(c);
  ptx::warpgroup_arrive();
  detail::begin_add_product(d, held, b);
  ptx::warpgroup_commit();
  ptx::warpgroup_wait<0>();
  for (int n = 0; n < 8; n++)
    for (int i = 0; i < 4; i++)
      plain[(row + i / 2 * 8) * kColumns + detail::strip_column(n, i)] =
          d[n][i];
}

template <class T>
struct Products {
  explicit Products(Without without = Without::Nothing, size_t more_bytes = 0) {
    std::vector<T> from;
    for (int i = 0; i < 2 * kRows * kColumns; i++)
      from.push_back(narrow<T>(number(i)));
    const OnDevice<T> tiles(from);
    const OnDevice<float> transposed(kRows * kColumns), plain(kRows * kColumns);
    const T *of_tiles = tiles.data;
    cudaDeviceSynchronize();
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(kThreads);
    config.dynamicSmemBytes = 2 * kTileBytes + more_bytes;
    EXPECT_EQ(cudaLaunchKernelEx(&config, multiply<T>, of_tiles,
                                 transposed.data, plain.data, without),
              cudaSuccess);
    error = error_of_work();
    if (!error.empty())
      return;
    first = transposed.values();
    second = plain.values();
  }
  std::string error;
  std::vector<float> first, second;
};

template <class T>
void expect_products() {
  const Products<T> products;
  ASSERT_EQ(products.error, "");
  std::vector<float> first(kRows * kColumns);
  for (int row = 0; row < kRows; row++)
    for (int column = 0; column < kColumns; column++) {
      float &sum = first[size_t(row * kColumns + column)];
      for (int k = 0; k < kColumns; k++)
        sum += number(row * kColumns + k) *
               number((kRows + column) * kColumns + k);
    }
  EXPECT_EQ(products.first, first);
  for (int row = 0; row < kRows; row++)
    for (int column = 0; column < kColumns; column++) {
      float sum = 0;
      for (int k = 0; k < kColumns; k++)
        sum += float(int(first[size_t(row * kColumns + k)]) % 8) *
               number((kRows + k) * kColumns + column);
      EXPECT_EQ(products.second[size_t(row * kColumns + column)], sum)
          << row << ", " << column;
    }
}

TEST_F(WarpgroupTest, MultiplyF16) { expect_products<f16>(); }
TEST_F(WarpgroupTest, MultiplyBF16) { expect_products<bf16>(); }

TEST_F(WarpgroupTest, ReadCopiesThatAreShownAlone) {
  EXPECT_TRUE(contains(Products<f16>(Without::Fence).error,
                       "has copied to shared memory what it has not shown to "
                       "products of warpgroups, when one begins"));
}
// A product waits for all threads of its warpgroup here, but the warps of a GPU
// do not wait for each other.
TEST_F(WarpgroupTest, ReadCopiesBehindABarrierAlone) {
  EXPECT_TRUE(contains(Products<f16>(Without::Barrier).error,
                       "has copied to shared memory what other warps may read "
                       "too early: a product of warpgroups begins before a "
                       "barrier"));
}
TEST_F(WarpgroupTest, BeginWhereAllThreadsHaveArrived) {
  EXPECT_TRUE(contains(Products<f16>(Without::Arrival).error,
                       "begins a product of its warpgroup, but has not said "
                       "that its registers are ready"));
}
TEST_F(WarpgroupTest, HaveNoResultsBeforeTheWait) {
  const Products<f16> products(Without::Wait);
  ASSERT_EQ(products.error, "");
  EXPECT_TRUE(std::isnan(products.first[0]));
}

TEST_F(WarpgroupTest, ReadMemoryThatIsAligned) {
  EXPECT_TRUE(contains(Products<f16>(Without::Nothing, 128).error,
                       "a product of a warpgroup reads shared memory that does "
                       "not begin at a multiple of 1024 bytes"));
}

// One warpgroup multiplies what all have copied, while another one brings what
// nobody reads before the next barrier.
__global__ void multiply_beside_copies(const f16 *from) {
  f16 *tile = reinterpret_cast<f16 *>(ptx::dynamic_memory());
  const auto copy = [&](int row) {
    for (int i = int(threadIdx.x) % kThreads; i < 8 * kRows; i += kThreads)
      ptx::cp_async(tile + SwizzledRows::place(row + i / 8, i % 8 * 8),
                    from + 8 * i, 16);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    ptx::fence_proxy_async();
  };
  copy(0);
  __syncthreads();
  if (int(threadIdx.x) < kThreads) {
    float c[8][4];
    ptx::warpgroup_arrive();
    detail::begin_multiply_transposed(c, detail::matrix_descriptor(tile), tile);
    ptx::warpgroup_commit();
    ptx::warpgroup_wait<0>();
  } else {
    copy(kRows);
  }
  __syncthreads();
}
TEST_F(WarpgroupTest, MultiplyBesideCopiesOfOthers) {
  const OnDevice<f16> from(kRows * kColumns);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(2 * kThreads);
  config.dynamicSmemBytes = 2 * kTileBytes;
  EXPECT_EQ(count_seeds(8,
                        [&] {
                          cudaLaunchKernelEx(&config, multiply_beside_copies,
                                             from.data);
                          return !error_of_work().empty();
                        }),
            0);
}

__global__ void multiply_in_part() {
  float c[8][4];
  ptx::warpgroup_arrive();
  if (threadIdx.x < 96)
    ptx::multiply_shared_f16(c, 0, 0, false);
}
TEST_F(WarpgroupTest, MultiplyTogether) {
  run(nullptr, 1, kThreads, multiply_in_part);
  EXPECT_TRUE(contains(error_of_work(), "waits for threads of its warpgroup "
                                        "that never come to the same product"));
}

// PTX has more descriptors than kernels use, which are all that the emulation
// knows.
__global__ void multiply_by_descriptor(uint64_t descriptor) {
  float c[8][4];
  emulation::WarpgroupOperands mine;
  mine.a = mine.b = descriptor;
  mine.c = &c[0][0];
  ptx::warpgroup_arrive();
  emulation::begin_warpgroup_product(mine);
  ptx::warpgroup_commit();
  ptx::warpgroup_wait<0>();
}
TEST_F(WarpgroupTest, KnowOneSwizzle) {
  run(nullptr, 1, kThreads, multiply_by_descriptor, uint64_t(0));
  EXPECT_TRUE(contains(error_of_work(),
                       "a product of a warpgroup reads a matrix whose "
                       "descriptor does not tell the swizzle of 128 bytes, "
                       "which is all that the emulation knows"));
}
TEST_F(WarpgroupTest, KnowNoBaseOffset) {
  run(nullptr, 1, kThreads, multiply_by_descriptor,
      uint64_t(1) << 62 | uint64_t(1) << 49);
  EXPECT_TRUE(contains(error_of_work(),
                       "a product of a warpgroup reads a matrix whose "
                       "descriptor has a base offset, which the emulation does "
                       "not know"));
}

} // namespace
