// The things that the host's products and convolutions share of oneDNN 2.6: the
// engine, scratch memory, and primitives kept by the content of what they
// compute.
#pragma once

#include "gpuopt/device/device.h"

#include <dnnl.hpp>
#include <unordered_map>

namespace gpuopt {

struct OneDnn {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};

  // Grows while the first step runs, and serves all primitives in turn.
  char *scratch(size_t bytes) {
    if (bytes > scratch_bytes) {
      memory.reset(static_cast<char *>(
          aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)));
      if (!memory)
        throw Error("cannot allocate " + human_bytes(double(bytes)) +
                    " for oneDNN");
      scratch_bytes = bytes;
    }
    return memory.get();
  }
  dnnl::memory on(const dnnl::memory::desc &desc, const void *p) {
    return {desc, engine, const_cast<void *>(p)};
  }

private:
  struct Free {
    void operator()(char *p) const { free(p); }
  };
  std::unique_ptr<char, Free> memory;
  size_t scratch_bytes = 0;
};

template <class T>
constexpr dnnl::memory::data_type onednn_type() {
  if constexpr (std::is_same_v<T, float>)
    return dnnl::memory::data_type::f32;
  else if constexpr (std::is_same_v<T, bf16>)
    return dnnl::memory::data_type::bf16;
  else
    return dnnl::memory::data_type::undef; // computed by loops, or widened
}
template <class T>
constexpr bool in_onednn = onednn_type<T>() != dnnl::memory::data_type::undef;

} // namespace gpuopt
