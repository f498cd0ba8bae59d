// Names in a sentence, for messages. This file is C++17: the compiler uses it
// too.
#pragma once

#include <string>
#include <string_view>

namespace gpuopt {

// Returns "linear, cosine or constant".
inline std::string list_text(const std::string_view *names, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; i++)
    text += (i == 0           ? ""
             : i == count - 1 ? " or "
                              : ", ") +
            std::string(names[i]);
  return text;
}

} // namespace gpuopt
