#include "emulation/cudnn/descriptors.h"

#include "emulation/cudart/device.h"
#include "emulation/libraries/elements.h"

namespace gpuopt::emulation {

void refuse(cudnnStatus_t status, const std::string &message) {
  throw Refusal<cudnnStatus_t>(status, message);
}

cudaDataType_t element_type(cudnnDataType_t type) {
  switch (type) {
  case CUDNN_DATA_DOUBLE:
    return CUDA_R_64F;
  case CUDNN_DATA_FLOAT:
    return CUDA_R_32F;
  case CUDNN_DATA_HALF:
    return CUDA_R_16F;
  case CUDNN_DATA_BFLOAT16:
    return CUDA_R_16BF;
  default:
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "the emulation lacks cuDNN's type " + std::to_string(int(type)));
  }
}

double scale_of(cudnnDataType_t type, const void *scale) {
  return read_element(type == CUDNN_DATA_DOUBLE ? CUDA_R_64F : CUDA_R_32F,
                      scale, 0);
}

std::string text_of(const cudnnTensorStruct &tensor) {
  std::string text = "[";
  for (int64_t size : tensor.size)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

static void set_dense(cudnnTensorStruct &tensor, cudnnTensorFormat_t format,
                      cudnnDataType_t type, const int (&size)[4]) {
  element_type(type);
  if (format != CUDNN_TENSOR_NHWC && format != CUDNN_TENSOR_NCHW)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "the emulation lacks tensors of format " +
               std::to_string(int(format)));
  tensor.type = type;
  for (int i = 0; i < 4; i++) {
    if (size[i] < 1)
      refuse(CUDNN_STATUS_BAD_PARAM, "a dimension is not positive");
    tensor.size[i] = size[i];
  }
  const int by_channel[4] = {3, 2, 1, 0}, channel_first[4] = {1, 3, 2, 0};
  int64_t stride = 1;
  for (int i : format == CUDNN_TENSOR_NCHW ? by_channel : channel_first) {
    tensor.stride[i] = stride;
    stride *= tensor.size[i];
  }
}

} // namespace gpuopt::emulation

using namespace gpuopt::emulation;

size_t cudnnTensorStruct::bytes() const {
  return size_t(elements()) * size_of(element_type(type));
}

size_t cudnnGetVersion() {
  const size_t pretended = device().machine.cudnn_version;
  return pretended ? pretended : CUDNN_VERSION;
}

const char *cudnnGetErrorString(cudnnStatus_t status) {
  if (const char *message = message_of(Cudnn::kNumber, status))
    return message;
  return status == CUDNN_STATUS_SUCCESS ? "success" : "an error of cuDNN";
}

void cudnnGetLastErrorString(char *message, size_t size) {
  snprintf(message, size, "%s", last_message_of(Cudnn::kNumber).c_str());
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  return call<Cudnn>([&] { *handle = new cudnnContext; });
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  return call<Cudnn>([&] { delete handle; });
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  return call<Cudnn>([&] { handle->stream = stream; });
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *tensor) {
  return call<Cudnn>([&] { *tensor = new cudnnTensorStruct; });
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  return call<Cudnn>([&] { delete tensor; });
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor,
                                         cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c,
                                         int h, int w) {
  return call<Cudnn>([&] { set_dense(*tensor, format, type, {n, c, h, w}); });
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *filter) {
  return call<Cudnn>([&] { *filter = new cudnnFilterStruct; });
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) {
  return call<Cudnn>([&] { delete filter; });
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter,
                                         cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k,
                                         int c, int h, int w) {
  return call<Cudnn>([&] { set_dense(*filter, format, type, {k, c, h, w}); });
}

cudnnStatus_t
cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *convolution) {
  return call<Cudnn>([&] { *convolution = new cudnnConvolutionStruct; });
}
cudnnStatus_t
cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convolution) {
  return call<Cudnn>([&] { delete convolution; });
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(
    cudnnConvolutionDescriptor_t convolution, int pad_h, int pad_w,
    int stride_h, int stride_w, int dilation_h, int dilation_w,
    cudnnConvolutionMode_t mode, cudnnDataType_t compute) {
  return call<Cudnn>([&] {
    if (pad_h < 0 || pad_w < 0 || stride_h < 1 || stride_w < 1 ||
        dilation_h < 1 || dilation_w < 1)
      refuse(CUDNN_STATUS_BAD_PARAM,
             "a padding is negative, or a stride or dilation not positive");
    cudnnConvolutionStruct &c = *convolution;
    c.pad[0] = c.pad_end[0] = pad_h, c.pad[1] = c.pad_end[1] = pad_w;
    c.stride[0] = stride_h, c.stride[1] = stride_w;
    c.dilation[0] = dilation_h, c.dilation[1] = dilation_w;
    c.flips_filter = mode == CUDNN_CONVOLUTION;
    c.compute = compute;
  });
}
cudnnStatus_t
cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution,
                              int groups) {
  return call<Cudnn>([&] {
    if (groups < 1)
      refuse(CUDNN_STATUS_BAD_PARAM, "a convolution has no groups");
    convolution->groups = groups;
  });
}
cudnnStatus_t
cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution,
                            cudnnMathType_t math) {
  return call<Cudnn>([&] { convolution->math = math; });
}
