// A product as cuBLASLt's descriptors describe it:
// D = epilogue(alpha * op(A) op(B) + beta * C), for each member of a batch.
#pragma once

#include "emulation/cublaslt/descriptors.h"

#include <cstdint>

namespace gpuopt::emulation {

// Shapes and strides are in elements.
struct Matrix {
  cudaDataType_t type = CUDA_R_32F;
  int64_t rows = 0, cols = 0, row_stride = 1, col_stride = 1;
  int32_t batch = 1;
  int64_t batch_stride = 0;

  int64_t extent() const; // elements from the first to behind the last
  size_t bytes() const;   // of the whole batch
};

// The work that comes after the product. A bit for each part, as in
// cublasLtEpilogue_t.
struct Epilogue {
  uint32_t kind = CUBLASLT_EPILOGUE_DEFAULT;
  void *bias = nullptr; // or a bias's gradient
  cudaDataType_t bias_type = CUDA_R_32F;
  int64_t bias_batch_stride = 0;
  void *aux = nullptr;
  cudaDataType_t aux_type = CUDA_R_32F;
  int64_t aux_leading = 0, aux_batch_stride = 0;

  bool has(uint32_t part) const { return (kind & part) == part; }
  bool adds_bias() const { return has(CUBLASLT_EPILOGUE_BIAS); }
  bool sums_bias_gradient() const;
  bool uses_aux() const { return has(128); }
  bool writes_aux() const;
  bool aux_is_bits() const; // one bit for each element, for ReLU
};

struct Product {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType_t scale_type = CUDA_R_32F;
  bool scales_on_device = false;
  bool transposes_a = false, transposes_b = false;
  Matrix a, b, c, d;
  int64_t m = 0, n = 0, k = 0;
  Epilogue epilogue;

  int64_t bias_length() const;
  size_t aux_bytes() const;
};

// Reads the descriptors, and refuses what cuBLASLt's manual forbids.
Product read_product(const MatmulDescriptor &descriptor, const MatrixLayout &a,
                     const MatrixLayout &b, const MatrixLayout &c,
                     const MatrixLayout &d);

// How an algorithm adds up the products of a row and a column: in slices of k,
// whose sums are then added, in the type of the computation or in that of D.
struct Summation {
  int32_t slices = 1;
  bool in_type_of_d = false;
};

// The pointers and scalars of a call.
struct ProductCall {
  Product product;
  Summation summation;
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  void *d = nullptr;
  double alpha = 1, beta = 0;
  const void *alpha_on_device = nullptr, *beta_on_device = nullptr;
};
// Computes the product with plain loops.
void compute(const ProductCall &call);

} // namespace gpuopt::emulation
