// Measures the device on which it runs, in a few seconds, and prints a line for
// each member of a device file (docs/device.schema.json), and these:
//
//   device NAME           as the device calls itself
//   measurements COUNT
//   disturbed COUNT       of the measurements, while something else ran
//
// gpuopt calibrate builds it, runs it, and writes the file. The program ends
// early if most measurements are disturbed, unless it has the argument --force.
#include "facts.h"
#include "rates.h"

#include "gpuopt/settings/measured_rates.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace gpuopt::calibration {

using Measure = double (*)(Rates &);

// The measurements of kMeasuredRates, in their order.
static constexpr Measure kMeasurements[] = {
    [](Rates &r) { return r.bytes_per_second(); },
    [](Rates &r) { return r.vector_operations_per_second(); },
    [](Rates &r) { return r.seconds_per_launch(); },
    [](Rates &r) { return r.link_bytes_per_second(); },
    [](Rates &r) { return r.products_per_second<float>(); },
    [](Rates &r) { return r.tf32_products_per_second(); },
    [](Rates &r) { return r.products_per_second<f16>(); },
    [](Rates &r) { return r.products_per_second<bf16>(); },
    [](Rates &r) { return r.products_per_second<double>(); },
};
static_assert(std::size(kMeasurements) == std::size(kMeasuredRates));

static bool is_hopeless(const Stopwatch &watch) {
  return watch.measurements() >= 8 &&
         2 * watch.disturbed() > watch.measurements();
}

static void measure(bool is_forced) {
  Context ctx;
  printf("device %s\n", device_name().c_str());
  for (auto [name, value] : facts_of(ctx))
    printf("%s %.17g\n", name, value);
  Rates rates(ctx);
  for (size_t i = 0; i < std::size(kMeasuredRates); i++)
    if ((kMeasuredRates[i].is_of_gpus || !kIsGpu) &&
        (is_forced || !is_hopeless(rates.stopwatch())))
      printf("%s %.4g\n", std::string(kMeasuredRates[i].name).c_str(),
             kMeasurements[i](rates));
  printf("measurements %lld\ndisturbed %lld\n",
         (long long)rates.stopwatch().measurements(),
         (long long)rates.stopwatch().disturbed());
  if (fflush(stdout) != 0 || ferror(stdout))
    throw Error("cannot write what was measured: " +
                std::string(strerror(errno)));
}

} // namespace gpuopt::calibration

int main(int argc, char **argv) {
  try {
    gpuopt::calibration::measure(argc > 1 && !strcmp(argv[1], "--force"));
    return 0;
  } catch (const std::exception &error) {
    fprintf(stderr, "calibrate: error: %s\n", error.what());
    return 1;
  }
}
