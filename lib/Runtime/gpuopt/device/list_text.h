// Names in a sentence, for messages. This file is C++17: the compiler uses it
// too.
#pragma once

#include "gpuopt/device/edit_distance.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

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

namespace detail {

// Words of others for what can be chosen, and ours.
inline constexpr struct {
  std::string_view others, ours;
} kChoicesOfOthers[] = {
    {"cpu", "host"},         {"gpu", "cuda"},      {"half", "fp16"},
    {"float16", "fp16"},     {"bfloat16", "bf16"}, {"float32", "fp32"},
    {"ce", "cross_entropy"}, {"mae", "l1"},
};

// Returns a text in small letters, with underscores for dashes.
inline std::string plain_name(std::string text) {
  for (char &letter : text)
    letter = letter == '-'                    ? '_'
             : letter >= 'A' && letter <= 'Z' ? char(letter - 'A' + 'a')
                                              : letter;
  return text;
}

} // namespace detail

// Returns the name of several ones that a text was probably meant to be: that
// for a word of others, the nearest spelling, the longest one that is a part of
// the text, or the only one that begins with it. Empty if there is none.
inline std::string choice_meant_by(const std::string &text,
                                   const std::vector<std::string_view> &names) {
  constexpr size_t kLeastLetters = 3; // of which a part says something
  const std::string name = detail::plain_name(text);
  for (const auto &known : detail::kChoicesOfOthers)
    if (name == known.others &&
        std::find(names.begin(), names.end(), known.ours) != names.end())
      return std::string(known.ours);
  if (const std::string nearest = nearest_name(name, names); !nearest.empty())
    return nearest;
  std::string_view part;
  std::vector<std::string_view> longer;
  for (const std::string_view known : names) {
    if (known.size() >= kLeastLetters && known.size() > part.size() &&
        name.find(known) != std::string::npos)
      part = known;
    if (name.size() >= kLeastLetters && known.rfind(name, 0) == 0)
      longer.push_back(known);
  }
  return std::string(!part.empty()        ? part
                     : longer.size() == 1 ? longer[0]
                                          : std::string_view());
}

// Returns "; did you mean 'cosine'?" for a text that is no name; empty if
// nothing is near.
inline std::string choice_hint(const std::string &text,
                               const std::string_view *names, size_t count) {
  const std::string meant = choice_meant_by(text, {names, names + count});
  return meant.empty() ? "" : "; did you mean '" + meant + "'?";
}

// Returns "linear, cosine or constant, but is 'cosin'; did you mean 'cosine'?"
// for a text that is none of several names.
inline std::string wrong_choice(const std::string &text,
                                const std::string_view *names, size_t count) {
  return list_text(names, count) + ", but is '" + text + "'" +
         choice_hint(text, names, count);
}

} // namespace gpuopt
