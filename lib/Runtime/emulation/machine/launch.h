// cudaLaunchKernelEx: a kernel and its arguments become work of a stream.
#pragma once

// The toolkit's template passes kernels on without their types; the one below
// keeps them.
#define cudaLaunchKernelEx cudaLaunchKernelExWithoutTypes
#include <cuda_runtime.h>
#undef cudaLaunchKernelEx

#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace gpuopt::emulation {

// Adds the launch of a kernel. `pointers` are the kernel's pointer arguments,
// of which those to the host's own memory are refused; pointers within structs
// are not checked. `code` is the kernel's address, by which its attributes are
// known.
cudaError_t launch(const cudaLaunchConfig_t &config, const void *code,
                   const std::string &name, std::function<void()> kernel,
                   const std::vector<const void *> &pointers);

// Returns a mangled name for kernels of a type. Their own names are unknown,
// because kernels are static.
template <class... Parameters>
std::string name_of_kernel() {
  const std::string type = typeid(void(Parameters...)).name(); // "FvPKfE"
  return "_Z6kernel" + type.substr(2, type.size() - 3);
}

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
      gpuopt::emulation::name_of_kernel<Parameters...>(),
      [kernel, held] { std::apply(kernel, held); }, pointers);
}
