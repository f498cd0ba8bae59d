// Products of matrices within a warp, copies to shared memory that arrive late,
// and dynamic shared memory.
#include "Machine.h"

#include "../Runtime/Values.h"
#include "gpuopt/kernels/ptx_cuda.h"
#include "gpuopt/kernels/types.h"

#include <cmath>

namespace {

using MatrixTest = Emulation;

// ---- Products --------------------------------------------------------------

// Halves of a fragment, as the PTX ISA counts them: two in a register. The
// formulas for rows and columns are those of its figures for m16n8k16.
int group() { return int(threadIdx.x) / 4; }
int in_group() { return int(threadIdx.x) % 4; }
int row_of_a(int i) {
  return i % 4 < 2 ? group() : group() + 8; // i: 0, 1, 4, 5
}
int column_of_a(int i) {
  return i < 4 ? 2 * in_group() + i % 2 : 2 * in_group() + i % 2 + 8;
}
int row_of_b(int i) { return 2 * in_group() + i % 2 + (i < 2 ? 0 : 8); }
int row_of_c(int i) { return i < 2 ? group() : group() + 8; }
int column_of_c(int i) { return 2 * in_group() + i % 2; }

template <class T>
__global__ void multiply(const T *a, const T *b, const float *c, float *d) {
  T of_a[8], of_b[4];
  float sum[4];
  for (int i = 0; i < 8; i++)
    of_a[i] = a[16 * row_of_a(i) + column_of_a(i)];
  for (int i = 0; i < 4; i++)
    of_b[i] = b[8 * row_of_b(i) + group()];
  for (int i = 0; i < 4; i++)
    sum[i] = c[8 * row_of_c(i) + column_of_c(i)];
  uint32_t words_a[4], words_b[2];
  memcpy(words_a, of_a, sizeof words_a);
  memcpy(words_b, of_b, sizeof words_b);
  if (std::is_same_v<T, gpuopt::f16>)
    gpuopt::ptx::mma_f16(sum, words_a, words_b[0], words_b[1]);
  else
    gpuopt::ptx::mma_bf16(sum, words_a, words_b[0], words_b[1]);
  for (int i = 0; i < 4; i++)
    d[8 * row_of_c(i) + column_of_c(i)] = sum[i];
}

// Small integers, so that each sum is exact.
template <class T>
T number(int i) {
  return gpuopt::narrow<T>(float((i * 7 + i / 5) % 13 - 6));
}
template <class T>
std::vector<T> numbers(int n) {
  std::vector<T> all;
  for (int i = 0; i < n; i++)
    all.push_back(number<T>(i));
  return all;
}

template <class T>
void expect_product() {
  const OnDevice<T> a(numbers<T>(16 * 16)), b(numbers<T>(16 * 8));
  const OnDevice<float> c(numbers<float>(16 * 8)), d(16 * 8);
  cudaDeviceSynchronize();
  const T *of_a = a.data, *of_b = b.data;
  run(nullptr, 1, 32, multiply<T>, of_a, of_b, c.data, d.data);
  const std::vector<float> result = d.values();
  for (int row = 0; row < 16; row++)
    for (int column = 0; column < 8; column++) {
      float expected = number<float>(8 * row + column);
      for (int k = 0; k < 16; k++)
        expected += number<float>(16 * row + k) * number<float>(8 * k + column);
      EXPECT_EQ(result[size_t(8 * row + column)], expected)
          << row << ", " << column;
    }
}

TEST_F(MatrixTest, MultipliesF16) { expect_product<gpuopt::f16>(); }
TEST_F(MatrixTest, MultipliesBF16) { expect_product<gpuopt::bf16>(); }

// Registers of a fragment of m16n8k8, as the PTX ISA counts them.
int row_of_tf32_a(int i) { return i % 2 ? group() + 8 : group(); }
int column_of_tf32_a(int i) { return i < 2 ? in_group() : in_group() + 4; }
int row_of_tf32_b(int i) { return i ? in_group() + 4 : in_group(); }

__global__ void multiply_tf32(const float *a, const float *b, const float *c,
                              float *d) {
  uint32_t of_a[4], of_b[2];
  float sum[4];
  for (int i = 0; i < 4; i++)
    of_a[i] = gpuopt::ptx::round_to_tf32(
        a[8 * row_of_tf32_a(i) + column_of_tf32_a(i)]);
  for (int i = 0; i < 2; i++)
    of_b[i] = gpuopt::ptx::round_to_tf32(b[8 * row_of_tf32_b(i) + group()]);
  for (int i = 0; i < 4; i++)
    sum[i] = c[8 * row_of_c(i) + column_of_c(i)];
  gpuopt::ptx::mma_tf32(sum, of_a, of_b[0], of_b[1]);
  for (int i = 0; i < 4; i++)
    d[8 * row_of_c(i) + column_of_c(i)] = sum[i];
}

TEST_F(MatrixTest, MultipliesTf32) {
  const OnDevice<float> a(numbers<float>(16 * 8)), b(numbers<float>(8 * 8)),
      c(numbers<float>(16 * 8)), d(16 * 8);
  cudaDeviceSynchronize();
  run(nullptr, 1, 32, multiply_tf32, a.data, b.data, c.data, d.data);
  const std::vector<float> result = d.values();
  for (int row = 0; row < 16; row++)
    for (int column = 0; column < 8; column++) {
      float expected = number<float>(8 * row + column);
      for (int k = 0; k < 8; k++)
        expected += number<float>(8 * row + k) * number<float>(8 * k + column);
      EXPECT_EQ(result[size_t(8 * row + column)], expected)
          << row << ", " << column;
    }
}

__global__ void multiply_unrounded() {
  float c[4] = {};
  const uint32_t a[4] = {}, b = threadIdx.x == 7 ? 0x3f801000u : 0;
  gpuopt::ptx::mma_tf32(c, a, b, 0);
}

TEST_F(MatrixTest, FactorsInTf32AreRounded) {
  run(nullptr, 1, 32, multiply_unrounded);
  EXPECT_TRUE(contains(error_of_work(),
                       "lane 7 of a warp multiplies 1.000488, which is not "
                       "rounded to TF32"));
}

// Four matrices of 8 x 8, matrix m being 64 m to 64 m + 63.
__global__ void load_matrices(uint16_t *to, bool is_transposed) {
  alignas(16) __shared__ uint16_t halves[256];
  for (int i = int(threadIdx.x); i < 256; i += 32)
    halves[i] = uint16_t(i);
  __syncthreads();
  const uint16_t *row = halves + 8 * threadIdx.x;
  uint32_t words[4];
  if (is_transposed)
    gpuopt::ptx::ldmatrix_transposed(words, row);
  else
    gpuopt::ptx::ldmatrix(words, row);
  memcpy(to + 8 * threadIdx.x, words, sizeof words);
}

TEST_F(MatrixTest, LoadsMatrices) {
  for (const bool is_transposed : {false, true}) {
    const OnDevice<uint16_t> to(256);
    run(nullptr, 1, 32, load_matrices, to.data, is_transposed);
    const std::vector<uint16_t> loaded = to.values();
    for (int lane = 0; lane < 32; lane++)
      for (int i = 0; i < 8; i++) {
        const int matrix = i / 2, far = lane / 4, near = 2 * (lane % 4) + i % 2;
        const int element = is_transposed ? 8 * near + far : 8 * far + near;
        EXPECT_EQ(loaded[size_t(8 * lane + i)], 64 * matrix + element)
            << lane << ", " << i;
      }
  }
}

__global__ void load_from_odd_address() {
  alignas(16) __shared__ uint16_t halves[264];
  uint32_t words[4];
  gpuopt::ptx::ldmatrix(words, halves + 8 * threadIdx.x + (threadIdx.x == 5));
}

TEST_F(MatrixTest, RowsAreAligned) {
  run(nullptr, 1, 32, load_from_odd_address);
  EXPECT_TRUE(contains(error_of_work(),
                       "lane 5 of a warp loads the row of a matrix from an "
                       "address that is no multiple of 16 bytes"));
}

__global__ void multiply_in_part() {
  float c[4] = {};
  const uint32_t a[4] = {};
  if (threadIdx.x < 16)
    gpuopt::ptx::mma_f16(c, a, 0, 0);
  else
    gpuopt::ptx::mma_bf16(c, a, 0, 0);
}

TEST_F(MatrixTest, LanesMultiplyTogether) {
  run(nullptr, 1, 32, multiply_in_part);
  EXPECT_TRUE(contains(error_of_work(), "lanes of its warp that its mask names "
                                        "and that never come"));
}

__global__ void multiply_by_half_a_warp() {
  gpuopt::emulation::MatrixLane mine{};
  gpuopt::emulation::Exchange exchange;
  exchange.kind = gpuopt::emulation::ExchangeKind::Matrix;
  exchange.mask = 0xffff;
  exchange.matrix = &mine;
  if (threadIdx.x < 16)
    gpuopt::emulation::exchange(exchange);
}

TEST_F(MatrixTest, AllLanesMultiply) {
  run(nullptr, 1, 32, multiply_by_half_a_warp);
  EXPECT_TRUE(contains(error_of_work(), "a product of matrices needs all lanes "
                                        "of a warp of 32"));
}

__global__ void round_pairs(uint32_t *to) {
  to[0] = gpuopt::ptx::pack_f16(1.0f, -2.0f);
  to[1] = gpuopt::ptx::pack_bf16(1.0f, -2.0f);
  // Halfway between two numbers of eight bits: to the even one.
  to[2] = gpuopt::ptx::pack_bf16(1 + 1.0f / 256, 1 + 3.0f / 256);
}

TEST_F(MatrixTest, RoundsPairs) {
  const OnDevice<uint32_t> to(3);
  run(nullptr, 1, 1, round_pairs, to.data);
  EXPECT_EQ(to.values(),
            (std::vector<uint32_t>{0xc0003c00u, 0xc0003f80u, 0x3f823f80u}));
}

__global__ void round_to_tf32(const float *from, uint32_t *to) {
  to[threadIdx.x] = gpuopt::ptx::round_to_tf32(from[threadIdx.x]);
}

// Ten bits of fraction are left; halves go away from zero.
TEST_F(MatrixTest, RoundsToTf32) {
  const std::vector<float> numbers = {1 + 0x1p-10f,
                                      1 + 0x1p-11f,
                                      -1 - 0x1.8p-10f,
                                      1 + 0x1.ffp-12f,
                                      3.4028235e38f,
                                      INFINITY,
                                      NAN};
  const OnDevice<float> from(numbers);
  const OnDevice<uint32_t> to(numbers.size());
  cudaDeviceSynchronize();
  run(nullptr, 1, 7, round_to_tf32, from.data, to.data);
  const std::vector<uint32_t> words = to.values();
  EXPECT_EQ((std::vector<uint32_t>(words.begin(), words.end() - 1)),
            (std::vector<uint32_t>{0x3f802000u, 0x3f802000u, 0xbf804000u,
                                   0x3f800000u, 0x7f800000u, 0x7f800000u}));
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(words.back())));
}

// ---- Copies that arrive late -----------------------------------------------

// Each thread copies four numbers and reads those of another one.
__global__ void copy_and_rotate(const float *from, float *to, int wait,
                                bool has_barrier) {
  alignas(16) __shared__ float held[4 * 64];
  const int mine = 4 * int(threadIdx.x);
  gpuopt::ptx::cp_async(held + mine, from + mine, 16);
  gpuopt::ptx::cp_async_commit();
  if (wait)
    gpuopt::ptx::cp_async_wait<0>();
  if (has_barrier)
    __syncthreads();
  for (int i = 0; i < 4; i++)
    to[mine + i] = held[(mine + 4 + i) % (4 * 64)];
}

bool rotates_wrongly(bool has_wait, bool has_barrier) {
  const std::vector<float> all = numbers<float>(4 * 64);
  const OnDevice<float> from(all), to(all.size());
  cudaDeviceSynchronize();
  run(nullptr, 1, 64, copy_and_rotate, from.data, to.data, has_wait,
      has_barrier);
  const std::vector<float> rotated = to.values();
  for (size_t i = 0; i < all.size(); i++)
    if (rotated[i] != all[(i + 4) % all.size()])
      return true;
  return false;
}

TEST_F(MatrixTest, CopiesArriveWhereTheyAreWaitedFor) {
  EXPECT_EQ(count_seeds(20, [] { return rotates_wrongly(true, true); }), 0);
}
TEST_F(MatrixTest, MissingWaitsForCopiesShow) {
  EXPECT_EQ(count_seeds(20, [] { return rotates_wrongly(false, true); }), 20);
}
TEST_F(MatrixTest, MissingBarriersAfterCopiesShow) {
  EXPECT_EQ(count_seeds(20, [] { return rotates_wrongly(true, false); }), 20);
}

// Three groups of one copy each; the last one writes zeros.
__global__ void copy_groups(const float *from, float *to) {
  alignas(16) __shared__ float held[12];
  for (int i = 0; i < 3; i++) {
    gpuopt::ptx::cp_async(held + 4 * i, from + 4 * i, i < 2 ? 16 : 0);
    gpuopt::ptx::cp_async_commit();
  }
  gpuopt::ptx::cp_async_wait<2>();
  to[0] = held[0];
  to[1] = held[4];
  gpuopt::ptx::cp_async_wait<0>();
  to[2] = held[4];
  to[3] = held[8];
}

TEST_F(MatrixTest, GroupsArriveInTheirOrder) {
  const OnDevice<float> from(std::vector<float>(12, 5.0f)), to(4);
  cudaDeviceSynchronize();
  run(nullptr, 1, 1, copy_groups, from.data, to.data);
  const std::vector<float> seen = to.values();
  EXPECT_EQ(seen[0], 5);
  EXPECT_TRUE(std::isnan(seen[1]));
  EXPECT_EQ(seen[2], 5);
  EXPECT_EQ(seen[3], 0);
}

__global__ void copy_from_odd_address(const float *from) {
  alignas(16) __shared__ float held[4];
  gpuopt::ptx::cp_async(held, from + 1, 16);
}

TEST_F(MatrixTest, CopiesAreAligned) {
  const OnDevice<float> from(8);
  run(nullptr, 1, 1, copy_from_odd_address, from.data);
  EXPECT_TRUE(contains(error_of_work(),
                       "copies 16 bytes to shared memory with an address that "
                       "is no multiple of that"));
}

// ---- Dynamic shared memory -------------------------------------------------

constexpr size_t kBytes = size_t(64) << 10;

__global__ void use_dynamic_memory(float *to, size_t place) {
  auto *held = reinterpret_cast<float *>(gpuopt::ptx::dynamic_memory());
  to[blockIdx.x] = held[place];
  held[place] = 1;
}

cudaError_t run_with(size_t bytes, float *to, size_t place) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(4);
  config.blockDim = dim3(1);
  config.dynamicSmemBytes = bytes;
  return cudaLaunchKernelEx(&config, use_dynamic_memory, to, place);
}
cudaError_t allow(size_t bytes) {
  return cudaFuncSetAttribute(
      reinterpret_cast<const void *>(use_dynamic_memory),
      cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
}

TEST_F(MatrixTest, MuchDynamicMemoryIsAskedFor) {
  const OnDevice<float> to(4);
  EXPECT_EQ(allow(0), cudaSuccess);
  EXPECT_EQ(run_with(kBytes, to.data, 0), cudaErrorInvalidValue);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidValue),
               "a block with 65536 bytes of dynamic shared memory; its kernel "
               "may have 49152");
  EXPECT_EQ(allow(size_t(1) << 20), cudaErrorInvalidValue);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidValue),
               "1048576 bytes of dynamic shared memory; a block may have at "
               "most 232448");
  EXPECT_EQ(allow(kBytes), cudaSuccess);
  EXPECT_EQ(run_with(kBytes, to.data, 0), cudaSuccess);
  EXPECT_EQ(error_of_work(), "");
}

TEST_F(MatrixTest, RefusesOtherAttributesOfKernels) {
  EXPECT_EQ(
      cudaFuncSetAttribute(reinterpret_cast<const void *>(use_dynamic_memory),
                           cudaFuncAttributePreferredSharedMemoryCarveout, 50),
      cudaErrorNotSupported);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorNotSupported),
               "the emulation knows one attribute of kernels, the size of "
               "dynamic shared memory");
}

TEST_F(MatrixTest, DynamicMemoryIsPoisonedBetweenBlocks) {
  const OnDevice<float> to(4);
  EXPECT_EQ(allow(kBytes), cudaSuccess);
  EXPECT_EQ(run_with(kBytes, to.data, kBytes / 4 - 1), cudaSuccess);
  for (float value : to.values())
    EXPECT_TRUE(std::isnan(value));
}

TEST_F(MatrixTest, DynamicMemoryEnds) {
  const OnDevice<float> to(4);
  EXPECT_EQ(allow(kBytes), cudaSuccess);
  EXPECT_DEATH(
      {
        run_with(kBytes, to.data, kBytes / 4);
        cudaDeviceSynchronize();
      },
      "block ., thread 0 touches|AddressSanitizer");
}

} // namespace
