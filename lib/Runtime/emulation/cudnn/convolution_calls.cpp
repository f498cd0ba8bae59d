// cuDNN's functions that choose algorithms and compute.
#include "emulation/cudart/device.h"
#include "emulation/cudnn/convolution.h"
#include "emulation/libraries/elements.h"
#include "emulation/libraries/operands.h"

#include <cstring>

namespace gpuopt::emulation {
namespace {

constexpr size_t kWorkspaceBytes = 16 << 10; // of every algorithm

// The candidates of a heuristic, the fastest first: one that is not
// deterministic, one that needs more memory than there is, and one that can be
// used.
template <class Perf, class Algorithm>
void give_candidates(Algorithm unsteady, Algorithm steady, int requested,
                     int *count, Perf *results) {
  Perf candidates[3] = {};
  for (Perf &candidate : candidates) {
    candidate.algo = steady;
    candidate.status = CUDNN_STATUS_SUCCESS;
    candidate.memory = kWorkspaceBytes;
    candidate.determinism = CUDNN_DETERMINISTIC;
  }
  candidates[0].algo = unsteady;
  candidates[0].determinism = CUDNN_NON_DETERMINISTIC;
  candidates[1].memory = Memory::kDeviceBytes;
  *count = requested < 3 ? requested : 3;
  memcpy(static_cast<void *>(results), candidates,
         size_t(*count) * sizeof(Perf));
}

Convolution describe(ConvolutionKind kind, cudnnTensorDescriptor_t x,
                     cudnnFilterDescriptor_t w,
                     cudnnConvolutionDescriptor_t convolution,
                     cudnnTensorDescriptor_t y) {
  Convolution c;
  c.kind = kind;
  c.x = *x;
  c.w = *w;
  c.y = *y;
  c.convolution = *convolution;
  check(c);
  return c;
}

void run(cudnnHandle_t handle, const ConvolutionCall &call,
         const char *function, void *workspace, size_t bytes) {
  if (bytes < kWorkspaceBytes)
    refuse(CUDNN_STATUS_BAD_PARAM, "the workspace has " +
                                       std::to_string(bytes) +
                                       " bytes, but the algorithm needs " +
                                       std::to_string(kWorkspaceBytes));
  check_operands(call, function, workspace, kWorkspaceBytes);
  enqueue(
      stream_of(handle->stream),
      [call, workspace] {
        Operands::spoil(workspace, kWorkspaceBytes);
        compute(call);
      },
      library_kernel(function));
}

} // namespace
} // namespace gpuopt::emulation

using namespace gpuopt::emulation;

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t, const cudnnTensorDescriptor_t x,
    const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnTensorDescriptor_t y, int requested, int *count,
    cudnnConvolutionFwdAlgoPerf_t *results) {
  return call<Cudnn>([&] {
    describe(ConvolutionKind::Forward, x, w, convolution, y);
    give_candidates(CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
                    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, requested,
                    count, results);
  });
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, const cudnnFilterDescriptor_t w,
    const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnTensorDescriptor_t dx, int requested, int *count,
    cudnnConvolutionBwdDataAlgoPerf_t *results) {
  return call<Cudnn>([&] {
    describe(ConvolutionKind::BackwardData, dx, w, convolution, dy);
    give_candidates(CUDNN_CONVOLUTION_BWD_DATA_ALGO_0,
                    CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, requested, count,
                    results);
  });
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, const cudnnTensorDescriptor_t x,
    const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnFilterDescriptor_t dw, int requested, int *count,
    cudnnConvolutionBwdFilterAlgoPerf_t *results) {
  return call<Cudnn>([&] {
    describe(ConvolutionKind::BackwardFilter, x, dw, convolution, dy);
    give_candidates(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0,
                    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, requested, count,
                    results);
  });
}

cudnnStatus_t cudnnConvolutionForward(
    cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t xd,
    const void *x, const cudnnFilterDescriptor_t wd, const void *w,
    const cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionFwdAlgo_t algorithm, void *workspace, size_t bytes,
    const void *beta, const cudnnTensorDescriptor_t yd, void *y) {
  return gpuopt::emulation::call<Cudnn>([&] {
    ConvolutionCall call{
        describe(ConvolutionKind::Forward, xd, wd, convolution, yd),
        const_cast<void *>(x),
        const_cast<void *>(w),
        y,
        scale_of(xd->type, alpha),
        scale_of(xd->type, beta)};
    call.convolution.is_deterministic =
        algorithm != CUDNN_CONVOLUTION_FWD_ALGO_GEMM;
    run(handle, call, "cudnnConvolutionForward", workspace, bytes);
  });
}

cudnnStatus_t cudnnConvolutionBackwardData(
    cudnnHandle_t handle, const void *alpha, const cudnnFilterDescriptor_t wd,
    const void *w, const cudnnTensorDescriptor_t yd, const void *dy,
    const cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace, size_t bytes,
    const void *beta, const cudnnTensorDescriptor_t xd, void *dx) {
  return gpuopt::emulation::call<Cudnn>([&] {
    ConvolutionCall call{
        describe(ConvolutionKind::BackwardData, xd, wd, convolution, yd),
        dx,
        const_cast<void *>(w),
        const_cast<void *>(dy),
        scale_of(xd->type, alpha),
        scale_of(xd->type, beta)};
    call.convolution.is_deterministic =
        algorithm != CUDNN_CONVOLUTION_BWD_DATA_ALGO_0;
    run(handle, call, "cudnnConvolutionBackwardData", workspace, bytes);
  });
}

cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t xd,
    const void *x, const cudnnTensorDescriptor_t yd, const void *dy,
    const cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionBwdFilterAlgo_t algorithm, void *workspace, size_t bytes,
    const void *beta, const cudnnFilterDescriptor_t wd, void *dw) {
  return gpuopt::emulation::call<Cudnn>([&] {
    ConvolutionCall call{
        describe(ConvolutionKind::BackwardFilter, xd, wd, convolution, yd),
        const_cast<void *>(x),
        dw,
        const_cast<void *>(dy),
        scale_of(xd->type, alpha),
        scale_of(xd->type, beta)};
    call.convolution.is_deterministic =
        algorithm != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 &&
        algorithm != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;
    run(handle, call, "cudnnConvolutionBackwardFilter", workspace, bytes);
  });
}
