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

// Returns "auto, own or cudnn".
inline std::string attention_library_list() {
  return list_text(kAttentionLibraryNames, std::size(kAttentionLibraryNames));
}

} // namespace gpuopt
