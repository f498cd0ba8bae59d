#include "emulation/machine/warpgroup.h"

#include "emulation/machine/fault.h"
#include "emulation/machine/matrix.h"

#include <cstring>
#include <limits>
#include <string>

namespace gpuopt::emulation {

namespace {

constexpr int kRows = 64, kDepth = 16, kMostColumns = 64;

// A descriptor of a matrix in shared memory, whose numbers are in units of 16
// bytes. Rows of 128 bytes lie one behind the other, eight of them in a group.
// Bits 4 to 6 of an address are combined with bits 7 to 9.
class SharedMatrix {
public:
  SharedMatrix(const char *shared, uint64_t descriptor)
      : shared(shared), first(16 * field(descriptor, 0)),
        group(16 * field(descriptor, 32)) {
    if (reinterpret_cast<uintptr_t>(shared) % 1024 != 0)
      throw Fault("a product of a warpgroup reads shared memory that does not "
                  "begin at a multiple of 1024 bytes");
    constexpr uint64_t kSwizzleOf128 = 1;
    if (descriptor >> 62 != kSwizzleOf128)
      throw Fault("a product of a warpgroup reads a matrix whose descriptor "
                  "does not tell the swizzle of 128 bytes, which is all that "
                  "the emulation knows");
    if (descriptor >> 49 & 7)
      throw Fault(
          "a product of a warpgroup reads a matrix whose descriptor has "
          "a base offset, which the emulation does not know");
  }

  uint16_t at(int row, int column) const {
    const uint64_t address = first + uint64_t(row / 8) * group +
                             uint64_t(row % 8) * 128 + uint64_t(column) * 2;
    const uint64_t swizzled = address ^ (address >> 7 & 7) << 4;
    uint16_t bits;
    memcpy(&bits, shared + swizzled, sizeof bits);
    return bits;
  }

private:
  static uint64_t field(uint64_t descriptor, int bit) {
    return descriptor >> bit & 0x3fff;
  }

  const char *shared;
  uint64_t first, group;
};

int row_of(int thread, int i) {
  return thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2);
}
int column_of(int thread, int n, int i) {
  return 8 * n + 2 * (thread % 4) + i % 2;
}

} // namespace

bool is_same_product(const WarpgroupOperands *one,
                     const WarpgroupOperands *other) {
  if (!one || !other)
    return one == other;
  return one->is_bf16 == other->is_bf16 && one->columns == other->columns &&
         one->holds_a == other->holds_a && one->a == other->a &&
         one->b == other->b && one->reads_rows == other->reads_rows &&
         one->adds == other->adds;
}

WarpgroupProduct::WarpgroupProduct(
    const WarpgroupOperands *const (&of_threads)[kWarpgroupThreads],
    const std::vector<std::shared_ptr<WarpgroupProduct>> &earlier) {
  for (int thread = 0; thread < kWarpgroupThreads; thread++) {
    const WarpgroupOperands &mine = operands[thread] = *of_threads[thread];
    bool is_late = false;
    for (const auto &product : earlier)
      is_late |= product->is_pending(mine.c);
    if (is_late)
      continue;
    const int count = mine.columns / 2;
    before[thread].assign(mine.c, mine.c + count);
    for (int i = 0; i < count; i++)
      mine.c[i] = std::numeric_limits<float>::quiet_NaN();
  }
}

bool WarpgroupProduct::is_pending(const float *c) const {
  if (is_done)
    return false;
  for (const WarpgroupOperands &mine : operands)
    if (mine.c == c)
      return true;
  return false;
}

void WarpgroupProduct::finish(const char *shared) {
  if (is_done)
    return;
  is_done = true;
  const WarpgroupOperands &first = operands[0];
  const SharedMatrix of_b(shared, first.b);
  float a[kRows][kDepth], b[kDepth][kMostColumns];
  if (first.holds_a)
    for (int thread = 0; thread < kWarpgroupThreads; thread++)
      for (int word = 0; word < 4; word++)
        for (int i = 0; i < 2; i++)
          a[row_of(thread, 2 * (word % 2))][column_of(thread, word / 2, i)] =
              widen_half(uint16_t(operands[thread].held[word] >> 16 * i),
                         first.is_bf16);
  else {
    const SharedMatrix of_a(shared, first.a);
    for (int row = 0; row < kRows; row++)
      for (int k = 0; k < kDepth; k++)
        a[row][k] = widen_half(of_a.at(row, k), first.is_bf16);
  }
  for (int k = 0; k < kDepth; k++)
    for (int column = 0; column < first.columns; column++)
      b[k][column] =
          widen_half(first.reads_rows ? of_b.at(k, column) : of_b.at(column, k),
                     first.is_bf16);
  for (int thread = 0; thread < kWarpgroupThreads; thread++)
    for (int i = 0; i < first.columns / 2; i++) {
      const int row = row_of(thread, i % 4),
                column = column_of(thread, i / 4, i % 4);
      float *c = operands[thread].c + i;
      float sum = 0;
      if (first.adds)
        sum = before[thread].empty() ? *c : before[thread][size_t(i)];
      for (int k = 0; k < kDepth; k++)
        sum += a[row][k] * b[k][column];
      *c = sum;
    }
}

} // namespace gpuopt::emulation
