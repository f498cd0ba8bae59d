// How the names of PyTorch's files end, which are neither models nor data here.
// This file is C++17, as the compiler is.
#pragma once

#include <string_view>

namespace gpuopt {

// Whether a file is one of PyTorch by its ending, in small letters.
constexpr bool is_torch_ending(std::string_view ending) {
  return ending == ".pt" || ending == ".pth" || ending == ".ckpt" ||
         ending == ".pt2";
}

} // namespace gpuopt
