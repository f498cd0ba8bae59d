// How the bytes of pictures become numbers.
#pragma once

#include <cstdint>

namespace gpuopt {

// As by torchvision's ToTensor and Normalize: (pixel / 255 - mean[c]) / std[c],
// in float. A channel is a plane of pixels.
struct PixelScale {
  static constexpr int kMostChannels = 3;
  float mean[kMostChannels] = {0, 0, 0}, std[kMostChannels] = {1, 1, 1};
  int64_t channels = 3, plane = 1; // pixels of one channel
};

} // namespace gpuopt
