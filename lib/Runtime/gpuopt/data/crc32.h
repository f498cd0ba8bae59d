// CRC-32, as zlib, gzip, zip archives and PNG have it, and CRC-32C
// (Castagnoli), as iSCSI and TFRecord files have it.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace gpuopt {

namespace detail {

// The remainders of a byte that 0 to 7 zero bytes follow, so that eight bytes
// are taken at once (Kounavis and Berry, "A systematic approach to building
// high performance, software-based, CRC generators", ISCC 2005).
using CrcTables = std::array<std::array<uint32_t, 256>, 8>;
constexpr CrcTables crc_tables(uint32_t polynomial) {
  CrcTables tables{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; bit++)
      rest = rest >> 1 ^ (rest & 1 ? polynomial : 0);
    tables[0][byte] = rest;
  }
  for (size_t zeros = 1; zeros < 8; zeros++)
    for (size_t byte = 0; byte < 256; byte++) {
      const uint32_t rest = tables[zeros - 1][byte];
      tables[zeros][byte] = rest >> 8 ^ tables[0][rest & 255];
    }
  return tables;
}
// The polynomials are reflected.
inline constexpr CrcTables kCrcTables = crc_tables(0xedb88320);
inline constexpr CrcTables kCrc32cTables = crc_tables(0x82f63b78);

inline uint32_t crc_by(const CrcTables &tables, const uint8_t *data,
                       size_t bytes) {
  uint32_t rest = ~uint32_t(0);
  for (; bytes >= 8; bytes -= 8, data += 8) {
    uint64_t word = 0;
    memcpy(&word, data, 8); // little-endian, as all of our targets are
    word ^= rest;
    rest = 0;
    for (size_t i = 0; i < 8; i++)
      rest ^= tables[7 - i][word >> (8 * i) & 255];
  }
  for (; bytes > 0; bytes--, data++)
    rest = rest >> 8 ^ tables[0][(rest ^ *data) & 255];
  return ~rest;
}

} // namespace detail

inline uint32_t crc32(const uint8_t *data, size_t bytes) {
  return detail::crc_by(detail::kCrcTables, data, bytes);
}
inline uint32_t crc32c(const uint8_t *data, size_t bytes) {
  return detail::crc_by(detail::kCrc32cTables, data, bytes);
}

} // namespace gpuopt
