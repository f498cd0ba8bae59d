#include "emulation/libraries/elements.h"

#include <cstring>

namespace gpuopt::emulation {

size_t size_of(cudaDataType_t type) {
  switch (type) {
  case CUDA_R_64F:
    return 8;
  case CUDA_R_32F:
    return 4;
  case CUDA_R_16F:
  case CUDA_R_16BF:
    return 2;
  default:
    return 0;
  }
}

std::string name_of(cudaDataType_t type) {
  switch (type) {
  case CUDA_R_64F:
    return "f64";
  case CUDA_R_32F:
    return "f32";
  case CUDA_R_16F:
    return "f16";
  case CUDA_R_16BF:
    return "bf16";
  default:
    return "type " + std::to_string(int(type));
  }
}

template <class T>
static T at(const void *data, int64_t index) {
  T value;
  memcpy(&value, static_cast<const char *>(data) + index * int64_t(sizeof(T)),
         sizeof value);
  return value;
}
template <class T>
static void put(void *data, int64_t index, T value) {
  memcpy(static_cast<char *>(data) + index * int64_t(sizeof(T)), &value,
         sizeof value);
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Rounds the lowest bits of the fraction away, to nearest even; a NaN stays a
// NaN.
static float drop_bits(float value, int count) {
  if (value != value)
    return value;
  const uint32_t bits = bits_of(value), unit = uint32_t(1) << count;
  const uint32_t rounded = bits + (unit / 2 - 1) + (bits >> count & 1);
  return float_of(rounded & ~(unit - 1));
}

float round_to_tf32(float value) { return drop_bits(value, 13); }

double read_element(cudaDataType_t type, const void *data, int64_t index) {
  switch (type) {
  case CUDA_R_64F:
    return at<double>(data, index);
  case CUDA_R_32F:
    return double(at<float>(data, index));
  case CUDA_R_16F:
    return double(at<_Float16>(data, index));
  default: // CUDA_R_16BF
    return double(float_of(uint32_t(at<uint16_t>(data, index)) << 16));
  }
}

void write_element(cudaDataType_t type, void *data, int64_t index,
                   double value) {
  switch (type) {
  case CUDA_R_64F:
    return put(data, index, value);
  case CUDA_R_32F:
    return put(data, index, float(value));
  case CUDA_R_16F:
    return put(data, index, _Float16(float(value)));
  default: // CUDA_R_16BF
    return put(data, index,
               uint16_t(bits_of(drop_bits(float(value), 16)) >> 16));
  }
}

} // namespace gpuopt::emulation
