// The device: memory, launch, copies, events. Both targets have the same
// functions; device_cuda.h and device_host.h implement them.
//
//   Context ctx;                             a GPU and its streams, or the
//   cores char *memory = ctx.allocate(bytes);      device memory, counted
//   launch(ctx, blocks, threads, kernel, arguments...);
//   set_zero(ctx, p, bytes);                 on the step's stream
//   ctx.library<L>()                         the one L of this context
#pragma once

#include "gpuopt/device/device_work.h"
#include "gpuopt/device/error.h"
#include "gpuopt/kernels/types.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuopt {

// The bytes of a struct, as a key to find what was made for the same values.
// Key has no padding: all its members have eight bytes.
template <class Key>
std::string content_of(const Key &key) {
  static_assert(std::is_trivially_copyable_v<Key> && sizeof key % 8 == 0,
                "plain data");
  return std::string(reinterpret_cast<const char *>(&key), sizeof key);
}

HOST_DEVICE constexpr int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// The library handles and caches of a context: one object of each type, made
// when first asked for.
class Libraries {
public:
  template <class L>
  L &get() {
    const size_t index = index_of<L>();
    if (objects.size() <= index)
      objects.resize(index + 1);
    if (!objects[index])
      objects[index] = std::make_shared<L>();
    return *static_cast<L *>(objects[index].get());
  }

private:
  template <class L>
  static size_t index_of() {
    static const size_t index = next_index()++;
    return index;
  }
  static std::atomic<size_t> &next_index() {
    static std::atomic<size_t> next = 0;
    return next;
  }
  std::vector<std::shared_ptr<void>> objects;
};

} // namespace gpuopt

#ifdef __CUDACC__
#include "gpuopt/device/device_cuda.h"
#else
#include "gpuopt/device/device_host.h"
#endif
