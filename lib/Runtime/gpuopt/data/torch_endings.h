// The endings of PyTorch's files, which are neither models nor data here.
// This file is C++17, as the compiler is.
#pragma once

#include <string_view>

namespace gpuopt {

// Whether an ending, in lower case, is one of PyTorch's files.
constexpr bool is_torch_ending(std::string_view ending) {
  return ending == ".pt" || ending == ".pth" || ending == ".ckpt" ||
         ending == ".pt2";
}

} // namespace gpuopt
