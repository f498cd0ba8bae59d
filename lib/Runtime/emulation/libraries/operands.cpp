#include "emulation/libraries/operands.h"

#include "emulation/cudart/device.h"

#include <cstring>

namespace gpuopt::emulation {

void Operands::add(const std::string &name, const void *data, size_t bytes,
                   bool is_written) {
  if (bytes == 0)
    return;
  expect_on_device(device().memory, data, bytes, call + ": " + name);
  const char *begin = static_cast<const char *>(data), *end = begin + bytes;
  for (const Range &other : ranges)
    if ((is_written || other.is_written) && begin < other.end &&
        other.begin < end)
      throw Fault(call + ": " + name + " overlaps " + other.name);
  ranges.push_back({name, begin, end, is_written});
}

void Operands::reads(const std::string &name, const void *data, size_t bytes) {
  add(name, data, bytes, false);
}
void Operands::writes(const std::string &name, const void *data, size_t bytes) {
  add(name, data, bytes, true);
}

void Operands::spoil(void *workspace, size_t bytes) {
  memset(workspace, 0xff, bytes); // NaNs
}

} // namespace gpuopt::emulation
