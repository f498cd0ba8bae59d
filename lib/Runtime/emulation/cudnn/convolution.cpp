#include "emulation/cudnn/convolution.h"

#include "emulation/libraries/elements.h"
#include "emulation/libraries/operands.h"
#include "emulation/machine/random.h"

#include <algorithm>
#include <vector>

namespace gpuopt::emulation {

const cudnnTensorStruct &Convolution::result() const {
  return kind == ConvolutionKind::Forward        ? y
         : kind == ConvolutionKind::BackwardData ? x
                                                 : w;
}
void *ConvolutionCall::result() const {
  return convolution.kind == ConvolutionKind::Forward        ? y
         : convolution.kind == ConvolutionKind::BackwardData ? x
                                                             : w;
}

// ---- What the manual allows ------------------------------------------------

// Returns the size by cudnnGetConvolution2dForwardOutputDim's formula; graphs
// may pad both ends differently.
static int64_t output_size(const Convolution &c, int axis) {
  const cudnnConvolutionStruct &d = c.convolution;
  const int64_t reach = (c.w.size[2 + axis] - 1) * d.dilation[axis] + 1;
  const int64_t padding = d.pad[axis] + d.pad_end[axis];
  return 1 + (c.x.size[2 + axis] + padding - reach) / d.stride[axis];
}

static void check_types(const Convolution &c) {
  const bool is_wide = c.x.type == CUDNN_DATA_DOUBLE;
  if (c.x.type != c.y.type || c.x.type != c.w.type)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "x, y and w of a convolution have different types");
  if (c.convolution.compute != (is_wide ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT))
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "a convolution of double is computed in double, others in float");
}

void check(const Convolution &c) {
  check_types(c);
  const int64_t groups = c.convolution.groups;
  if (c.x.size[1] != c.w.size[1] * groups || c.y.size[1] != c.w.size[0] ||
      c.w.size[0] % groups != 0 || c.x.size[0] != c.y.size[0])
    refuse(CUDNN_STATUS_BAD_PARAM,
           "the channels, groups or images of a convolution do not fit: x " +
               text_of(c.x) + ", w " + text_of(c.w) + ", y " + text_of(c.y) +
               ", " + std::to_string(groups) + " groups");
  for (int axis : {0, 1})
    if (c.y.size[2 + axis] != output_size(c, axis))
      refuse(CUDNN_STATUS_BAD_PARAM,
             "y of a convolution is " + text_of(c.y) + ", but x " +
                 text_of(c.x) + " and w " + text_of(c.w) + " give " +
                 std::to_string(output_size(c, axis)) + " along dimension " +
                 std::to_string(2 + axis));
}

// ---- The loops -------------------------------------------------------------

namespace {

// Dense copies of the three tensors: x [n, h, w, c], w [k, h, w, c], y [n, h,
// w, k].
template <class Number>
class ConvolutionLoops {
public:
  explicit ConvolutionLoops(const ConvolutionCall &call)
      : call(call), c(call.convolution), d(c.convolution) {}

  void run() {
    x = read(c.x, call.x, c.kind == ConvolutionKind::BackwardData);
    w = read(c.w, call.w, c.kind == ConvolutionKind::BackwardFilter);
    y = read(c.y, call.y, c.kind == ConvolutionKind::Forward);
    visit_outputs();
    write(c.result(), call.result(),
          c.kind == ConvolutionKind::Forward        ? y
          : c.kind == ConvolutionKind::BackwardData ? x
                                                    : w);
    if (call.sum)
      add_up_channels();
  }

private:
  template <class F>
  static void for_elements(const cudnnTensorStruct &t, F f) {
    for (int64_t n = 0, i = 0; n < t.size[0]; n++)
      for (int64_t h = 0; h < t.size[2]; h++)
        for (int64_t v = 0; v < t.size[3]; v++)
          for (int64_t k = 0; k < t.size[1]; k++)
            f(size_t(i++), t.offset(n, k, h, v));
  }

  // The result begins as zeros.
  static std::vector<Number> read(const cudnnTensorStruct &t, const void *data,
                                  bool is_result) {
    std::vector<Number> values(size_t(t.elements()), Number(0));
    if (!is_result)
      for_elements(t, [&](size_t i, int64_t offset) {
        values[i] = Number(read_element(element_type(t.type), data, offset));
      });
    return values;
  }

  // If beta is zero, the old values are not read.
  void write(const cudnnTensorStruct &t, void *data,
             const std::vector<Number> &values) const {
    const cudaDataType_t type = element_type(t.type);
    for_elements(t, [&](size_t i, int64_t offset) {
      Number value = Number(call.alpha) * values[i];
      if (call.beta != 0)
        value += Number(call.beta) * Number(read_element(type, data, offset));
      write_element(type, data, offset, double(value));
    });
  }

  void add_up_channels() const {
    const int64_t channels = c.y.size[1];
    const std::vector<Number> stored = read(c.y, call.y, false);
    std::fill_n(call.sum, channels, 0.0f);
    std::fill_n(call.sum_of_squares, channels, 0.0f);
    for (size_t i = 0; i < stored.size(); i++) {
      const float value = float(stored[i]);
      const size_t channel = i % size_t(channels);
      call.sum[channel] += value;
      call.sum_of_squares[channel] += value * value;
    }
  }

  std::vector<int64_t> order_of(int64_t count) const {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < count; i++)
      order.push_back(i);
    if (!c.is_deterministic)
      machine_random().shuffle(order);
    return order;
  }

  void visit_outputs() {
    for (int64_t n : order_of(c.y.size[0]))
      for (int64_t k : order_of(c.y.size[1]))
        for (int64_t p = 0; p < c.y.size[2]; p++)
          for (int64_t q = 0; q < c.y.size[3]; q++)
            visit_taps(n, k, p, q);
  }

  void visit_taps(int64_t n, int64_t k, int64_t p, int64_t q) {
    Number &out =
        y[size_t(((n * c.y.size[2] + p) * c.y.size[3] + q) * c.y.size[1] + k)];
    const int64_t depth = c.w.size[1];
    const int64_t first = k / (c.w.size[0] / d.groups) * depth;
    for (int64_t i = 0; i < c.w.size[2]; i++)
      for (int64_t j = 0; j < c.w.size[3]; j++) {
        const int64_t h = p * d.stride[0] - d.pad[0] + i * d.dilation[0];
        const int64_t v = q * d.stride[1] - d.pad[1] + j * d.dilation[1];
        if (h < 0 || h >= c.x.size[2] || v < 0 || v >= c.x.size[3])
          continue;
        Number *in = &x[size_t(
            ((n * c.x.size[2] + h) * c.x.size[3] + v) * c.x.size[1] + first)];
        add(in, &w[weight(k, i, j)], out, depth);
      }
  }

  size_t weight(int64_t k, int64_t i, int64_t j) const {
    if (d.flips_filter) {
      i = c.w.size[2] - 1 - i;
      j = c.w.size[3] - 1 - j;
    }
    return size_t(((k * c.w.size[2] + i) * c.w.size[3] + j) * c.w.size[1]);
  }

  // Adds one tap, over the channels of its group.
  void add(Number *in, Number *weights, Number &out, int64_t depth) const {
    for (int64_t l = 0; l < depth; l++)
      if (c.kind == ConvolutionKind::Forward)
        out += in[l] * weights[l];
      else if (c.kind == ConvolutionKind::BackwardData)
        in[l] += out * weights[l];
      else
        weights[l] += in[l] * out;
  }

  const ConvolutionCall &call;
  const Convolution &c;
  const cudnnConvolutionStruct &d;
  std::vector<Number> x, w, y;
};

} // namespace

void compute(const ConvolutionCall &call) {
  if (call.convolution.x.type == CUDNN_DATA_DOUBLE)
    ConvolutionLoops<double>(call).run();
  else
    ConvolutionLoops<float>(call).run();
}

void check_operands(const ConvolutionCall &call, const char *function,
                    void *workspace, size_t bytes) {
  const Convolution &c = call.convolution;
  Operands operands(function);
  auto add = [&](const char *name, const cudnnTensorStruct &tensor,
                 const void *data) {
    if (data == call.result())
      operands.writes(name, data, tensor.bytes());
    else
      operands.reads(name, data, tensor.bytes());
  };
  add("x", c.x, call.x);
  add("w", c.w, call.w);
  add("y", c.y, call.y);
  if (call.sum) {
    const size_t sum_bytes = size_t(c.y.size[1]) * sizeof(float);
    operands.writes("the sums", call.sum, sum_bytes);
    operands.writes("the sums of squares", call.sum_of_squares, sum_bytes);
  }
  operands.writes("the workspace", workspace, bytes);
}

} // namespace gpuopt::emulation
