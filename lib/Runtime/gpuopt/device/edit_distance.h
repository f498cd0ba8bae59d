// How far two names are apart, by which a misspelt one is told from others.
//
// This file is C++17, as the compiler is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuopt {

// Returns how many letters must be inserted, removed, replaced or exchanged
// with the next one.
inline size_t edit_distance(std::string_view from, std::string_view to) {
  // Distances of the first i letters from the first j, and of i - 1 and i - 2.
  std::vector<size_t> row(to.size() + 1), before, twice_before;
  for (size_t j = 0; j <= to.size(); j++)
    row[j] = j;
  for (size_t i = 1; i <= from.size(); i++) {
    twice_before = std::exchange(before, row);
    row[0] = i;
    for (size_t j = 1; j <= to.size(); j++) {
      row[j] = std::min({before[j - 1] + (from[i - 1] != to[j - 1]),
                         before[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] &&
          from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], twice_before[j - 2] + 1);
    }
  }
  return row.back();
}

// Returns the name that is spelled nearest to a misspelt one; empty if none is
// near.
template <class Names>
std::string nearest_name(std::string_view name, const Names &names) {
  std::pair<size_t, std::string_view> closest(name.size() / 3 + 1, "");
  for (const auto &known : names)
    closest = std::min(closest,
                       {edit_distance(name, known), std::string_view(known)});
  return std::string(closest.second);
}

} // namespace gpuopt
