#include "emulation/machine/launch.h"

#include "emulation/cudart/cudart.h"
#include "emulation/machine/block.h"

#include <algorithm>
#include <map>

namespace gpuopt::emulation {

static std::string text_of(dim3 size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " +
         std::to_string(size.z);
}

// How much dynamic shared memory every kernel may have. More has to be allowed
// for a kernel first.
constexpr size_t kUsualDynamicBytes = size_t(48) << 10;
static std::map<const void *, size_t> allowed_bytes;

static void check_dynamic_memory(size_t bytes, const void *code) {
  const auto allowed = allowed_bytes.find(code);
  const size_t limit = allowed == allowed_bytes.end()
                           ? kUsualDynamicBytes
                           : std::max(allowed->second, kUsualDynamicBytes);
  if (bytes > limit)
    refuse(cudaErrorInvalidValue,
           "a block with " + std::to_string(bytes) +
               " bytes of dynamic shared memory; its kernel may have " +
               std::to_string(limit));
}

static void check_sizes(const cudaLaunchConfig_t &config) {
  const dim3 grid = config.gridDim, block = config.blockDim;
  if (block.x == 0 || block.y == 0 || block.z == 0 ||
      size_t(block.x) * block.y * block.z > 1024 || block.z > 64)
    refuse(cudaErrorInvalidConfiguration,
           "a block of " + text_of(block) +
               " threads; it may have from 1 to 1024, at most 64 deep");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffu ||
      grid.y > 65535 || grid.z > 65535)
    refuse(cudaErrorInvalidConfiguration,
           "a grid of " + text_of(grid) +
               " blocks; it may have from 1 to 2147483647 x 65535 x 65535");
  if (config.numAttrs != 0)
    refuse(cudaErrorNotSupported, "the emulation lacks attributes of launches");
}

static void check_pointers(const std::vector<const void *> &pointers) {
  for (const void *pointer : pointers)
    if (pointer && !device().memory.find_mapping(pointer))
      throw Fault("a kernel is given an address of the host's own memory");
}

static Activity activity_of(const cudaLaunchConfig_t &config,
                            const std::string &name) {
  Activity activity;
  activity.kind = ActivityKind::Kernel;
  activity.name = name;
  const dim3 grid = config.gridDim, block = config.blockDim;
  activity.grid[0] = grid.x, activity.grid[1] = grid.y,
  activity.grid[2] = grid.z;
  activity.block[0] = block.x, activity.block[1] = block.y,
  activity.block[2] = block.z;
  activity.shared_bytes = unsigned(config.dynamicSmemBytes);
  return activity;
}

cudaError_t launch(const cudaLaunchConfig_t &config, const void *code,
                   const std::string &name, std::function<void()> kernel,
                   const std::vector<const void *> &pointers) {
  return cudart([&] {
    check_sizes(config);
    check_dynamic_memory(config.dynamicSmemBytes, code);
    check_pointers(pointers);
    enqueue(
        stream_of(config.stream),
        [grid = config.gridDim, block = config.blockDim,
         bytes = config.dynamicSmemBytes,
         body = std::move(kernel)] { run_grid(grid, block, bytes, body); },
        activity_of(config, name));
  });
}

} // namespace gpuopt::emulation

using namespace gpuopt::emulation;

cudaError_t cudaFuncSetAttribute(const void *code, cudaFuncAttribute attribute,
                                 int value) {
  return cudart([&] {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
      refuse(cudaErrorNotSupported,
             "the emulation knows one attribute of "
             "kernels, the size of dynamic shared memory");
    if (value < 0 || size_t(value) > kMostDynamicBytes)
      refuse(cudaErrorInvalidValue, std::to_string(value) +
                                        " bytes of dynamic shared memory; a "
                                        "block may have at most " +
                                        std::to_string(kMostDynamicBytes));
    allowed_bytes[code] = size_t(value);
  });
}
