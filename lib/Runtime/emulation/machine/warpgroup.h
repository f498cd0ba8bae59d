// Products of a warpgroup, 128 threads in a row: PTX's wgmma.mma_async (PTX
// ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions").
// The threads arrive together; memory is read and results are there when a
// thread waits for the product, and no earlier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gpuopt::emulation {

constexpr int kWarpgroupThreads = 128;

// What one thread says of a product of 64 x 16 and 16 x `columns` elements of
// half precision.
struct WarpgroupOperands {
  bool is_bf16 = false;
  int columns = 64;
  // A is in shared memory, at `a`, or in registers: warp w of the group holds
  // rows 16 w to 16 w + 15 as for mma.m16n8k16.
  bool holds_a = false;
  uint64_t a = 0;
  uint32_t held[4] = {};
  // B is in shared memory; 16 columns of its rows are read, or 16 of its rows.
  uint64_t b = 0;
  bool reads_rows = false;
  // c gets the product, or the sum of both. It has columns / 2 elements.
  bool adds = false;
  float *c = nullptr;
};

bool is_same_product(const WarpgroupOperands *one,
                     const WarpgroupOperands *other);

// A product that has begun.
class WarpgroupProduct {
public:
  // Takes what each thread says, whose c holds NaNs from now on.
  WarpgroupProduct(
      const WarpgroupOperands *const (&of_threads)[kWarpgroupThreads],
      const std::vector<std::shared_ptr<WarpgroupProduct>> &earlier);
  // Reads the shared memory that begins at `shared` and writes the results, the
  // first time that it is called.
  void finish(const char *shared);

private:
  bool is_pending(const float *c) const;

  WarpgroupOperands operands[kWarpgroupThreads];
  std::vector<float>
      before[kWarpgroupThreads]; // c; empty if it is still pending
  bool is_done = false;
};

} // namespace gpuopt::emulation
