#include "emulation/cublaslt/product.h"

#include "emulation/libraries/elements.h"

#include <algorithm>
#include <array>

namespace gpuopt::emulation {

// ---- Sizes -----------------------------------------------------------------

int64_t Matrix::extent() const {
  return rows * cols == 0
             ? 0
             : (rows - 1) * row_stride + (cols - 1) * col_stride + 1;
}

size_t Matrix::bytes() const {
  return size_t((batch - 1) * batch_stride + extent()) * size_of(type);
}

bool Epilogue::sums_bias_gradient() const {
  return kind == CUBLASLT_EPILOGUE_DRELU_BGRAD ||
         kind == CUBLASLT_EPILOGUE_DGELU_BGRAD ||
         kind == CUBLASLT_EPILOGUE_BGRADA || kind == CUBLASLT_EPILOGUE_BGRADB;
}

bool Epilogue::writes_aux() const {
  return uses_aux() &&
         (has(CUBLASLT_EPILOGUE_RELU) || has(CUBLASLT_EPILOGUE_GELU));
}

bool Epilogue::aux_is_bits() const {
  return uses_aux() &&
         (has(CUBLASLT_EPILOGUE_RELU) || has(CUBLASLT_EPILOGUE_DRELU));
}

int64_t Product::bias_length() const {
  return epilogue.kind == CUBLASLT_EPILOGUE_BGRADB ? n : m;
}

size_t Product::aux_bytes() const {
  const int64_t elements = (d.batch - 1) * epilogue.aux_batch_stride +
                           epilogue.aux_leading * (n - 1) + m;
  return epilogue.aux_is_bits() ? size_t(elements + 7) / 8
                                : size_t(elements) * size_of(epilogue.aux_type);
}

// ---- Descriptors -----------------------------------------------------------

static void expect(bool holds, const std::string &message) {
  if (!holds)
    refuse(CUBLAS_STATUS_INVALID_VALUE, message);
}

static Matrix read_matrix(const MatrixLayout &layout, const char *name) {
  Matrix matrix;
  matrix.type = cudaDataType_t(layout.value<uint32_t>(
      CUBLASLT_MATRIX_LAYOUT_TYPE, uint32_t(CUDA_R_32F)));
  matrix.rows = layout.value<int64_t>(CUBLASLT_MATRIX_LAYOUT_ROWS, 0);
  matrix.cols = layout.value<int64_t>(CUBLASLT_MATRIX_LAYOUT_COLS, 0);
  const auto leading = layout.value<int64_t>(CUBLASLT_MATRIX_LAYOUT_LD, 0);
  const auto order =
      layout.value<int32_t>(CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_COL);
  if (order != CUBLASLT_ORDER_COL && order != CUBLASLT_ORDER_ROW)
    refuse(CUBLAS_STATUS_NOT_SUPPORTED, std::string("the emulation lacks the "
                                                    "order of matrix ") +
                                            name);
  const bool by_columns = order == CUBLASLT_ORDER_COL;
  (by_columns ? matrix.col_stride : matrix.row_stride) = leading;
  matrix.batch = layout.value<int32_t>(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 1);
  matrix.batch_stride =
      layout.value<int64_t>(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 0);
  expect(matrix.rows > 0 && matrix.cols > 0 && matrix.batch > 0,
         std::string("matrix ") + name + " has no elements");
  const int64_t least = by_columns ? matrix.rows : matrix.cols;
  expect(leading >= least,
         std::string("matrix ") + name + " has the leading dimension " +
             std::to_string(leading) + ", which must be at least " +
             std::to_string(least));
  return matrix;
}

static Epilogue read_epilogue(const MatmulDescriptor &from,
                              cudaDataType_t type) {
  Epilogue e;
  e.kind = from.value<uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE,
                                CUBLASLT_EPILOGUE_DEFAULT);
  e.bias = from.value<void *>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, nullptr);
  e.bias_type = cudaDataType_t(
      from.value<int32_t>(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type));
  e.bias_batch_stride =
      from.value<int64_t>(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 0);
  e.aux =
      from.value<void *>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, nullptr);
  e.aux_type = cudaDataType_t(
      from.value<int32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, type));
  e.aux_leading = from.value<int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 0);
  e.aux_batch_stride =
      from.value<int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, 0);
  return e;
}

// ---- What the manual allows ------------------------------------------------

static const std::array kEpilogues = {
    CUBLASLT_EPILOGUE_DEFAULT,   CUBLASLT_EPILOGUE_RELU,
    CUBLASLT_EPILOGUE_RELU_AUX,  CUBLASLT_EPILOGUE_BIAS,
    CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
    CUBLASLT_EPILOGUE_DRELU,     CUBLASLT_EPILOGUE_DRELU_BGRAD,
    CUBLASLT_EPILOGUE_GELU,      CUBLASLT_EPILOGUE_GELU_AUX,
    CUBLASLT_EPILOGUE_GELU_BIAS, CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
    CUBLASLT_EPILOGUE_DGELU,     CUBLASLT_EPILOGUE_DGELU_BGRAD,
    CUBLASLT_EPILOGUE_BGRADA,    CUBLASLT_EPILOGUE_BGRADB,
};

static void check_types(const Product &p) {
  const cudaDataType_t in = p.a.type, out = p.d.type;
  const bool is_wide = p.compute == CUBLAS_COMPUTE_64F;
  const bool is_float = p.compute == CUBLAS_COMPUTE_32F ||
                        p.compute == CUBLAS_COMPUTE_32F_PEDANTIC;
  const bool is_tf32 = p.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  const bool is_half = in == CUDA_R_16F || in == CUDA_R_16BF;
  const bool narrows = out == in || out == CUDA_R_32F;
  const bool is_listed = (is_wide && in == CUDA_R_64F && out == CUDA_R_64F) ||
                         (is_float && in == CUDA_R_32F && out == CUDA_R_32F) ||
                         (is_tf32 && in == CUDA_R_32F && out == CUDA_R_32F) ||
                         (is_float && is_half && narrows);
  if (!is_listed || p.b.type != in || p.c.type != out ||
      p.scale_type != (is_wide ? CUDA_R_64F : CUDA_R_32F))
    refuse(CUBLAS_STATUS_NOT_SUPPORTED,
           "cuBLASLt's table has no product of " + name_of(in) + " and " +
               name_of(p.b.type) + " to " + name_of(out) + " from " +
               name_of(p.c.type) + ", computed in type " +
               std::to_string(int(p.compute)) + ", scaled by " +
               name_of(p.scale_type));
}

// Members lie one after the other, or side by side within each line of memory.
static bool members_overlap(const Matrix &d) {
  const bool by_columns = d.row_stride == 1;
  const int64_t line = by_columns ? d.rows : d.cols;
  const int64_t leading = by_columns ? d.col_stride : d.row_stride;
  const bool side_by_side =
      d.batch_stride >= line && leading >= d.batch_stride * d.batch;
  return d.batch > 1 && d.batch_stride < d.extent() && !side_by_side;
}

static void check_shapes(const Product &p) {
  const int64_t inner_b = p.transposes_b ? p.b.cols : p.b.rows;
  const int64_t n = p.transposes_b ? p.b.rows : p.b.cols;
  expect(p.k == inner_b && p.m == p.d.rows && n == p.d.cols &&
             p.c.rows == p.m && p.c.cols == p.n,
         "the shapes of a product do not fit: op(A) is " + std::to_string(p.m) +
             " x " + std::to_string(p.k) + ", op(B) " +
             std::to_string(inner_b) + " x " + std::to_string(n) + ", D " +
             std::to_string(p.d.rows) + " x " + std::to_string(p.d.cols));
  expect(p.a.batch == p.d.batch && p.b.batch == p.d.batch &&
             p.c.batch == p.d.batch,
         "the matrices of a product have batches of different sizes");
  expect(!members_overlap(p.d), "members of D's batch overlap");
}

static void check_bias(const Product &p) {
  const Epilogue &e = p.epilogue;
  if (!e.adds_bias() && !e.sums_bias_gradient())
    return;
  expect(e.bias_type == p.d.type,
         "a bias, or its gradient, has D's type, " + name_of(p.d.type) +
             ", but is said to have " + name_of(e.bias_type));
}

static void check_aux(const Product &p) {
  const Epilogue &e = p.epilogue;
  if (!e.uses_aux())
    return;
  const int64_t unit = e.aux_is_bits() ? 128 : 8;
  expect(e.aux_leading >= p.m && e.aux_leading % unit == 0,
         "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD is " +
             std::to_string(e.aux_leading) + ", but must be a multiple of " +
             std::to_string(unit) + " and at least " + std::to_string(p.m));
  expect(e.aux_batch_stride % unit == 0,
         "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE must be a multiple "
         "of " +
             std::to_string(unit));
  expect(e.aux_is_bits() || e.aux_type == p.d.type,
         "what an epilogue keeps of GELU has D's type");
}

static void check_epilogue(const Product &p) {
  if (std::find(kEpilogues.begin(), kEpilogues.end(),
                cublasLtEpilogue_t(p.epilogue.kind)) == kEpilogues.end())
    refuse(CUBLAS_STATUS_NOT_SUPPORTED,
           "the emulation lacks epilogue " + std::to_string(p.epilogue.kind));
  check_bias(p);
  check_aux(p);
  if (p.epilogue.kind != CUBLASLT_EPILOGUE_DEFAULT && p.d.row_stride != 1)
    refuse(CUBLAS_STATUS_NOT_SUPPORTED,
           "the emulation lacks epilogues on a D that lies by rows");
}

static bool transposes(const MatmulDescriptor &from, int attribute) {
  const auto operation = from.value<int32_t>(attribute, CUBLAS_OP_N);
  if (operation != CUBLAS_OP_N && operation != CUBLAS_OP_T)
    refuse(CUBLAS_STATUS_NOT_SUPPORTED,
           "the emulation lacks conjugate transposes");
  return operation == CUBLAS_OP_T;
}

Product read_product(const MatmulDescriptor &from, const MatrixLayout &a,
                     const MatrixLayout &b, const MatrixLayout &c,
                     const MatrixLayout &d) {
  Product p;
  p.compute = cublasComputeType_t(
      from.value<int32_t>(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 0));
  p.scale_type =
      cudaDataType_t(from.value<int32_t>(CUBLASLT_MATMUL_DESC_SCALE_TYPE, 0));
  const auto mode = from.value<int32_t>(CUBLASLT_MATMUL_DESC_POINTER_MODE,
                                        CUBLASLT_POINTER_MODE_HOST);
  if (mode != CUBLASLT_POINTER_MODE_HOST &&
      mode != CUBLASLT_POINTER_MODE_DEVICE)
    refuse(CUBLAS_STATUS_NOT_SUPPORTED,
           "the emulation lacks pointer mode " + std::to_string(mode));
  p.scales_on_device = mode == CUBLASLT_POINTER_MODE_DEVICE;
  p.transposes_a = transposes(from, CUBLASLT_MATMUL_DESC_TRANSA);
  p.transposes_b = transposes(from, CUBLASLT_MATMUL_DESC_TRANSB);
  p.a = read_matrix(a, "A");
  p.b = read_matrix(b, "B");
  p.c = read_matrix(c, "C");
  p.d = read_matrix(d, "D");
  p.m = p.transposes_a ? p.a.cols : p.a.rows;
  p.k = p.transposes_a ? p.a.rows : p.a.cols;
  p.n = p.d.cols;
  p.epilogue = read_epilogue(from, p.d.type);
  check_types(p);
  check_shapes(p);
  check_epilogue(p);
  return p;
}

} // namespace gpuopt::emulation
