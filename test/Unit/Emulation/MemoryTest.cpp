// Vectors of memory whose alignment is known when the program runs, or only
// claimed, as an optimising compiler builds their accesses.

#include "gpuopt/kernels/block.h"
#include "gpuopt/kernels/elementary.h"

#include "Machine.h"

namespace gpuopt {
namespace {

constexpr int64_t kColumns = 37; // most rows begin at no multiple of a vector

__global__ void divide_rows(const float *x, float divisor, float *quotient,
                            float *difference) {
  const int64_t b = block();
  ROW_MEMORY float row[kColumns];
  for (int64_t i = first_lane(); i < kColumns; i += lane_step()) {
    const int64_t left = kColumns - i;
    store(row + i, load(x + b * kColumns + i, left) - divisor, left);
  }
  for (int64_t i = first_lane(); i < kColumns; i += lane_step()) {
    const int64_t left = kColumns - i;
    store(quotient + b * kColumns + i,
          fast_divide(load(row + i, left), divisor), left);
    store(difference + b * kColumns + i,
          load(x + b * kColumns + i, left) - divisor, left);
  }
}

class MemoryTest : public Emulation {};

TEST_F(MemoryTest, RowsMayBeginAnywhere) {
  std::vector<float> x;
  for (int64_t i = 0; i < 3 * kColumns; i++)
    x.push_back(float(i));
  OnDevice<float> from(x), quotient(x.size()), difference(x.size());
  run(nullptr, 3, 32, divide_rows, static_cast<const float *>(from.data), 2.0f,
      quotient.data, difference.data);
  EXPECT_EQ(error_of_work(), "");
  const auto quotients = quotient.values(), differences = difference.values();
  for (size_t i = 0; i < x.size(); i++) {
    EXPECT_EQ(quotients[i], (x[i] - 2) / 2) << i;
    EXPECT_EQ(differences[i], x[i] - 2) << i;
  }
}

__global__ void load_vector_at(const float *x, float *y) {
  store(y, load_vector(x), kLanes);
}
__global__ void store_vector_at(float *y) {
  store_vector(y, Lanes<float>(1.0f));
}

TEST_F(MemoryTest, ReportsMisalignedVectors) {
  OnDevice<float> x(8), y(8);
  run(nullptr, 1, 1, load_vector_at, static_cast<const float *>(x.data + 1),
      y.data);
  std::string error = error_of_work();
  EXPECT_NE(error.find("block 0, thread 0 accesses a vector of 16 bytes at an "
                       "address that is 4 bytes past a multiple of that; the "
                       "program must give the vector an aligned place"),
            std::string::npos)
      << error;
  cudaDeviceReset();
  OnDevice<float> z(8);
  run(nullptr, 1, 1, store_vector_at, z.data + 2);
  error = error_of_work();
  EXPECT_NE(error.find("8 bytes past a multiple"), std::string::npos) << error;
}

} // namespace
} // namespace gpuopt
