// cudnnAddTensor: C = alpha * A + beta * C, where dimensions of size 1 of A are
// repeated.
#include "emulation/cudart/device.h"
#include "emulation/cudnn/descriptors.h"
#include "emulation/libraries/elements.h"
#include "emulation/libraries/operands.h"

namespace gpuopt::emulation {
namespace {

struct Addition {
  cudnnTensorStruct a, c;
  const void *from = nullptr;
  void *to = nullptr;
  double alpha = 1, beta = 1;
};

void check_sizes(const Addition &add) {
  for (int i = 0; i < 4; i++)
    if (add.a.size[i] != 1 && add.a.size[i] != add.c.size[i])
      refuse(CUDNN_STATUS_BAD_PARAM,
             "cudnnAddTensor: A is " + text_of(add.a) + ", C " +
                 text_of(add.c) + "; each dimension must be equal, or 1 in A");
  if (add.a.type != add.c.type)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "cudnnAddTensor: A and C have different types");
}

void add_element(const Addition &add, int64_t from, int64_t to) {
  const cudaDataType_t type = element_type(add.c.type);
  const double a = add.alpha * read_element(type, add.from, from);
  const double c =
      add.beta == 0 ? 0 : add.beta * read_element(type, add.to, to);
  write_element(type, add.to, to,
                type == CUDA_R_64F ? a + c : double(float(a) + float(c)));
}

void add_tensors(const Addition &add) {
  auto kept = [&](int dimension, int64_t index) {
    return add.a.size[dimension] == 1 ? 0 : index;
  };
  const int64_t *size = add.c.size;
  for (int64_t n = 0; n < size[0]; n++)
    for (int64_t k = 0; k < size[1]; k++)
      for (int64_t h = 0; h < size[2]; h++)
        for (int64_t w = 0; w < size[3]; w++)
          add_element(
              add, add.a.offset(kept(0, n), kept(1, k), kept(2, h), kept(3, w)),
              add.c.offset(n, k, h, w));
}

} // namespace
} // namespace gpuopt::emulation

using namespace gpuopt::emulation;

cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void *alpha,
                             const cudnnTensorDescriptor_t ad, const void *a,
                             const void *beta, const cudnnTensorDescriptor_t cd,
                             void *c) {
  return call<Cudnn>([&] {
    const Addition add{
        *ad, *cd, a, c, scale_of(cd->type, alpha), scale_of(cd->type, beta)};
    check_sizes(add);
    Operands operands("cudnnAddTensor");
    operands.reads("A", a, add.a.bytes());
    operands.writes("C", c, add.c.bytes());
    enqueue(
        stream_of(handle->stream), [add] { add_tensors(add); },
        library_kernel("cudnnAddTensor"));
  });
}
