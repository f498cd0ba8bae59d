// The target of a flag of data: a file, a folder, or a part of one or of
// several files behind a colon, as in x.npz:images or train-{00..07}.tar:jpg.
#pragma once

#include "gpuopt/device/error.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace gpuopt {

struct DataPath {
  std::string file;
  std::string member; // empty: the flag names a file alone
  // ".npz", ".safetensors", ".parquet" or ".tar" where the file has members.
  std::string extension;
};

inline bool is_folder(const std::string &path) {
  std::error_code none;
  return std::filesystem::is_directory(path, none);
}

// Splits at the colon behind the extension of a file that has members.
inline DataPath parse_data_path(const std::string &text) {
  std::error_code none;
  const bool exists = std::filesystem::exists(text, none);
  for (const char *extension : {".npz", ".safetensors", ".parquet", ".tar"}) {
    const std::string name(extension);
    const size_t colon = text.find(name + ":");
    if (colon != std::string::npos && !exists)
      return {text.substr(0, colon + name.size()),
              text.substr(colon + name.size() + 1), name};
    if (text.size() > name.size() &&
        text.compare(text.size() - name.size(), name.size(), name) == 0)
      return {text, "", name};
  }
  return {text, "", ""};
}

// Splits at each separator that is in no braces.
inline std::vector<std::string> split_outside_braces(const std::string &text,
                                                     char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == separator && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

namespace detail {

// Returns what {0000..0007}, {7..0..2} or {a..f} stands for, by the text in its
// braces; nothing if it is no range. Numbers have as many digits as the longer
// end if one of them begins with 0.
inline std::vector<std::string> expand_range(const std::string &text) {
  const size_t dots = text.find(".."), second = text.find("..", dots + 2);
  if (dots == std::string::npos)
    return {};
  const std::string from = text.substr(0, dots),
                    to = text.substr(dots + 2, second == std::string::npos
                                                   ? second
                                                   : second - dots - 2);
  auto is_number = [](const std::string &digits) {
    const size_t begin = digits.size() > 1 && digits[0] == '-';
    return !digits.empty() && digits.size() < 18 &&
           digits.find_first_not_of("0123456789", begin) == std::string::npos;
  };
  const bool are_numbers = is_number(from) && is_number(to);
  const bool are_letters =
      from.size() == 1 && to.size() == 1 && isalpha(from[0]) && isalpha(to[0]);
  const std::string by =
      second == std::string::npos ? "1" : text.substr(second + 2);
  if ((!are_numbers && !are_letters) || !is_number(by))
    return {};
  const long long begin = are_numbers ? std::stoll(from) : from[0],
                  end = are_numbers ? std::stoll(to) : to[0],
                  step = std::max(1LL, std::abs(std::stoll(by)));
  const bool is_padded = are_numbers && ((from.size() > 1 && from[0] == '0') ||
                                         (to.size() > 1 && to[0] == '0'));
  constexpr long long kMost = 1000000;
  if (std::abs(end - begin) / step >= kMost)
    throw Error("'{" + text + "}' stands for more than a million files");
  std::vector<std::string> values;
  for (long long i = 0; i <= std::abs(end - begin) / step; i++) {
    const long long value = begin <= end ? begin + i * step : begin - i * step;
    std::string name =
        are_numbers ? std::to_string(value) : std::string(1, char(value));
    if (is_padded && name.size() < std::max(from.size(), to.size()))
      name.insert(0, std::max(from.size(), to.size()) - name.size(), '0');
    values.push_back(name);
  }
  return values;
}

} // namespace detail

// Returns the names that a pattern stands for, in the order in which Bash and
// WebDataset expand braces: {000..007}, {train,extra}, and one in the other.
// Braces that are neither stay as they are.
inline std::vector<std::string> expand_braces(const std::string &pattern) {
  size_t open = pattern.find('{'), close = open;
  for (int depth = 0; close < pattern.size(); close++) {
    depth += pattern[close] == '{' ? 1 : pattern[close] == '}' ? -1 : 0;
    if (depth == 0)
      break;
  }
  if (open == std::string::npos || close >= pattern.size())
    return {pattern};
  const std::string before = pattern.substr(0, open),
                    inside = pattern.substr(open + 1, close - open - 1);
  const std::vector<std::string> rests =
      expand_braces(pattern.substr(close + 1));
  std::vector<std::string> choices = split_outside_braces(inside, ',');
  if (choices.size() == 1)
    choices = detail::expand_range(inside);
  if (choices.empty())
    choices.push_back("{" + inside + "}");
  std::vector<std::string> names;
  for (const std::string &choice : choices) {
    const bool is_literal =
        choice.size() > 1 && choice[0] == '{' && choices.size() == 1;
    const std::vector<std::string> middles =
        is_literal ? std::vector<std::string>{choice} : expand_braces(choice);
    for (const std::string &middle : middles)
      for (const std::string &rest : rests)
        names.push_back(before + middle + rest);
  }
  return names;
}

// Returns the tar or Parquet files that a pattern names.
inline std::vector<std::string> expand_shards(const std::string &pattern) {
  std::error_code none;
  if (std::filesystem::exists(pattern, none))
    return {pattern};
  return expand_braces(pattern);
}

// Returns the files and folders that must be there for a flag's value.
inline std::vector<std::string> files_of(const std::string &text) {
  const DataPath path = parse_data_path(text);
  return path.extension == ".tar" || path.extension == ".parquet"
             ? expand_shards(path.file)
             : std::vector<std::string>{path.file};
}

} // namespace gpuopt
