// The descriptors of cuDNN's graph interface: objects with attributes that are
// set, then finalized, then read. NVIDIA's documentation calls the interface
// cuDNN's backend API.
#pragma once

#include "gpuopt/device/error.h"

#include <cudnn.h>

#include <memory>
#include <string>
#include <vector>

namespace gpuopt {

// An error of cuDNN, with the status that it has returned.
struct CudnnError : Error {
  CudnnError(cudnnStatus_t status, const std::string &text)
      : Error(text), status(status) {}
  cudnnStatus_t status;
};

// Whether a status says that cuDNN cannot compute what it was asked for. Others
// say that something went wrong: memory, the driver, cuDNN itself.
inline bool is_refusal(cudnnStatus_t status) {
  const int category = int(status) / 1000 * 1000;
  return category == CUDNN_STATUS_BAD_PARAM ||
         category == CUDNN_STATUS_NOT_SUPPORTED;
}

inline void check_cudnn(cudnnStatus_t status, const char *what,
                        const char *file, int line) {
  if (status != CUDNN_STATUS_SUCCESS)
    throw CudnnError(
        status, std::string("cuDNN: ") + cudnnGetErrorString(status) + " in " +
                    what + " (" + file + ":" + std::to_string(line) + ")");
}
#define CHECK_CUDNN(call)                                                      \
  ::gpuopt::check_cudnn((call), #call, __FILE__, __LINE__)

// Returns what cuDNN said about its last failure in this thread.
inline std::string last_cudnn_message() {
  char text[1024] = "";
  cudnnGetLastErrorString(text, sizeof text);
  return text;
}

namespace detail {

// The types of attributes, by the C++ types of their values.
inline constexpr auto attribute_type(int64_t) { return CUDNN_TYPE_INT64; }
inline constexpr auto attribute_type(float) { return CUDNN_TYPE_FLOAT; }
inline constexpr auto attribute_type(double) { return CUDNN_TYPE_DOUBLE; }
inline constexpr auto attribute_type(char) { return CUDNN_TYPE_CHAR; }
inline constexpr auto attribute_type(bool) { return CUDNN_TYPE_BOOLEAN; }
inline constexpr auto attribute_type(void *) { return CUDNN_TYPE_VOID_PTR; }
inline constexpr auto attribute_type(cudnnHandle_t) {
  return CUDNN_TYPE_HANDLE;
}
inline constexpr auto attribute_type(cudnnDataType_t) {
  return CUDNN_TYPE_DATA_TYPE;
}
inline constexpr auto attribute_type(cudnnConvolutionMode_t) {
  return CUDNN_TYPE_CONVOLUTION_MODE;
}
inline constexpr auto attribute_type(cudnnGenStatsMode_t) {
  return CUDNN_TYPE_GENSTATS_MODE;
}
inline constexpr auto attribute_type(cudnnPointwiseMode_t) {
  return CUDNN_TYPE_POINTWISE_MODE;
}
inline constexpr auto attribute_type(cudnnReduceTensorOp_t) {
  return CUDNN_TYPE_REDUCTION_OPERATOR_TYPE;
}
inline constexpr auto attribute_type(cudnnBackendHeurMode_t) {
  return CUDNN_TYPE_HEUR_MODE;
}
inline constexpr auto attribute_type(cudnnBackendKnobType_t) {
  return CUDNN_TYPE_KNOB_TYPE;
}
inline constexpr auto attribute_type(cudnnBackendNumericalNote_t) {
  return CUDNN_TYPE_NUMERICAL_NOTE;
}
inline constexpr auto attribute_type(cudnnBackendBehaviorNote_t) {
  return CUDNN_TYPE_BEHAVIOR_NOTE;
}

} // namespace detail

// A descriptor; copies are the same one. Those that it was given as attributes,
// and the one that it was read from, live as long as it does.
class CudnnDescriptor {
public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type)
      : made(std::make_shared<Made>()) {
    CHECK_CUDNN(cudnnBackendCreateDescriptor(type, &made->pointer));
  }

  template <class T>
  CudnnDescriptor &set(cudnnBackendAttributeName_t name,
                       const std::vector<T> &values) {
    CHECK_CUDNN(
        cudnnBackendSetAttribute(get(), name, detail::attribute_type(T()),
                                 int64_t(values.size()), values.data()));
    return *this;
  }
  template <class T>
  CudnnDescriptor &set(cudnnBackendAttributeName_t name, T value) {
    CHECK_CUDNN(cudnnBackendSetAttribute(
        get(), name, detail::attribute_type(T()), 1, &value));
    return *this;
  }
  CudnnDescriptor &set(cudnnBackendAttributeName_t name,
                       const CudnnDescriptor &value) {
    CHECK_CUDNN(cudnnBackendSetAttribute(
        get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.made->pointer));
    made->needs.push_back(value.made);
    return *this;
  }
  CudnnDescriptor &set(cudnnBackendAttributeName_t name,
                       const std::vector<CudnnDescriptor> &values) {
    std::vector<cudnnBackendDescriptor_t> pointers;
    for (const CudnnDescriptor &value : values) {
      pointers.push_back(value.get());
      made->needs.push_back(value.made);
    }
    CHECK_CUDNN(
        cudnnBackendSetAttribute(get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                 int64_t(pointers.size()), pointers.data()));
    return *this;
  }
  CudnnDescriptor &finalize() {
    CHECK_CUDNN(cudnnBackendFinalize(get()));
    return *this;
  }
  // Returns whether cuDNN can do what the attributes say; throws if it fails
  // for another reason.
  bool try_finalize() {
    const cudnnStatus_t status = cudnnBackendFinalize(get());
    if (!is_refusal(status))
      check_cudnn(status, "cudnnBackendFinalize", __FILE__, __LINE__);
    return status == CUDNN_STATUS_SUCCESS;
  }

  template <class T>
  std::vector<T> get_all(cudnnBackendAttributeName_t name) const {
    int64_t count = 0;
    CHECK_CUDNN(cudnnBackendGetAttribute(
        get(), name, detail::attribute_type(T()), 0, &count, nullptr));
    std::vector<T> values(static_cast<size_t>(count));
    if (count > 0)
      CHECK_CUDNN(cudnnBackendGetAttribute(get(), name,
                                           detail::attribute_type(T()), count,
                                           &count, values.data()));
    values.resize(static_cast<size_t>(count));
    return values;
  }
  template <class T>
  T get(cudnnBackendAttributeName_t name) const {
    T value;
    int64_t count = 0;
    CHECK_CUDNN(cudnnBackendGetAttribute(
        get(), name, detail::attribute_type(T()), 1, &count, &value));
    return value;
  }
  // Returns the descriptors that an attribute has, which are of one type: as
  // many as cuDNN counts, or `most` at most where it does not count them.
  std::vector<CudnnDescriptor>
  get_descriptors(cudnnBackendAttributeName_t name,
                  cudnnBackendDescriptorType_t type, int64_t most = 0) const {
    int64_t count = most;
    if (most == 0)
      CHECK_CUDNN(cudnnBackendGetAttribute(
          get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr));
    std::vector<CudnnDescriptor> found;
    std::vector<cudnnBackendDescriptor_t> pointers;
    for (int64_t i = 0; i < count; i++) {
      found.emplace_back(type).made->needs.push_back(made);
      pointers.push_back(found.back().get());
    }
    if (count > 0)
      CHECK_CUDNN(cudnnBackendGetAttribute(get(), name,
                                           CUDNN_TYPE_BACKEND_DESCRIPTOR, count,
                                           &count, pointers.data()));
    found.erase(found.begin() + count, found.end());
    return found;
  }

  cudnnBackendDescriptor_t get() const { return made->pointer; }

private:
  struct Made {
    ~Made() {
      if (pointer)
        cudnnBackendDestroyDescriptor(pointer);
    }
    cudnnBackendDescriptor_t pointer = nullptr;
    std::vector<std::shared_ptr<Made>> needs;
  };
  std::shared_ptr<Made> made;
};

} // namespace gpuopt
