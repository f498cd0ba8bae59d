// cuBLASLt's descriptors, read as its manual defines them, against plain loops.
#include "Machine.h"

#include "emulation/libraries/elements.h"

#include <cublasLt.h>

#include <cmath>
#include <functional>

using gpuopt::emulation::read_element;
using gpuopt::emulation::write_element;

namespace {

// A matrix in device memory; column-major unless by_rows.
struct MatrixOnDevice {
  MatrixOnDevice(cudaDataType_t type, int64_t rows, int64_t cols,
                 int64_t leading, bool by_rows = false, int batch = 1)
      : type(type), rows(rows), cols(cols), leading(leading), by_rows(by_rows),
        batch(batch), stride(leading * (by_rows ? rows : cols) + 8),
        bytes(size_t(stride * batch) * gpuopt::emulation::size_of(type)) {
    cublasLtMatrixLayoutCreate(&layout, type, uint64_t(rows), uint64_t(cols),
                               leading);
    const int32_t order = by_rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    set(CUBLASLT_MATRIX_LAYOUT_ORDER, order);
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(batch));
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
    cudaMalloc(&data, bytes);
    std::vector<char> host(bytes);
    for (int64_t i = 0; i < stride * batch; i++)
      write_element(type, host.data(), i, double(i * 7 % 11 - 5) / 4);
    cudaMemcpy(data, host.data(), bytes, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
  }
  ~MatrixOnDevice() {
    cublasLtMatrixLayoutDestroy(layout);
    cudaFree(data);
  }
  MatrixOnDevice(const MatrixOnDevice &) = delete;
  MatrixOnDevice &operator=(const MatrixOnDevice &) = delete;

  template <class T>
  cublasStatus_t set(cublasLtMatrixLayoutAttribute_t attribute, T value) {
    return cublasLtMatrixLayoutSetAttribute(layout, attribute, &value,
                                            sizeof value);
  }
  std::vector<char> on_host() const {
    std::vector<char> host(bytes);
    cudaDeviceSynchronize();
    cudaMemcpy(host.data(), data, bytes, cudaMemcpyDeviceToHost);
    return host;
  }
  double at(const std::vector<char> &host, int member, int64_t i,
            int64_t j) const {
    return read_element(type, host.data(),
                        member * stride +
                            (by_rows ? i * leading + j : j * leading + i));
  }

  cudaDataType_t type;
  int64_t rows, cols, leading;
  bool by_rows;
  int batch;
  int64_t stride;
  size_t bytes;
  cublasLtMatrixLayout_t layout = nullptr;
  void *data = nullptr;
};

// A product of m x k by k x n that tests change before they run it.
struct Lt {
  explicit Lt(cublasComputeType_t compute = CUBLAS_COMPUTE_32F,
              cudaDataType_t scale = CUDA_R_32F) {
    cublasLtCreate(&handle);
    cublasLtMatmulDescCreate(&operation, compute, scale);
    cublasLtMatmulPreferenceCreate(&preference);
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(1) << 20);
  }
  ~Lt() {
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtMatmulDescDestroy(operation);
    cublasLtDestroy(handle);
  }

  template <class T>
  cublasStatus_t set(cublasLtMatmulDescAttributes_t attribute, T value) {
    return cublasLtMatmulDescSetAttribute(operation, attribute, &value,
                                          sizeof value);
  }
  template <class T>
  cublasStatus_t prefer(cublasLtMatmulPreferenceAttributes_t attribute,
                        T value) {
    return cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value,
                                                sizeof value);
  }
  cublasStatus_t choose(const MatrixOnDevice &a, const MatrixOnDevice &b,
                        const MatrixOnDevice &d, int requested = 1) {
    int found = 0;
    return cublasLtMatmulAlgoGetHeuristic(handle, operation, a.layout, b.layout,
                                          d.layout, d.layout, preference,
                                          requested, &result, &found);
  }
  cublasStatus_t multiply(const MatrixOnDevice &a, const MatrixOnDevice &b,
                          MatrixOnDevice &d, const void *alpha,
                          const void *beta) {
    return cublasLtMatmul(handle, operation, alpha, a.data, a.layout, b.data,
                          b.layout, beta, d.data, d.layout, d.data, d.layout,
                          &result.algo, workspace.data + workspace_offset,
                          workspace_bytes, nullptr);
  }
  // Chooses and multiplies with scalars of float.
  cublasStatus_t run(const MatrixOnDevice &a, const MatrixOnDevice &b,
                     MatrixOnDevice &d, float alpha = 1, float beta = 0) {
    const cublasStatus_t status = choose(a, b, d);
    return status == CUBLAS_STATUS_SUCCESS ? multiply(a, b, d, &alpha, &beta)
                                           : status;
  }
  std::string refusal(const MatrixOnDevice &a, const MatrixOnDevice &b,
                      MatrixOnDevice &d) {
    return cublasLtGetStatusString(run(a, b, d));
  }

  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulHeuristicResult_t result = {};
  OnDevice<char> workspace{1 << 16};
  size_t workspace_offset = 0, workspace_bytes = 1 << 16;
};

using Element = std::function<double(int member, int64_t i, int64_t j)>;

// op(A) op(B), of matrices as they lie on the host.
Element product_of(const MatrixOnDevice &a, bool transposes_a,
                   const MatrixOnDevice &b, bool transposes_b) {
  return [&a, &b, transposes_a, transposes_b, in_a = a.on_host(),
          in_b = b.on_host()](int member, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t l = 0; l < (transposes_a ? a.rows : a.cols); l++)
      sum +=
          (transposes_a ? a.at(in_a, member, l, i) : a.at(in_a, member, i, l)) *
          (transposes_b ? b.at(in_b, member, j, l) : b.at(in_b, member, l, j));
    return sum;
  };
}

void expect(const MatrixOnDevice &d, const Element &expected,
            double tolerance = 1e-6) {
  const std::vector<char> host = d.on_host();
  for (int member = 0; member < d.batch; member++)
    for (int64_t i = 0; i < d.rows; i++)
      for (int64_t j = 0; j < d.cols; j++) {
        const double value = expected(member, i, j);
        EXPECT_NEAR(d.at(host, member, i, j), value,
                    tolerance * (1 + std::abs(value)))
            << member << ", " << i << ", " << j;
      }
}

using ProductTest = Emulation;

TEST_F(ProductTest, TransposesOrdersAndBatches) {
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      for (bool by_rows : {false, true})
        for (int batch : {1, 3}) {
          MatrixOnDevice a(CUDA_R_32F, ta ? 4 : 5, ta ? 5 : 4, 7, by_rows,
                           batch);
          MatrixOnDevice b(CUDA_R_32F, tb ? 3 : 4, tb ? 4 : 3, 6, false, batch);
          MatrixOnDevice d(CUDA_R_32F, 5, 3, 8, by_rows, batch);
          const Element product = product_of(a, ta, b, tb);
          const std::vector<char> before = d.on_host();
          Lt lt;
          lt.set(CUBLASLT_MATMUL_DESC_TRANSA, ta ? CUBLAS_OP_T : CUBLAS_OP_N);
          lt.set(CUBLASLT_MATMUL_DESC_TRANSB, tb ? CUBLAS_OP_T : CUBLAS_OP_N);
          ASSERT_EQ(lt.run(a, b, d, 2, 0.5f), CUBLAS_STATUS_SUCCESS);
          expect(d, [&](int member, int64_t i, int64_t j) {
            return 2 * product(member, i, j) + 0.5 * d.at(before, member, i, j);
          });
        }
}

TEST_F(ProductTest, TypesAreRoundedOnce) {
  struct Types {
    cudaDataType_t in, out;
    double tolerance;
  };
  for (const Types &t : {Types{CUDA_R_16F, CUDA_R_16F, 1e-3},
                         Types{CUDA_R_16BF, CUDA_R_16BF, 1e-2},
                         Types{CUDA_R_16F, CUDA_R_32F, 1e-6},
                         Types{CUDA_R_16BF, CUDA_R_32F, 1e-6}}) {
    MatrixOnDevice a(t.in, 5, 4, 5), b(t.in, 4, 3, 4), d(t.out, 5, 3, 5);
    const Element product = product_of(a, false, b, false);
    Lt lt;
    ASSERT_EQ(lt.run(a, b, d), CUBLAS_STATUS_SUCCESS);
    expect(d, product, t.tolerance);
  }
}

TEST_F(ProductTest, DoubleIsComputedInDouble) {
  MatrixOnDevice a(CUDA_R_64F, 5, 4, 5), b(CUDA_R_64F, 4, 3, 4),
      d(CUDA_R_64F, 5, 3, 5);
  const Element product = product_of(a, false, b, false);
  Lt lt(CUBLAS_COMPUTE_64F, CUDA_R_64F);
  const double alpha = 1.0 / 3, beta = 0;
  lt.choose(a, b, d);
  ASSERT_EQ(lt.multiply(a, b, d, &alpha, &beta), CUBLAS_STATUS_SUCCESS);
  expect(
      d,
      [&](int member, int64_t i, int64_t j) {
        return product(member, i, j) / 3;
      },
      1e-15);
}

TEST_F(ProductTest, Tf32RoundsOperands) {
  MatrixOnDevice a(CUDA_R_32F, 1, 1, 1), b(CUDA_R_32F, 1, 1, 1),
      d(CUDA_R_32F, 1, 1, 1);
  // 10 bits are left of the 23: 3 / 4096 rounds up to 4 / 4096, where 0 would
  // be what is left of it.
  const float fine = 1 + 3.0f / 4096, one = 1;
  cudaMemcpy(a.data, &fine, 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b.data, &one, 4, cudaMemcpyHostToDevice);
  Lt lt(CUBLAS_COMPUTE_32F_FAST_TF32);
  ASSERT_EQ(lt.run(a, b, d), CUBLAS_STATUS_SUCCESS);
  expect(d, [](int, int64_t, int64_t) { return 1 + 4.0 / 4096; }, 0);
}

// 1 + 2^-11 + 2^-11 in f16, whose last bit is 2^-10: rounded after each
// addition the sum would stay 1.
TEST_F(ProductTest, SumsAreRoundedAtTheEnd) {
  MatrixOnDevice a(CUDA_R_16F, 1, 3, 1), b(CUDA_R_16F, 3, 1, 3),
      d(CUDA_R_16F, 1, 1, 1);
  const uint16_t terms[] = {0x3c00, 0x1000, 0x1000}, // 1, 2^-11, 2^-11
      ones[] = {0x3c00, 0x3c00, 0x3c00};
  cudaMemcpy(a.data, terms, sizeof terms, cudaMemcpyHostToDevice);
  cudaMemcpy(b.data, ones, sizeof ones, cudaMemcpyHostToDevice);
  Lt lt;
  ASSERT_EQ(lt.run(a, b, d), CUBLAS_STATUS_SUCCESS);
  expect(d, [](int, int64_t, int64_t) { return 1 + 1.0 / 1024; }, 0);
}

TEST_F(ProductTest, ScalesMayLieOnTheDevice) {
  MatrixOnDevice a(CUDA_R_32F, 2, 2, 2), b(CUDA_R_32F, 2, 2, 2),
      d(CUDA_R_32F, 2, 2, 2);
  const Element product = product_of(a, false, b, false);
  OnDevice<float> scales(std::vector<float>{3, 0});
  cudaDeviceSynchronize();
  Lt lt;
  lt.set(CUBLASLT_MATMUL_DESC_POINTER_MODE,
         int32_t(CUBLASLT_POINTER_MODE_DEVICE));
  lt.choose(a, b, d);
  ASSERT_EQ(lt.multiply(a, b, d, scales.data, scales.data + 1),
            CUBLAS_STATUS_SUCCESS);
  expect(d, [&](int member, int64_t i, int64_t j) {
    return 3 * product(member, i, j);
  });
}

// ---- Epilogues -------------------------------------------------------------

struct WithEpilogue : Emulation {
  static std::vector<float> biases() {
    return {0.5f, -1, 2, 0.25f, -3, 1, 1, 1};
  }
  static std::vector<float> keeps() {
    std::vector<float> values(8 * 3);
    for (size_t i = 0; i < values.size(); i++)
      values[i] = float(i) / 8 - 1;
    return values;
  }
  // Runs an epilogue on a product of 5 x 4 by 4 x 3.
  void run(cublasLtEpilogue_t epilogue, void *aux, int64_t aux_leading) {
    lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    lt.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void *>(bias.data));
    lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux);
    lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, aux_leading);
    ASSERT_EQ(lt.run(a, b, d), CUBLAS_STATUS_SUCCESS);
  }
  static double gelu(double x) {
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }

  MatrixOnDevice a{CUDA_R_32F, 5, 4, 5}, b{CUDA_R_32F, 4, 3, 4},
      d{CUDA_R_32F, 5, 3, 5};
  Element product = product_of(a, false, b, false);
  std::vector<float> bias_values = biases(), kept = keeps();
  OnDevice<float> bias{bias_values}, aux{kept};
  Lt lt;
};

TEST_F(WithEpilogue, BiasLiesAlongRows) {
  run(CUBLASLT_EPILOGUE_BIAS, nullptr, 0);
  expect(d, [&](int member, int64_t i, int64_t j) {
    return product(member, i, j) + double(bias_values[size_t(i)]);
  });
}

TEST_F(WithEpilogue, ReluKeepsBits) {
  OnDevice<uint8_t> bits(128 / 8 * 3);
  run(CUBLASLT_EPILOGUE_RELU_AUX_BIAS, bits.data, 128);
  auto biased = [&](int member, int64_t i, int64_t j) {
    return product(member, i, j) + double(bias_values[size_t(i)]);
  };
  expect(d, [&](int member, int64_t i, int64_t j) {
    return std::max(0.0, biased(member, i, j));
  });
  const std::vector<uint8_t> kept_bits = bits.values();
  for (int64_t i = 0; i < 5; i++)
    for (int64_t j = 0; j < 3; j++)
      EXPECT_EQ(kept_bits[size_t(j * 128 + i) / 8] >> (i % 8) & 1,
                biased(0, i, j) > 0);
}

TEST_F(WithEpilogue, GeluKeepsItsInput) {
  run(CUBLASLT_EPILOGUE_GELU_AUX_BIAS, aux.data, 8);
  auto biased = [&](int64_t i, int64_t j) {
    return product(0, i, j) + double(bias_values[size_t(i)]);
  };
  expect(d, [&](int, int64_t i, int64_t j) { return gelu(biased(i, j)); });
  const std::vector<float> inputs = aux.values();
  for (int64_t i = 0; i < 5; i++)
    for (int64_t j = 0; j < 3; j++)
      EXPECT_NEAR(double(inputs[size_t(j * 8 + i)]), biased(i, j), 1e-6);
}

TEST_F(WithEpilogue, GeluGradientSumsTheBias) {
  run(CUBLASLT_EPILOGUE_DGELU_BGRAD, aux.data, 8);
  auto gradient = [&](int member, int64_t i, int64_t j) {
    const double x = double(kept[size_t(j * 8 + i)]), h = 1e-5;
    return product(member, i, j) * (gelu(x + h) - gelu(x - h)) / (2 * h);
  };
  expect(d, gradient, 1e-5);
  const std::vector<float> sums = bias.values();
  for (int64_t i = 0; i < 5; i++)
    EXPECT_NEAR(double(sums[size_t(i)]),
                gradient(0, i, 0) + gradient(0, i, 1) + gradient(0, i, 2),
                1e-4);
}

TEST_F(WithEpilogue, ReluGradientReadsBits) {
  std::vector<uint8_t> pattern(48);
  for (size_t i = 0; i < pattern.size(); i++)
    pattern[i] = uint8_t(i * 37 + 11);
  OnDevice<uint8_t> bits(pattern);
  run(CUBLASLT_EPILOGUE_DRELU, bits.data, 128);
  expect(d, [&](int member, int64_t i, int64_t j) {
    return pattern[size_t(j * 128 + i) / 8] >> (i % 8) & 1
               ? product(member, i, j)
               : 0.0;
  });
}

TEST_F(WithEpilogue, GradientsOfBiasesSumOperands) {
  const std::vector<char> in_a = a.on_host(), in_b = b.on_host();
  run(CUBLASLT_EPILOGUE_BGRADA, nullptr, 0);
  const std::vector<float> of_a = bias.values();
  run(CUBLASLT_EPILOGUE_BGRADB, nullptr, 0);
  const std::vector<float> of_b = bias.values();
  for (int64_t i = 0; i < 5; i++) {
    double sum = 0;
    for (int64_t l = 0; l < 4; l++)
      sum += a.at(in_a, 0, i, l);
    EXPECT_NEAR(double(of_a[size_t(i)]), sum, 1e-6);
  }
  for (int64_t j = 0; j < 3; j++) {
    double sum = 0;
    for (int64_t l = 0; l < 4; l++)
      sum += b.at(in_b, 0, l, j);
    EXPECT_NEAR(double(of_b[size_t(j)]), sum, 1e-6);
  }
}

TEST_F(WithEpilogue, RefusesWhatTheManualForbids) {
  lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_AUX);
  lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t(6));
  EXPECT_EQ(lt.refusal(a, b, d),
            "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD is 6, but must be a multiple "
            "of 8 and at least 5");
  lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t(8));
  lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, int64_t(3));
  EXPECT_EQ(lt.refusal(a, b, d),
            "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE must be a multiple "
            "of 8");
  lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, int64_t(0));
  lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, CUDA_R_16F);
  EXPECT_EQ(lt.refusal(a, b, d), "what an epilogue keeps of GELU has D's type");
  lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  lt.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_16F);
  EXPECT_EQ(lt.refusal(a, b, d), "a bias, or its gradient, has D's type, f32, "
                                 "but is said to have f16");
  lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE, 77);
  EXPECT_EQ(lt.refusal(a, b, d), "the emulation lacks epilogue 77");
  lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU);
  MatrixOnDevice by_rows(CUDA_R_32F, 5, 3, 3, true);
  EXPECT_EQ(lt.refusal(a, b, by_rows),
            "the emulation lacks epilogues on a D that lies by rows");
}

TEST_F(WithEpilogue, TheBiasIsAsAlignedAsTheHeuristicWasTold) {
  lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  lt.choose(a, b, d);
  lt.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void *>(bias.data + 1));
  const float alpha = 1, beta = 0;
  EXPECT_STREQ(
      cublasLtGetStatusString(lt.multiply(a, b, d, &alpha, &beta)),
      "the bias is not aligned to the 16 bytes that the algorithm was chosen "
      "for");
}

// ---- Algorithms ------------------------------------------------------------

struct Algorithms : Emulation {
  MatrixOnDevice a{CUDA_R_32F, 5, 512, 5}, b{CUDA_R_32F, 512, 3, 512},
      d{CUDA_R_32F, 5, 3, 5};
  Lt lt;

  std::vector<cublasLtMatmulHeuristicResult_t> choose(uint32_t schemes,
                                                      int requested = 8) {
    lt.prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes);
    std::vector<cublasLtMatmulHeuristicResult_t> results(8);
    int found = 0;
    cublasLtMatmulAlgoGetHeuristic(lt.handle, lt.operation, a.layout, b.layout,
                                   d.layout, d.layout, lt.preference, requested,
                                   results.data(), &found);
    results.resize(size_t(found));
    return results;
  }
};

TEST_F(Algorithms, AreThoseThatThePreferenceAllows) {
  EXPECT_EQ(choose(CUBLASLT_REDUCTION_SCHEME_MASK).size(), 3u);
  EXPECT_EQ(choose(CUBLASLT_REDUCTION_SCHEME_MASK, 2).size(), 2u);
  EXPECT_EQ(choose(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE).size(), 2u);
  EXPECT_EQ(choose(CUBLASLT_REDUCTION_SCHEME_NONE).size(), 1u);
  lt.prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(64));
  EXPECT_EQ(choose(CUBLASLT_REDUCTION_SCHEME_MASK).size(), 1u);
}

TEST_F(Algorithms, AllComputeTheProduct) {
  const float alpha = 1, beta = 0;
  for (const auto &algorithm : choose(CUBLASLT_REDUCTION_SCHEME_MASK)) {
    lt.result = algorithm;
    EXPECT_EQ(lt.multiply(a, b, d, &alpha, &beta), CUBLAS_STATUS_SUCCESS);
    expect(d, product_of(a, false, b, false), 1e-4);
  }
}

TEST_F(Algorithms, AreCheckedBeforeTheyAreUsedAgain) {
  const auto algorithm = choose(CUBLASLT_REDUCTION_SCHEME_MASK).front();
  auto check = [&](const MatrixOnDevice &result) {
    cublasLtMatmulHeuristicResult_t checked;
    const cublasStatus_t status = cublasLtMatmulAlgoCheck(
        lt.handle, lt.operation, a.layout, b.layout, result.layout,
        result.layout, &algorithm.algo, &checked);
    return status == CUBLAS_STATUS_SUCCESS ? int64_t(checked.workspaceSize)
                                           : -1;
  };
  EXPECT_EQ(check(d), int64_t(algorithm.workspaceSize));
  MatrixOnDevice wider(CUDA_R_32F, 5, 3, 6);
  EXPECT_EQ(check(wider), -1);
  EXPECT_STREQ(cublasLtGetStatusString(CUBLAS_STATUS_INVALID_VALUE),
               "the algorithm was chosen for another product");
}

// ---- What the manual forbids -----------------------------------------------

struct Refusals : Emulation {
  MatrixOnDevice a{CUDA_R_32F, 5, 4, 5}, b{CUDA_R_32F, 4, 3, 4},
      d{CUDA_R_32F, 5, 3, 5};
  Lt lt;
};

TEST_F(Refusals, OfShapes) {
  a.set(CUBLASLT_MATRIX_LAYOUT_LD, int64_t(3));
  EXPECT_EQ(lt.refusal(a, b, d), "matrix A has the leading dimension 3, which "
                                 "must be at least 5");
  a.set(CUBLASLT_MATRIX_LAYOUT_LD, int64_t(5));
  b.set(CUBLASLT_MATRIX_LAYOUT_COLS, uint64_t(2));
  EXPECT_EQ(lt.refusal(a, b, d),
            "the shapes of a product do not fit: op(A) is 5 x 4, op(B) 4 x 2, "
            "D 5 x 3");
  b.set(CUBLASLT_MATRIX_LAYOUT_COLS, uint64_t(3));
  b.set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(2));
  EXPECT_EQ(lt.refusal(a, b, d),
            "the matrices of a product have batches of different sizes");
  b.set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(0));
  EXPECT_EQ(lt.refusal(a, b, d), "matrix B has no elements");
}

TEST_F(Refusals, OfMembersThatOverlap) {
  MatrixOnDevice a2(CUDA_R_32F, 5, 4, 5, false, 2),
      b2(CUDA_R_32F, 4, 3, 4, false, 2), d2(CUDA_R_32F, 5, 3, 5, false, 2);
  d2.set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, int64_t(0));
  EXPECT_EQ(lt.refusal(a2, b2, d2), "members of D's batch overlap");
}

TEST_F(Refusals, OfTypes) {
  a.set(CUBLASLT_MATRIX_LAYOUT_TYPE, uint32_t(CUDA_R_16F));
  EXPECT_EQ(lt.refusal(a, b, d),
            "cuBLASLt's table has no product of f16 and f32 to f32 from f32, "
            "computed in type 68, scaled by f32");
}

TEST_F(Refusals, OfWhatTheEmulationLacks) {
  lt.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_C);
  EXPECT_EQ(lt.refusal(a, b, d), "the emulation lacks conjugate transposes");
  lt.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, int32_t(3));
  EXPECT_EQ(lt.refusal(a, b, d), "the emulation lacks pointer mode 3");
  a.set(CUBLASLT_MATRIX_LAYOUT_ORDER, int32_t(CUBLASLT_ORDER_COL32));
  lt.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N);
  lt.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, int32_t(0));
  EXPECT_EQ(lt.refusal(a, b, d), "the emulation lacks the order of matrix A");
  EXPECT_STREQ(cublasLtGetStatusString(
                   lt.set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, int8_t(1))),
               "the emulation lacks CUBLASLT_MATMUL_DESC 25");
}

TEST_F(Refusals, OfDescriptors) {
  EXPECT_STREQ(
      cublasLtGetStatusString(lt.set(CUBLASLT_MATMUL_DESC_TRANSA, int64_t(0))),
      "CUBLASLT_MATMUL_DESC 3 has 4 bytes, but 8 are given");
  EXPECT_STREQ(cublasLtGetStatusString(cublasLtMatmulDescDestroy(nullptr)),
               "a descriptor is null");
  EXPECT_STREQ(cublasLtGetStatusString(lt.choose(a, b, d, 0)),
               "no algorithm is asked for");
}

TEST_F(Refusals, OfAnAlgorithmForSomethingElse) {
  const float alpha = 1, beta = 0;
  lt.choose(a, b, d);
  MatrixOnDevice narrow(CUDA_R_32F, 4, 2, 4), result(CUDA_R_32F, 5, 2, 5);
  EXPECT_STREQ(
      cublasLtGetStatusString(lt.multiply(a, narrow, result, &alpha, &beta)),
      "the algorithm was chosen for another product");
  lt.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, uint32_t(512));
  b.data = static_cast<float *>(b.data) + 1;
  lt.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, uint32_t(16));
  lt.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, uint32_t(16));
  EXPECT_EQ(lt.refusal(a, b, d), "B is not aligned to the 16 bytes that the "
                                 "algorithm was chosen for");
  b.data = static_cast<float *>(b.data) - 1;
}

TEST_F(Refusals, OfWorkspaces) {
  lt.workspace_bytes = 16;
  EXPECT_EQ(lt.refusal(a, b, d),
            "the workspace has 16 bytes, but the algorithm needs 65536");
  lt.workspace_bytes = 1 << 16;
  lt.workspace_offset = 16;
  EXPECT_EQ(lt.refusal(a, b, d), "the workspace is not aligned to 256 bytes");
}

TEST_F(Refusals, OfMemory) {
  MatrixOnDevice big(CUDA_R_32F, 5, 4, 50);
  big.set(CUBLASLT_MATRIX_LAYOUT_LD, int64_t(90));
  EXPECT_EQ(lt.refusal(big, b, d), "cublasLtMatmul: A reaches 268 bytes past "
                                   "the end of an allocation of 832 bytes");
  cudaDeviceReset();
  void *const own = d.data;
  d.data = a.data;
  EXPECT_EQ(lt.refusal(a, b, d), "cublasLtMatmul: D overlaps A");
  d.data = own;
}

} // namespace
