// Reads and writes elements of the types that libraries take. Reading widens;
// writing rounds once, to nearest even.
#pragma once

#include <library_types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace gpuopt::emulation {

// Returns the size of an element, or zero for types that the emulation lacks.
size_t size_of(cudaDataType_t type);
std::string name_of(cudaDataType_t type);

double read_element(cudaDataType_t type, const void *data, int64_t index);
// Writes `value`, which was computed in float, or in double if the type is
// double.
void write_element(cudaDataType_t type, void *data, int64_t index,
                   double value);

// Returns the nearest number with TF32's ten bits of fraction.
float round_to_tf32(float value);

} // namespace gpuopt::emulation
