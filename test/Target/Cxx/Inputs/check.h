// Runs a step of an emitted program and looks at what it wrote.
#pragma once

#include "gpuopt/runtime.h"
#include "step.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace check {

inline gpuopt::Context &context() {
  static gpuopt::Context ctx(2);
  return ctx;
}
inline char *memory() {
  static char *const p = [] {
    context().allocate_host(program().host_bytes);
    return context().allocate(program().total_bytes);
  }();
  return p;
}

inline const gpuopt::TensorInfo &tensor(const char *name) {
  for (const auto &input : program().inputs)
    if (!strcmp(input.tensor.name, name))
      return input.tensor;
  for (const auto &output : program().outputs)
    if (!strcmp(output.tensor.name, name))
      return output.tensor;
  for (const auto &state : program().states)
    if (!strcmp(state.tensor.name, name))
      return state.tensor;
  printf("no tensor '%s'\n", name);
  exit(1);
}
template <class T>
T *data(const char *name) {
  return reinterpret_cast<T *>(memory() + tensor(name).offset);
}

inline int failures = 0;

// Equal up to `tolerance`, relative to the larger one; NaN equals NaN.
inline void expect(const char *what, int64_t index, double got, double want,
                   double tolerance = 0) {
  if (std::isnan(got) && std::isnan(want))
    return;
  const double scale = std::fmax(std::fabs(got), std::fabs(want));
  if (got == want || std::fabs(got - want) <= tolerance * scale)
    return;
  printf("%s[%lld]: got %.17g, expected %.17g\n", what, (long long)index, got,
         want);
  failures++;
}

inline int finish() {
  puts(failures ? "wrong" : "right");
  return failures ? 1 : 0;
}

} // namespace check
