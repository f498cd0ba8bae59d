// The rates of a device as docs/device.schema.json names them.
#pragma once

#include "facts.h"
#include "kernels.h"
#include "stopwatch.h"

#include "gpuopt/ops/conv.h"
#include "gpuopt/ops/gemm.h"

namespace gpuopt::calibration {

class Rates {
public:
  explicit Rates(Context &ctx) : ctx(ctx), watch(ctx) {}

  // Returns the bytes per second of an elementwise kernel whose tensors do not
  // fit into caches.
  double bytes_per_second() {
    const int64_t size = watch.size_for(kSpan * 16, kMostElements,
                                        [&](int64_t n) { add_tensors(n); });
    const double seconds = watch.seconds_of([&] { add_tensors(size); });
    return 3 * sizeof(float) * double(size) / seconds;
  }

  // Returns the operations per second of elementwise work in f32, as the
  // compiler counts them.
  double vector_operations_per_second() {
    const int64_t blocks = 16 * cores_of(ctx);
    float *x = filled<float>(0, blocks * kSpan),
          *y = tensor<float>(1, blocks * kSpan);
    const double seconds = watch.seconds_of(
        [&] { launch(ctx, blocks, kThreads, activate, (const float *)x, y); });
    return kOperationsOfActivate * double(blocks * kSpan) / seconds;
  }

  // Returns the operations per second of products and convolutions on T, over
  // all shapes together.
  template <class T>
  double products_per_second() {
    if (!side)
      side = watch.size_for(64, 4096,
                            [&](int64_t n) { multiply<float>({n, n, n}); });
    Work work;
    // As a forward has them, the two of its backward, and two that are narrow.
    time_product<T>(work, {side, side, side}, "nn");
    time_product<T>(work, {side, side, side}, "nt");
    time_product<T>(work, {side, side, side}, "tn");
    time_product<T>(work, {4 * side, side / 2, side / 2}, "nn");
    time_product<T>(work, {side / 2, side / 2, 4 * side}, "tn");
    // In double precision, convolutions are plain loops: they are for tests.
    if constexpr (!std::is_same_v<T, double>) {
      time_convolutions<T>(work, side / 4, 3);
      time_convolutions<T>(work, side / 2, 1);
    }
    return work.operations / work.seconds;
  }

  // Returns the same for products on f32 that a GPU may round to TF32; other
  // devices do not.
  double tf32_products_per_second() {
    ctx.allows_tf32 = kHasTf32;
    const double rate = products_per_second<float>();
    ctx.allows_tf32 = false;
    return rate;
  }

  // Returns the seconds that a launch of an empty kernel takes, with a block
  // for each core or multiprocessor.
  double seconds_per_launch() {
    float *x = tensor<float>(0, 1);
    const int64_t blocks = cores_of(ctx);
    return watch.seconds_of([&] { launch(ctx, blocks, 32, idle, x); });
  }

  // Returns the bytes per second of copies from pinned memory of the host to
  // the device.
  double link_bytes_per_second() {
    constexpr int64_t kBytes = int64_t(64) << 20;
    char *from = ctx.allocate_staging(kBytes);
    float *to = tensor<float>(0, kBytes / 4);
    Event copied;
    const double seconds = watch.seconds_of([&] {
      copy_from_staging(ctx, to, from, kBytes);
      copied.record_copy(ctx);
      copied.wait(ctx);
    });
    return double(kBytes) / seconds;
  }

  const Stopwatch &stopwatch() const { return watch; }

private:
  struct Work {
    double operations = 0, seconds = 0;
  };
  // 256 MiB for each of three tensors.
  static constexpr int64_t kMostElements = int64_t(64) << 20;

  // Returns memory for the `number`th operand, which later calls share.
  template <class T>
  T *tensor(int number, int64_t size) {
    Tensor &memory = tensors[number];
    const size_t bytes = size_t(size + kSpan) * sizeof(T);
    if (memory.bytes < bytes)
      memory = {ctx.allocate(bytes), bytes};
    return reinterpret_cast<T *>(memory.begin);
  }
  template <class T>
  T *filled(int number, int64_t size) {
    T *x = tensor<T>(number, size);
    launch(ctx, ceil_div(size, kSpan), kThreads, fill<T>, x, size);
    return x;
  }

  void add_tensors(int64_t size) {
    const float *x = tensor<float>(0, size), *y = tensor<float>(1, size);
    launch(ctx, size / kSpan, kThreads, add, x, y, tensor<float>(2, size));
  }

  // A product of m x k by k x n.
  struct Sizes {
    int64_t m, n, k;
  };
  // Dense operands; a letter t says that one lies transposed.
  static GemmShape dense(Sizes sizes, const char *layout) {
    GemmShape s;
    s.m = sizes.m, s.n = sizes.n, s.k = sizes.k;
    s.a_m = layout[0] == 't' ? 1 : s.k;
    s.a_k = layout[0] == 't' ? s.m : 1;
    s.b_k = layout[1] == 't' ? 1 : s.n;
    s.b_n = layout[1] == 't' ? s.k : 1;
    s.c_m = s.n;
    s.c_n = 1;
    return s;
  }
  template <class T>
  void multiply(Sizes s, const char *layout = "nn") {
    const T *a = tensor<T>(0, s.m * s.k), *b = tensor<T>(1, s.k * s.n);
    gemm(ctx, dense(s, layout), a, b, tensor<T>(2, s.m * s.n));
  }
  template <class T>
  void time_product(Work &work, Sizes s, const char *layout) {
    filled<T>(0, s.m * s.k);
    filled<T>(1, s.k * s.n);
    work.seconds += watch.seconds_of([&] { multiply<T>(s, layout); });
    work.operations += 2 * double(s.m) * double(s.n) * double(s.k);
  }

  // A convolution of `channels` to as many, with about the operations of the
  // products, and its two gradients.
  template <class T>
  void time_convolutions(Work &work, int64_t channels, int64_t kernel) {
    const int64_t pixels = std::max<int64_t>(
        64, side * side * side / (channels * channels * kernel * kernel));
    ConvShape s{};
    s.n = ceil_div(pixels, 28 * 28);
    s.h = s.w = s.oh = s.ow = pixels < 28 * 28 ? 8 : 28;
    s.c = s.oc = channels;
    s.kh = s.kw = kernel;
    s.stride[0] = s.stride[1] = s.dilation[0] = s.dilation[1] = s.groups = 1;
    for (int64_t i : {0, 1})
      s.pad_begin[i] = s.pad_end[i] = kernel / 2;
    const int64_t size = s.n * s.h * s.w * s.c,
                  weights = channels * channels * kernel * kernel;
    const T *x = filled<T>(0, size), *w = filled<T>(1, weights);
    T *y = filled<T>(2, size), *dw = tensor<T>(3, weights);
    const T *none = nullptr, *dy = y;
    work.seconds +=
        watch.seconds_of([&] { conv_forward(ctx, s, x, w, none, y); });
    filled<T>(2, size);
    work.seconds += watch.seconds_of(
        [&] { conv_backward_weights(ctx, s, x, dy, dw, 0.0); });
    T *dx = tensor<T>(0, size);
    work.seconds +=
        watch.seconds_of([&] { conv_backward_data(ctx, s, dy, w, dx); });
    work.operations += 3 * 2 * double(s.n * s.h * s.w) * double(weights);
  }

  struct Tensor {
    char *begin = nullptr;
    size_t bytes = 0;
  };

  Context &ctx;
  Stopwatch watch;
  Tensor tensors[4];
  int64_t side = 0;
};

} // namespace gpuopt::calibration
