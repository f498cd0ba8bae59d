// cudaLaunchKernelEx: a kernel and its arguments become work of a stream.
#pragma once

// The toolkit's template passes kernels on without their types; the one below
// keeps them.
#define cudaLaunchKernelEx cudaLaunchKernelExWithoutTypes
#include <cuda_runtime.h>
#undef cudaLaunchKernelEx

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuopt::emulation {

// Adds the launch of a kernel. `pointers` are the kernel's pointer arguments,
// of which those to the host's own memory are refused; pointers within structs
// are not checked. `code` is the kernel's address, by which its attributes are
// known.
cudaError_t launch(const cudaLaunchConfig_t &config, const void *code,
                   std::function<void()> kernel,
                   const std::vector<const void *> &pointers);

template <class T>
void note_pointer(std::vector<const void *> &pointers, const T &argument) {
  if constexpr (std::is_pointer_v<T> &&
                !std::is_function_v<std::remove_pointer_t<T>>)
    pointers.push_back(argument);
}

} // namespace gpuopt::emulation

// The arguments are converted to the kernel's parameters and copied when the
// launch is called, as on a GPU.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                               void (*kernel)(Parameters...),
                               Arguments &&...arguments) {
  std::tuple<Parameters...> held(std::forward<Arguments>(arguments)...);
  std::vector<const void *> pointers;
  std::apply(
      [&](const auto &...argument) {
        (gpuopt::emulation::note_pointer(pointers, argument), ...);
      },
      held);
  return gpuopt::emulation::launch(
      *config, reinterpret_cast<const void *>(kernel),
      [kernel, held] { std::apply(kernel, held); }, pointers);
}
