// What is done to pictures for validation and prediction where nothing is said
// of it: what training does to them, without its augmentations.
#pragma once

#include "gpuopt/device/error.h"

#include <string>
#include <vector>

namespace gpuopt {

// Splits a list of transforms at the commas outside of brackets.
inline std::vector<std::string> split_transforms(const std::string &text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else if (c != ' ' || !parts.back().empty())
      parts.back() += c;
  }
  std::vector<std::string> named;
  for (std::string &part : parts)
    if (!part.empty())
      named.push_back(std::move(part));
  return named;
}

// Returns the transforms without flips and RandAugment. Throws an error that
// says `what` is needed if there are crops at random, in whose place several
// others are common.
inline std::string without_augmentations(const std::string &transform,
                                         const std::string &what) {
  std::string kept;
  for (const std::string &part : split_transforms(transform)) {
    const std::string name = part.substr(0, part.find_first_of(" ("));
    if (name == "random_resized_crop")
      throw Error(what +
                  ", as 'resize(256), center_crop(224)' and a normalize");
    if (name != "random_horizontal_flip" && name != "rand_augment")
      kept += (kept.empty() ? "" : ", ") + part;
  }
  return kept;
}

// Returns --eval-transform, or what it is if it is not given. Throws an error
// if it has to be given.
inline std::string eval_transform_of(const std::string &transform,
                                     const std::string &eval_transform) {
  if (!eval_transform.empty())
    return eval_transform;
  return without_augmentations(
      transform, "--transform crops pictures at random (" + transform +
                     "), which a validation does not; say what it does to "
                     "them by --eval-transform");
}

} // namespace gpuopt
