#include "emulation/cublaslt/descriptors.h"

namespace gpuopt::emulation {

void refuse(cublasStatus_t status, const std::string &message) {
  throw Refusal<cublasStatus_t>(status, message);
}

void Attributes::check(int attribute, const void *value, size_t bytes) const {
  auto found = sizes.find(attribute);
  if (found == sizes.end())
    refuse(CUBLAS_STATUS_NOT_SUPPORTED, std::string("the emulation lacks ") +
                                            name + " " +
                                            std::to_string(attribute));
  if (!value || bytes != found->second)
    refuse(CUBLAS_STATUS_INVALID_VALUE,
           std::string(name) + " " + std::to_string(attribute) + " has " +
               std::to_string(found->second) + " bytes, but " +
               std::to_string(bytes) + " are given");
}

void Attributes::set(int attribute, const void *value, size_t bytes) {
  check(attribute, value, bytes);
  const char *begin = static_cast<const char *>(value);
  values[attribute] = std::vector<char>(begin, begin + bytes);
}

void Attributes::get(int attribute, void *value, size_t bytes) const {
  check(attribute, value, bytes);
  memset(value, 0, bytes);
  auto found = values.find(attribute);
  if (found != values.end())
    memcpy(value, found->second.data(), bytes);
}

static const AttributeSizes kMatmulAttributes = {
    {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 4},
    {CUBLASLT_MATMUL_DESC_SCALE_TYPE, 4},
    {CUBLASLT_MATMUL_DESC_POINTER_MODE, 4},
    {CUBLASLT_MATMUL_DESC_TRANSA, 4},
    {CUBLASLT_MATMUL_DESC_TRANSB, 4},
    {CUBLASLT_MATMUL_DESC_EPILOGUE, 4},
    {CUBLASLT_MATMUL_DESC_BIAS_POINTER, 8},
    {CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 8},
    {CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, 4},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, 8},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 8},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, 8},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, 4},
};
static const AttributeSizes kLayoutAttributes = {
    {CUBLASLT_MATRIX_LAYOUT_TYPE, 4},
    {CUBLASLT_MATRIX_LAYOUT_ORDER, 4},
    {CUBLASLT_MATRIX_LAYOUT_ROWS, 8},
    {CUBLASLT_MATRIX_LAYOUT_COLS, 8},
    {CUBLASLT_MATRIX_LAYOUT_LD, 8},
    {CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 4},
    {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 8},
};
static const AttributeSizes kPreferenceAttributes = {
    {CUBLASLT_MATMUL_PREF_SEARCH_MODE, 4},
    {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 8},
    {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, 4},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 4},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, 4},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, 4},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 4},
};

MatmulDescriptor::MatmulDescriptor()
    : Attributes("CUBLASLT_MATMUL_DESC", kMatmulAttributes) {}
MatrixLayout::MatrixLayout()
    : Attributes("CUBLASLT_MATRIX_LAYOUT", kLayoutAttributes) {}
Preference::Preference()
    : Attributes("CUBLASLT_MATMUL_PREF", kPreferenceAttributes) {}

template <class Descriptor, class Handle>
static Descriptor &behind(Handle handle) {
  if (!handle)
    refuse(CUBLAS_STATUS_INVALID_VALUE, "a descriptor is null");
  return *reinterpret_cast<Descriptor *>(handle);
}
const MatmulDescriptor &of(cublasLtMatmulDesc_t handle) {
  return behind<MatmulDescriptor>(handle);
}
const MatrixLayout &of(cublasLtMatrixLayout_t handle) {
  return behind<MatrixLayout>(handle);
}
const Preference &of(cublasLtMatmulPreference_t handle) {
  return behind<Preference>(handle);
}

} // namespace gpuopt::emulation

using namespace gpuopt::emulation;

struct cublasLtContext {};

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  return call<Cublas>([&] { *handle = new cublasLtContext; });
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return call<Cublas>([&] { delete handle; });
}

size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

const char *cublasLtGetStatusString(cublasStatus_t status) {
  if (const char *message = message_of(Cublas::kNumber, status))
    return message;
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "an error of cuBLASLt";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *handle,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  return call<Cublas>([&] {
    auto *descriptor = new MatmulDescriptor;
    descriptor->put(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, int32_t(compute));
    descriptor->put(CUBLASLT_MATMUL_DESC_SCALE_TYPE, int32_t(scale));
    *handle = reinterpret_cast<cublasLtMatmulDesc_t>(descriptor);
  });
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t handle) {
  return call<Cublas>([&] { delete &behind<MatmulDescriptor>(handle); });
}
cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t handle,
                               cublasLtMatmulDescAttributes_t attribute,
                               const void *value, size_t bytes) {
  return call<Cublas>(
      [&] { behind<MatmulDescriptor>(handle).set(attribute, value, bytes); });
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *handle,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
  return call<Cublas>([&] {
    auto *layout = new MatrixLayout;
    layout->put(CUBLASLT_MATRIX_LAYOUT_TYPE, uint32_t(type));
    layout->put(CUBLASLT_MATRIX_LAYOUT_ROWS, rows);
    layout->put(CUBLASLT_MATRIX_LAYOUT_COLS, columns);
    layout->put(CUBLASLT_MATRIX_LAYOUT_LD, leading);
    *handle = reinterpret_cast<cublasLtMatrixLayout_t>(layout);
  });
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t handle) {
  return call<Cublas>([&] { delete &behind<MatrixLayout>(handle); });
}
cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t handle,
                                 cublasLtMatrixLayoutAttribute_t attribute,
                                 const void *value, size_t bytes) {
  return call<Cublas>(
      [&] { behind<MatrixLayout>(handle).set(attribute, value, bytes); });
}

cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *handle) {
  return call<Cublas>([&] {
    *handle = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  });
}
cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t handle) {
  return call<Cublas>([&] { delete &behind<Preference>(handle); });
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t handle,
    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
    size_t bytes) {
  return call<Cublas>(
      [&] { behind<Preference>(handle).set(attribute, value, bytes); });
}
