// The prompts of a generation: sequences of tokens.
#pragma once

#include "gpuopt/data/array.h"
#include "gpuopt/data/indices.h"
#include "gpuopt/data/json.h"

#include <string>
#include <vector>

namespace gpuopt {

using Tokens = std::vector<int64_t>;

namespace detail {

// Returns the rows of an array of integers; an array of one dimension is one
// prompt.
inline std::vector<Tokens> prompts_of_array(const std::string &path) {
  const Array array = read_npy(path);
  const std::string what = "'" + path + "' has elements of " +
                           name_of(array.type) + " and the shape " +
                           shape_text(array.shape);
  if (is_fraction(array.type) || array.type == Type::Bool)
    throw Error(what + ", but prompts are integers");
  if (array.shape.empty() || array.shape.size() > 2)
    throw Error(what + ", but prompts have the shape [prompts, tokens], or "
                       "[tokens] for one of them");
  const int64_t length = array.shape.back(),
                count = array.shape.size() == 2 ? array.shape[0] : 1;
  const auto held = int64_t(array.content.bytes / size_of(array.type));
  if (length > 0 && held / length < count)
    throw Error("'" + path + "' is shorter than its header says");
  if (length == 0)
    throw Error(what + ", but a prompt needs at least one token");
  std::vector<Tokens> prompts(static_cast<size_t>(count));
  for (int64_t i = 0; i < length * count; i++)
    prompts[size_t(i / length)].push_back(
        integer_at(array.type, array.content.data, i));
  return prompts;
}

// Returns the prompts of a file with an array of integers in each line.
inline std::vector<Tokens> prompts_of_lines(const std::string &path) {
  const MappedFile file(path);
  const char *text = reinterpret_cast<const char *>(file.data);
  std::vector<Tokens> prompts;
  size_t number = 0; // of the line; the first one is 1
  for (size_t begin = 0; begin < file.bytes;) {
    number++;
    const void *newline = memchr(text + begin, '\n', file.bytes - begin);
    const size_t end = newline
                           ? size_t(static_cast<const char *>(newline) - text)
                           : file.bytes;
    const std::string line(text + begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    JsonParser parser(line.data(), line.size(),
                      "line " + std::to_string(number) + " of '" + path +
                          "' is no list of tokens like [15496, 11]");
    prompts.push_back(parser.integers());
  }
  return prompts;
}

} // namespace detail

// Reads a .npy file, or a .jsonl file with a list of tokens in each line. Each
// prompt has at least one token; all are at least 0 and below `limit`, unless
// that is negative.
inline std::vector<Tokens> read_prompts(const std::string &path,
                                        int64_t limit) {
  const std::string ending = ".jsonl";
  const bool are_lines =
      path.size() > ending.size() &&
      path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
  const std::vector<Tokens> prompts = are_lines
                                          ? detail::prompts_of_lines(path)
                                          : detail::prompts_of_array(path);
  if (prompts.empty())
    throw Error("'" + path + "' has no prompts");
  for (size_t i = 0; i < prompts.size(); i++) {
    const std::string which =
        "prompt " + std::to_string(i) + " of '" + path + "'";
    if (prompts[i].empty())
      throw Error(which + " has no tokens; a model needs at least one, as the "
                          "one that begins a text");
    for (const int64_t token : prompts[i])
      if (token < 0 || (limit >= 0 && token >= limit))
        throw Error(which + " has the token " + std::to_string(token) +
                    ", but the model's are at least 0" +
                    (limit >= 0 ? " and below " + std::to_string(limit) : ""));
  }
  return prompts;
}

} // namespace gpuopt
