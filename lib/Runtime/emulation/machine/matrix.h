// The work of a warp of 32 lanes on small matrices: PTX's mma.m16n8k16,
// mma.m16n8k8 in TF32 and ldmatrix.m8n8.x4 (PTX ISA, "Warp Level Matrix
// Multiply-Accumulate Instructions"). The lanes arrive together, and the whole
// instruction is computed at once.
#pragma once

#include <cstdint>

namespace gpuopt::emulation {

enum class MatrixWord {
  MultiplyF16,
  MultiplyBF16,
  MultiplyTf32,
  Load,
  LoadTransposed
};

// The operands and results of one lane.
struct MatrixLane {
  MatrixWord word;
  // Products: four registers of A, two of B, and four elements of C, to which
  // the product is added. Loads: the address of a row, and four registers.
  uint32_t a[4] = {}, b[2] = {};
  float c[4] = {};
  const void *row = nullptr;
  uint32_t loaded[4] = {};
};
using MatrixLanes = MatrixLane *[32];

// Returns the number whose bits are given, of f16 or bf16.
float widen_half(uint16_t bits, bool is_bf16);

// Null equals null: other exchanges have none.
inline bool is_same_word(const MatrixLane *one, const MatrixLane *other) {
  return one && other ? one->word == other->word : one == other;
}

// Throws a Fault if a row does not begin at a multiple of 16 bytes, or if a
// factor in TF32 has more than ten bits of fraction.
void run_matrix_word(const MatrixLanes &lanes);

} // namespace gpuopt::emulation
