// The gradient for the weights of a depthwise convolution on the host. Each
// channel has a filter of its own, so nothing is shared between channels, and a
// vector has one tap of as many channels as there are lanes. oneDNN has such a
// kernel for filters up to three pixels wide; wider ones it computes channel by
// channel, at a tenth of the speed.
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/kernels/memory.h"
#include "gpuopt/ops/conv_shape.h"

#include <algorithm>
#include <vector>

namespace gpuopt {
namespace detail {

inline bool is_depthwise(const ConvShape &s) {
  return s.groups == s.c && s.groups == s.oc && s.groups > 1;
}

// How the gradient is cut into pieces that threads compute. All of it follows
// from the shape, so that the number of threads changes no bit.
struct DepthwiseCut {
  // Bytes that the copied inputs of a band may have, so that they stay in a
  // core's cache while all taps read them.
  static constexpr int64_t kBandBytes = 128 << 10;
  static constexpr int64_t kPieces = 128;

  int64_t blocks;     // of kLanes channels
  int64_t columns;    // of a copied row of inputs, with its padding
  int64_t rows;       // of outputs in a band
  int64_t bands;      // of all images
  int64_t part_bands; // consecutive bands that are added up in one sum
  int64_t parts;      // such sums

  explicit DepthwiseCut(const ConvShape &s, int64_t element_size) {
    blocks = ceil_div(s.c, kLanes);
    columns = (s.ow - 1) * s.stride[1] + (s.kw - 1) * s.dilation[1] + 1;
    const int64_t fit = kBandBytes / (columns * kLanes * element_size),
                  halo = (s.kh - 1) * s.dilation[0] + 1;
    rows = std::clamp<int64_t>((fit - halo) / s.stride[0] + 1, 1, s.oh);
    bands = s.n * ceil_div(s.oh, rows);
    part_bands = ceil_div(bands, std::min(bands, ceil_div(kPieces, blocks)));
    parts = ceil_div(bands, part_bands);
  }
  int64_t input_rows(const ConvShape &s, int64_t output_rows) const {
    return (output_rows - 1) * s.stride[0] + (s.kh - 1) * s.dilation[0] + 1;
  }
};

// Grows while the first step runs, and serves all convolutions in turn.
template <class C>
struct DepthwiseMemory {
  struct OfThread {
    std::vector<C> x, dy;
  };
  std::vector<OfThread> of_thread;
  std::vector<C> parts;

  void reserve(const ConvShape &s, const DepthwiseCut &cut, int threads) {
    of_thread.resize(size_t(threads));
    for (OfThread &own : of_thread) {
      grow(own.x, cut.input_rows(s, cut.rows) * cut.columns * kLanes);
      grow(own.dy, cut.rows * s.ow * kLanes);
    }
    grow(parts, cut.parts * cut.blocks * s.kh * s.kw * kLanes);
  }
  OfThread &own() {
#ifdef _OPENMP
    return of_thread[size_t(omp_get_thread_num())];
#else
    return of_thread[0];
#endif
  }

private:
  static void grow(std::vector<C> &v, int64_t size) {
    v.resize(std::max(v.size(), size_t(size)));
  }
};

// The rows of one band and one block of channels: x with its padding, and dy.
// A pixel has kLanes elements.
template <class C>
struct DepthwiseBand {
  const C *x, *dy;
  int64_t columns, rows;
};

// Copies `count` rows of pixels from row `first` on, and `columns` pixels of
// each from column `first_column` on. What lies outside of the image is zero.
template <class T>
void copy_pixels(const T *image, int64_t h, int64_t w, int64_t c,
                 int64_t channel, int64_t first, int64_t count,
                 int64_t first_column, int64_t columns, Compute<T> *to) {
  using C = Compute<T>;
  const int64_t begin = std::clamp<int64_t>(-first_column, 0, columns),
                end = std::clamp<int64_t>(w - first_column, begin, columns);
  for (int64_t row = first; row < first + count; row++) {
    C *line = to + (row - first) * columns * kLanes;
    if (row < 0 || row >= h) {
      std::fill(line, line + columns * kLanes, C(0));
      continue;
    }
    std::fill(line, line + begin * kLanes, C(0));
    const T *from = image + (row * w + first_column + begin) * c + channel;
    if (c - channel >= kLanes)
      for (int64_t q = begin; q < end; q++, from += c)
        store_vector(line + q * kLanes, load_vector(from));
    else
      for (int64_t q = begin; q < end; q++, from += c)
        store_vector(line + q * kLanes, load(from, c - channel));
    std::fill(line + end * kLanes, line + columns * kLanes, C(0));
  }
}

// Adds to `sums` the taps [i, i + Rows) x [j, j + Columns) of the band's
// gradient. The sums stay in registers.
template <int Rows, int Columns, class C>
void add_taps(const ConvShape &s, const DepthwiseBand<C> &band, int64_t i,
              int64_t j, C *sums) {
  Lanes<C> sum[Rows][Columns];
  UNROLL
  for (int a = 0; a < Rows; a++)
    UNROLL
  for (int b = 0; b < Columns; b++)
    sum[a][b] = load_vector(sums + ((i + a) * s.kw + j + b) * kLanes);
  const int64_t pixel = s.stride[1] * kLanes, tap = s.dilation[1] * kLanes,
                line = band.columns * kLanes;
  for (int64_t p = 0; p < band.rows; p++) {
    const C *dy = band.dy + p * s.ow * kLanes;
    const C *x =
        band.x + (p * s.stride[0] + i * s.dilation[0]) * line + j * tap;
    for (int64_t q = 0; q < s.ow; q++, dy += kLanes, x += pixel) {
      const auto gradient = load_vector(dy);
      UNROLL
      for (int a = 0; a < Rows; a++)
        UNROLL
      for (int b = 0; b < Columns; b++)
        sum[a][b] +=
            gradient * load_vector(x + a * s.dilation[0] * line + b * tap);
    }
  }
  UNROLL
  for (int a = 0; a < Rows; a++)
    UNROLL
  for (int b = 0; b < Columns; b++)
    store_vector(sums + ((i + a) * s.kw + j + b) * kLanes, sum[a][b]);
}

// Adds the taps of `Rows` rows, from row i on.
template <int Rows, class C>
void add_tap_rows(const ConvShape &s, const DepthwiseBand<C> &band, int64_t i,
                  C *sums) {
  // 8 columns leave registers for the products.
  constexpr int kMost = Rows == 1 ? 8 : 4;
  int64_t j = 0;
  for (; s.kw - j > kMost; j += kMost)
    add_taps<Rows, kMost>(s, band, i, j, sums);
  switch (s.kw - j) {
  case 1:
    return add_taps<Rows, 1>(s, band, i, j, sums);
  case 2:
    return add_taps<Rows, 2>(s, band, i, j, sums);
  case 3:
    return add_taps<Rows, 3>(s, band, i, j, sums);
  case 4:
    return add_taps<Rows, 4>(s, band, i, j, sums);
  }
  if constexpr (kMost == 8)
    switch (s.kw - j) {
    case 5:
      return add_taps<Rows, 5>(s, band, i, j, sums);
    case 6:
      return add_taps<Rows, 6>(s, band, i, j, sums);
    case 7:
      return add_taps<Rows, 7>(s, band, i, j, sums);
    case 8:
      return add_taps<Rows, 8>(s, band, i, j, sums);
    }
}

// Adds up one part of the sums of one block of channels.
template <class T>
void sum_depthwise_part(const ConvShape &s, const DepthwiseCut &cut,
                        int64_t part, int64_t channel, const T *x, const T *dy,
                        typename DepthwiseMemory<Compute<T>>::OfThread &own,
                        Compute<T> *sums) {
  using C = Compute<T>;
  const int64_t of_image = ceil_div(s.oh, cut.rows);
  std::fill(sums, sums + s.kh * s.kw * kLanes, C(0));
  const int64_t first = part * cut.part_bands,
                end = std::min(first + cut.part_bands, cut.bands);
  for (int64_t i = first; i < end; i++) {
    const int64_t image = i / of_image, p = i % of_image * cut.rows;
    const DepthwiseBand<C> band{own.x.data(), own.dy.data(), cut.columns,
                                std::min(cut.rows, s.oh - p)};
    copy_pixels(x + image * s.h * s.w * s.c, s.h, s.w, s.c, channel,
                p * s.stride[0] - s.pad_begin[0], cut.input_rows(s, band.rows),
                -s.pad_begin[1], cut.columns, own.x.data());
    copy_pixels(dy + image * s.oh * s.ow * s.c, s.oh, s.ow, s.c, channel, p,
                band.rows, 0, s.ow, own.dy.data());
    // A row of few taps leaves adders idle.
    int64_t row = 0;
    if (s.kw <= 4)
      for (; row + 3 <= s.kh; row += 3)
        add_tap_rows<3>(s, band, row, sums);
    for (; row < s.kh; row++)
      add_tap_rows<1>(s, band, row, sums);
  }
}

// dw = beta * dw + the sums of x and dy, for beta 0 or 1
template <class T>
void depthwise_backward_weights(Context &ctx, const ConvShape &s, const T *x,
                                const T *dy, T *dw, double beta) {
  using C = Compute<T>;
  const int64_t taps = s.kh * s.kw;
  if (s.n * s.oh * s.ow * s.c == 0) {
    if (beta == 0)
      std::fill_n(dw, s.c * taps, T());
    return;
  }
  const DepthwiseCut cut(s, sizeof(C));
  auto &memory = ctx.library<DepthwiseMemory<C>>();
  memory.reserve(s, cut, ctx.num_threads);
  C *parts = memory.parts.data();
#pragma omp parallel for schedule(dynamic) num_threads(ctx.num_threads)
  for (int64_t i = 0; i < cut.parts * cut.blocks; i++)
    sum_depthwise_part(s, cut, i / cut.blocks, i % cut.blocks * kLanes, x, dy,
                       memory.own(), parts + i * taps * kLanes);
#pragma omp parallel for schedule(static) num_threads(ctx.num_threads)
  for (int64_t block = 0; block < cut.blocks; block++) {
    const int64_t channel = block * kLanes;
    for (int64_t tap = 0; tap < taps; tap++) {
      T *to = dw + channel * taps + tap;
      auto sum =
          beta != 0 ? load_strided(to, taps, s.c - channel) : Lanes<C>(C(0));
      for (int64_t part = 0; part < cut.parts; part++)
        sum += load_vector(parts +
                           ((part * cut.blocks + block) * taps + tap) * kLanes);
      store_strided(to, taps, sum, s.c - channel);
    }
  }
}

} // namespace detail
} // namespace gpuopt
