// Computes products by plain loops, in double if the product's type is double,
// else in float, and rounds once when D is written.
#include "emulation/cublaslt/product.h"
#include "emulation/libraries/elements.h"

#include <cmath>
#include <type_traits>
#include <vector>

namespace gpuopt::emulation {
namespace {

template <class Number>
class Computation {
public:
  explicit Computation(const ProductCall &call)
      : call(call), p(call.product), e(p.epilogue) {}

  void run() {
    alpha = scale(call.alpha, call.alpha_on_device);
    beta = scale(call.beta, call.beta_on_device);
    for (int32_t member = 0; member < p.d.batch; member++) {
      read_operands(member);
      multiply();
      add_c(member);
      finish(member);
      write_d(member);
    }
  }

private:
  Number scale(double value, const void *on_device) const {
    return Number(on_device ? read_element(p.scale_type, on_device, 0) : value);
  }

  // Returns op(matrix), row by row.
  std::vector<Number> read(const Matrix &matrix, const void *data,
                           int32_t member, bool transposes) const {
    std::vector<Number> values;
    values.reserve(size_t(matrix.rows * matrix.cols));
    const int64_t rows = transposes ? matrix.cols : matrix.rows;
    const int64_t cols = transposes ? matrix.rows : matrix.cols;
    const int64_t down = transposes ? matrix.col_stride : matrix.row_stride;
    const int64_t right = transposes ? matrix.row_stride : matrix.col_stride;
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < cols; j++)
        values.push_back(Number(
            read_element(matrix.type, data,
                         member * matrix.batch_stride + i * down + j * right)));
    return values;
  }

  void read_operands(int32_t member) {
    a = read(p.a, call.a, member, p.transposes_a);
    b = read(p.b, call.b, member, p.transposes_b);
    if (p.compute == CUBLAS_COMPUTE_32F_FAST_TF32)
      for (std::vector<Number> *operand : {&a, &b})
        for (Number &value : *operand)
          value = Number(round_to_tf32(float(value)));
  }

  void multiply() {
    d.assign(size_t(p.m * p.n), Number(0));
    std::vector<Number> sums;
    for (int32_t slice = 0; slice < call.summation.slices; slice++) {
      sums.assign(d.size(), Number(0));
      add_products(p.k * slice / call.summation.slices,
                   p.k * (slice + 1) / call.summation.slices, sums);
      add_slice(sums);
    }
    for (Number &value : d)
      value *= alpha;
  }

  // The products of the elements begin..end of a row and a column.
  void add_products(int64_t begin, int64_t end,
                    std::vector<Number> &sums) const {
    for (int64_t i = 0; i < p.m; i++) {
      Number *row = sums.data() + i * p.n;
      for (int64_t l = begin; l < end; l++) {
        const Number factor = a[size_t(i * p.k + l)];
        const Number *other = b.data() + l * p.n;
        for (int64_t j = 0; j < p.n; j++)
          row[j] += factor * other[j];
      }
    }
  }

  void add_slice(const std::vector<Number> &sums) {
    char rounded[sizeof(double)];
    for (size_t i = 0; i < d.size(); i++) {
      d[i] += sums[i];
      if (!call.summation.in_type_of_d)
        continue;
      write_element(p.d.type, rounded, 0, double(d[i]));
      d[i] = Number(read_element(p.d.type, rounded, 0));
    }
  }

  // A factor of zero means that C is not read, so a NaN there does no harm.
  void add_c(int32_t member) {
    if (beta == Number(0))
      return;
    const std::vector<Number> c = read(p.c, call.c, member, false);
    for (size_t i = 0; i < d.size(); i++)
      d[i] += beta * c[i];
  }

  void write_d(int32_t member) {
    for (int64_t i = 0; i < p.m; i++)
      for (int64_t j = 0; j < p.n; j++)
        write_element(p.d.type, call.d,
                      member * p.d.batch_stride + i * p.d.row_stride +
                          j * p.d.col_stride,
                      double(d[size_t(i * p.n + j)]));
  }

  // ---- Epilogues -----------------------------------------------------------

  void finish(int32_t member) {
    if (e.adds_bias())
      add_bias(member);
    if (e.has(CUBLASLT_EPILOGUE_GELU) || e.has(CUBLASLT_EPILOGUE_RELU))
      activate(member);
    if (e.has(CUBLASLT_EPILOGUE_DGELU) || e.has(CUBLASLT_EPILOGUE_DRELU))
      multiply_by_derivative(member);
    if (e.sums_bias_gradient())
      sum_bias_gradient(member);
  }

  void add_bias(int32_t member) {
    for (int64_t i = 0; i < p.m; i++) {
      const Number bias = Number(
          read_element(e.bias_type, e.bias, member * e.bias_batch_stride + i));
      for (int64_t j = 0; j < p.n; j++)
        d[size_t(i * p.n + j)] += bias;
    }
  }

  int64_t aux_index(int32_t member, int64_t i, int64_t j) const {
    return member * e.aux_batch_stride + j * e.aux_leading + i;
  }
  bool aux_bit(int64_t index) const {
    return static_cast<const uint8_t *>(e.aux)[index / 8] >> (index % 8) & 1;
  }
  void set_aux_bit(int64_t index, bool value) {
    uint8_t &byte = static_cast<uint8_t *>(e.aux)[index / 8];
    byte = uint8_t((byte & ~(1 << index % 8)) | value << index % 8);
  }

  // cuBLASLt's GELU is the approximation by a hyperbolic tangent.
  static constexpr double kSlope = 0.7978845608028654, kCubic = 0.044715;
  static Number gelu(Number x) {
    const Number inner = Number(kSlope) * (x + Number(kCubic) * x * x * x);
    return Number(0.5) * x * (Number(1) + std::tanh(inner));
  }
  static Number gelu_derivative(Number x) {
    const Number t =
        std::tanh(Number(kSlope) * (x + Number(kCubic) * x * x * x));
    const Number inner =
        Number(kSlope) * (Number(1) + Number(3 * kCubic) * x * x);
    return Number(0.5) * (Number(1) + t) +
           Number(0.5) * x * (Number(1) - t * t) * inner;
  }

  void activate(int32_t member) {
    const bool is_gelu = e.has(CUBLASLT_EPILOGUE_GELU);
    for (int64_t i = 0; i < p.m; i++)
      for (int64_t j = 0; j < p.n; j++) {
        Number &x = d[size_t(i * p.n + j)];
        const int64_t at = aux_index(member, i, j);
        if (e.uses_aux() && is_gelu)
          write_element(e.aux_type, e.aux, at, double(x));
        else if (e.uses_aux())
          set_aux_bit(at, x > Number(0));
        x = is_gelu ? gelu(x) : x > Number(0) ? x : Number(0);
      }
  }

  void multiply_by_derivative(int32_t member) {
    const bool is_gelu = e.has(CUBLASLT_EPILOGUE_DGELU);
    for (int64_t i = 0; i < p.m; i++)
      for (int64_t j = 0; j < p.n; j++) {
        const int64_t at = aux_index(member, i, j);
        d[size_t(i * p.n + j)] *=
            is_gelu
                ? gelu_derivative(Number(read_element(e.aux_type, e.aux, at)))
                : Number(aux_bit(at));
      }
  }

  // BGRADA sums op(A) over k, BGRADB op(B); the others sum D over its columns.
  void sum_bias_gradient(int32_t member) {
    const bool of_a = e.kind == CUBLASLT_EPILOGUE_BGRADA;
    const bool of_b = e.kind == CUBLASLT_EPILOGUE_BGRADB;
    const int64_t terms = of_a || of_b ? p.k : p.n;
    for (int64_t i = 0; i < p.bias_length(); i++) {
      Number sum = 0;
      for (int64_t l = 0; l < terms; l++)
        sum += of_b   ? b[size_t(l * p.n + i)]
               : of_a ? a[size_t(i * p.k + l)]
                      : d[size_t(i * p.n + l)];
      write_element(e.bias_type, e.bias, member * e.bias_batch_stride + i,
                    double(sum));
    }
  }

  const ProductCall &call;
  const Product &p;
  const Epilogue &e;
  Number alpha = 1, beta = 0;
  std::vector<Number> a, b, d; // m x k, k x n, m x n, by rows
};

} // namespace

void compute(const ProductCall &call) {
  if (call.product.compute == CUBLAS_COMPUTE_64F)
    Computation<double>(call).run();
  else
    Computation<float>(call).run();
}

} // namespace gpuopt::emulation
