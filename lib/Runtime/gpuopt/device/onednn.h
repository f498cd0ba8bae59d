// The things that the host's products and convolutions share of oneDNN: the
// engine, scratch memory, the types that it computes in, and what its versions
// 2 and 3 spell differently. Nothing else depends on the version.
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

constexpr bool is_onednn_3 = DNNL_VERSION_MAJOR >= 3;

template <class T>
constexpr dnnl::memory::data_type onednn_type() {
  if constexpr (std::is_same_v<T, float>)
    return dnnl::memory::data_type::f32;
  else if constexpr (std::is_same_v<T, bf16>)
    return dnnl::memory::data_type::bf16;
  else if constexpr (std::is_same_v<T, f16> && is_onednn_3)
    return dnnl::memory::data_type::f16;
  else
    return dnnl::memory::data_type::undef; // computed by loops, or widened
}
template <class T>
constexpr bool in_onednn = onednn_type<T>() != dnnl::memory::data_type::undef;

// Describes a primitive of the kind P; `what` are its tensors and parameters in
// the order of the library's constructors.
template <class P, class... What>
typename P::primitive_desc
describe_primitive(const dnnl::engine &engine,
                   const dnnl::primitive_attr &attributes,
                   const What &...what) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, what..., attributes};
#else
  return {typename P::desc(what...), attributes, engine};
#endif
}

// The same for a backward primitive of `forward`.
template <class P, class Forward, class... What>
typename P::primitive_desc
describe_backward(const dnnl::engine &engine,
                  const dnnl::primitive_attr &attributes,
                  const Forward &forward, const What &...what) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, what..., forward, attributes};
#else
  return {typename P::desc(what...), attributes, engine, forward};
#endif
}

// Multiplies what a primitive computes, its bias included, before the post-ops
// that are appended later.
inline void scale_result(dnnl::primitive_attr &attributes,
                         dnnl::post_ops &after, float scale) {
#if DNNL_VERSION_MAJOR >= 3
  static_cast<void>(attributes);
  after.append_eltwise(dnnl::algorithm::eltwise_linear, scale, 0);
#else
  static_cast<void>(after);
  attributes.set_output_scales(0, {scale});
#endif
}

// Whether the library multiplies matrices of f16 by instructions of this
// processor.
inline bool has_native_f16() {
#if DNNL_VERSION_MAJOR >= 3
  constexpr auto needed =
      static_cast<unsigned>(dnnl::cpu_isa::avx512_core_fp16);
  static const bool result =
      (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & needed) == needed;
  return result;
#else
  return false;
#endif
}

} // namespace gpuopt
