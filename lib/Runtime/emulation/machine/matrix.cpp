#include "emulation/machine/matrix.h"

#include "emulation/machine/fault.h"

#include <cstring>
#include <string>
#include <vector>

namespace gpuopt::emulation {

namespace {

float widen_bf16(uint16_t bits) {
  const uint32_t word = uint32_t(bits) << 16;
  float x;
  memcpy(&x, &word, sizeof x);
  return x;
}

// A table of all f16 numbers, because compilers convert by a call, which takes
// longer than a product.
std::vector<float> all_of_f16() {
  std::vector<float> all(1 << 16);
  for (uint32_t bits = 0; bits < all.size(); bits++) {
    const auto half = uint16_t(bits);
    _Float16 x;
    memcpy(&x, &half, sizeof x);
    all[bits] = float(x);
  }
  return all;
}

uint16_t half_of(uint32_t word, int which) {
  return uint16_t(word >> (16 * which));
}

// Lane 4 g + t holds, in words and in columns of pairs:
//   A  rows g, g + 8, g, g + 8; columns 2 t + {0, 1}, + 8 in the last two
//   B  rows 2 t + {0, 1}, + 8 in the second; column g
//   C  rows g, g, g + 8, g + 8; columns 2 t + {0, 1} twice
void multiply(const MatrixLanes &lanes, bool is_bf16) {
  float a[16][16], b[16][8], c[16][8];
  for (int lane = 0; lane < 32; lane++) {
    const MatrixLane &mine = *lanes[lane];
    const int g = lane / 4, t = lane % 4;
    for (int word = 0; word < 4; word++)
      for (int i = 0; i < 2; i++)
        a[g + 8 * (word % 2)][2 * t + i + 8 * (word / 2)] =
            widen_half(half_of(mine.a[word], i), is_bf16);
    for (int word = 0; word < 2; word++)
      for (int i = 0; i < 2; i++)
        b[2 * t + i + 8 * word][g] =
            widen_half(half_of(mine.b[word], i), is_bf16);
    for (int i = 0; i < 4; i++)
      c[g + 8 * (i / 2)][2 * t + i % 2] = mine.c[i];
  }
  for (int row = 0; row < 16; row++)
    for (int k = 0; k < 16; k++)
      for (int column = 0; column < 8; column++)
        c[row][column] += a[row][k] * b[k][column];
  for (int lane = 0; lane < 32; lane++)
    for (int i = 0; i < 4; i++)
      lanes[lane]->c[i] = c[lane / 4 + 8 * (i / 2)][2 * (lane % 4) + i % 2];
}

// The PTX ISA does not say what a product makes of the lowest 13 bits of a
// factor, so they have to be zero.
float factor_in_tf32(uint32_t word, int lane) {
  float x;
  memcpy(&x, &word, sizeof x);
  if (x == x && word % (1 << 13) != 0)
    throw Fault("lane " + std::to_string(lane) + " of a warp multiplies " +
                std::to_string(x) + ", which is not rounded to TF32");
  return x;
}

// Lane 4 g + t holds:
//   A  rows g, g + 8, g, g + 8; column t, t + 4 in the last two
//   B  row t, t + 4 in the second; column g
//   C  as above
void multiply_tf32(const MatrixLanes &lanes) {
  float a[16][8], b[8][8], c[16][8];
  for (int lane = 0; lane < 32; lane++) {
    const MatrixLane &mine = *lanes[lane];
    const int g = lane / 4, t = lane % 4;
    for (int word = 0; word < 4; word++)
      a[g + 8 * (word % 2)][t + 4 * (word / 2)] =
          factor_in_tf32(mine.a[word], lane);
    for (int word = 0; word < 2; word++)
      b[t + 4 * word][g] = factor_in_tf32(mine.b[word], lane);
    for (int i = 0; i < 4; i++)
      c[g + 8 * (i / 2)][2 * t + i % 2] = mine.c[i];
  }
  for (int row = 0; row < 16; row++)
    for (int k = 0; k < 8; k++)
      for (int column = 0; column < 8; column++)
        c[row][column] += a[row][k] * b[k][column];
  for (int lane = 0; lane < 32; lane++)
    for (int i = 0; i < 4; i++)
      lanes[lane]->c[i] = c[lane / 4 + 8 * (i / 2)][2 * (lane % 4) + i % 2];
}

// Lanes 8 m to 8 m + 7 name the rows of matrix m, which has eight of eight
// elements. Register m of lane 4 g + t gets the elements 2 t and 2 t + 1 of row
// g, or of column g.
void load(const MatrixLanes &lanes, bool is_transposed) {
  uint16_t elements[4][8][8];
  for (int lane = 0; lane < 32; lane++) {
    const void *row = lanes[lane]->row;
    if (reinterpret_cast<uintptr_t>(row) % 16 != 0)
      throw Fault("lane " + std::to_string(lane) +
                  " of a warp loads the row of a matrix from an address that "
                  "is no multiple of 16 bytes");
    memcpy(elements[lane / 8][lane % 8], row, 16);
  }
  for (int lane = 0; lane < 32; lane++)
    for (int m = 0; m < 4; m++) {
      const int g = lane / 4, t = lane % 4;
      const auto &of = elements[m];
      const uint32_t low = is_transposed ? of[2 * t][g] : of[g][2 * t];
      const uint32_t high = is_transposed ? of[2 * t + 1][g] : of[g][2 * t + 1];
      lanes[lane]->loaded[m] = low | high << 16;
    }
}

} // namespace

float widen_half(uint16_t bits, bool is_bf16) {
  static const std::vector<float> f16 = all_of_f16();
  return is_bf16 ? widen_bf16(bits) : f16[bits];
}

void run_matrix_word(const MatrixLanes &lanes) {
  switch (lanes[0]->word) {
  case MatrixWord::MultiplyF16:
    return multiply(lanes, false);
  case MatrixWord::MultiplyBF16:
    return multiply(lanes, true);
  case MatrixWord::MultiplyTf32:
    return multiply_tf32(lanes);
  case MatrixWord::Load:
    return load(lanes, false);
  case MatrixWord::LoadTransposed:
    return load(lanes, true);
  }
}

} // namespace gpuopt::emulation
