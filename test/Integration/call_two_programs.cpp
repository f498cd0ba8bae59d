// Loads two programs into one process and calls them in turn: one trains, the
// other one computes its forward. Prints the losses of the first and the
// outputs of the second as hexadecimal numbers.
//
// usage: call_two_programs TRAINING_LIBRARY FORWARD_LIBRARY
#include "gpuopt/gpuopt.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <omp.h>
#include <vector>

namespace {

class Library {
public:
  explicit Library(const char *path)
      : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle)
      die(dlerror());
  }
  template <class F>
  F *find(const char *name) const {
    void *const function = dlsym(handle, name);
    if (!function)
      die(dlerror());
    return reinterpret_cast<F *>(function);
  }
  void check(gpuopt_status status) const {
    if (status != GPUOPT_OK)
      die(find<decltype(gpuopt_last_error)>("gpuopt_last_error")());
  }
  [[noreturn]] static void die(const char *text) {
    fprintf(stderr, "%s\n", text);
    exit(1);
  }

private:
  void *handle;
};
#define FIND(library, function)                                                \
  (library).find<decltype(gpuopt_##function)>("gpuopt_" #function)

// A batch whose elements count up.
struct Batch {
  explicit Batch(size_t count) : x(count), labels(8) {
    for (size_t i = 0; i < count; i++)
      x[i] = float(i % 7) / 7;
    for (size_t i = 0; i < 8; i++)
      labels[i] = int64_t(i % 4);
    tensors[0] = {"x", GPUOPT_F32, GPUOPT_HOST, x.data(), count * 4};
    tensors[1] = {"labels", GPUOPT_I64, GPUOPT_HOST, labels.data(), 64};
  }
  std::vector<float> x;
  std::vector<int64_t> labels;
  gpuopt_tensor tensors[2];
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  omp_set_num_threads(3);
  const Library training(argv[1]), inference(argv[2]);
  gpuopt_program *trained = nullptr, *computed = nullptr;
  training.check(FIND(training, create)(nullptr, &trained));
  inference.check(FIND(inference, create)(nullptr, &computed));
  Batch batch(8 * 6);
  std::vector<float> outputs(8 * 4);
  const gpuopt_tensor output = {nullptr, GPUOPT_F32, GPUOPT_HOST,
                                outputs.data(), outputs.size() * 4};
  for (int step = 0; step < 3; step++) {
    double loss = 0;
    training.check(FIND(training, step)(trained, batch.tensors, 2, &loss));
    inference.check(
        FIND(inference, forward)(computed, batch.tensors, 1, &output, 1));
    printf("%a %a\n", loss, double(outputs[5]));
  }
  FIND(training, destroy)(trained);
  FIND(inference, destroy)(computed);
  return omp_get_max_threads() == 3 ? 0 : 3;
}
