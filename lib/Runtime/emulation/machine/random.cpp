#include "emulation/machine/random.h"

#include "emulation/machine/fault.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace gpuopt::emulation {

static uint64_t seed_of_environment() {
  const char *text = getenv("GPUOPT_EMULATION_SEED");
  if (!text)
    return 1;
  const std::string_view digits = text;
  uint64_t seed = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw Fault("GPUOPT_EMULATION_SEED must be a whole number of 64 bits, but "
                "is '" +
                std::string(digits) + "'");
  return seed;
}

Random &machine_random() {
  static Random random(seed_of_environment());
  return random;
}

void seed_machine(uint64_t seed) { machine_random() = Random(seed); }

} // namespace gpuopt::emulation
