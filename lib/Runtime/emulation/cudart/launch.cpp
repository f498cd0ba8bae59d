#include "emulation/machine/launch.h"

#include "emulation/cudart/cudart.h"
#include "emulation/machine/block.h"

namespace gpuopt::emulation {

static std::string text_of(dim3 size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " +
         std::to_string(size.z);
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
  if (config.dynamicSmemBytes != 0 || config.numAttrs != 0)
    refuse(cudaErrorNotSupported, "the emulation lacks dynamic shared memory "
                                  "and attributes of launches");
}

static void check_pointers(const std::vector<const void *> &pointers) {
  for (const void *pointer : pointers)
    if (pointer && !device().memory.find_mapping(pointer))
      throw Fault("a kernel is given an address of the host's own memory");
}

cudaError_t launch(const cudaLaunchConfig_t &config,
                   std::function<void()> kernel,
                   const std::vector<const void *> &pointers) {
  return cudart([&] {
    check_sizes(config);
    check_pointers(pointers);
    enqueue(stream_of(config.stream),
            [grid = config.gridDim, block = config.blockDim,
             body = std::move(kernel)] { run_grid(grid, block, body); });
  });
}

} // namespace gpuopt::emulation
