// Which library computes attention, by the names that users give. This file is
// C++17: the compiler checks the flag by it.
#pragma once

#include "gpuopt/device/list_text.h"

#include <iterator>
#include <optional>

namespace gpuopt {

// Auto: what is faster, by measurement, where that is kept in a record, and
// otherwise the runtime's own kernels.
enum class AttentionLibrary { Auto, Own, Cudnn };

// In the order of the enum.
inline constexpr std::string_view kAttentionLibraryNames[] = {"auto", "own",
                                                              "cudnn"};

constexpr std::optional<AttentionLibrary>
find_attention_library(std::string_view name) {
  for (size_t i = 0; i < std::size(kAttentionLibraryNames); i++)
    if (name == kAttentionLibraryNames[i])
      return AttentionLibrary(i);
  return std::nullopt;
}

// Returns "auto, own or cudnn, but is 'cudn'; did you mean 'cudnn'?".
inline std::string wrong_attention_library(const std::string &name) {
  return wrong_choice(name, kAttentionLibraryNames,
                      std::size(kAttentionLibraryNames));
}

} // namespace gpuopt
