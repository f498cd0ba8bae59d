#include "emulation/machine/random.h"

#include <cstdlib>

namespace gpuopt::emulation {

static uint64_t seed_of_environment() {
  const char *text = getenv("GPUOPT_EMULATION_SEED");
  return text ? strtoull(text, nullptr, 10) : 1;
}

Random &machine_random() {
  static Random random(seed_of_environment());
  return random;
}

void seed_machine(uint64_t seed) { machine_random() = Random(seed); }

} // namespace gpuopt::emulation
