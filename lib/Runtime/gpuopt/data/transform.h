// --transform: what is done to pictures, by torchvision's names and defaults.
#pragma once

#include "gpuopt/data/draws.h"
#include "gpuopt/data/image.h"
#include "gpuopt/data/pixel_scale.h"
#include "gpuopt/data/rand_augment.h"
#include "gpuopt/device/plain_numbers.h"

#include <cmath>
#include <cstdlib>

namespace gpuopt {

// One transform of the list, with its arguments.
struct ImageTransform {
  enum Kind {
    RandomResizedCrop,
    RandomHorizontalFlip,
    Resize,
    CenterCrop,
    RandAugment
  };
  Kind kind;
  int64_t width = 0, height = 0; // height 0, for Resize: of the shorter side
  double scale[2] = {0.08, 1}, ratio[2] = {3. / 4, 4. / 3};
  double probability = 0.5;
  int64_t num_ops = 2, magnitude = 9, num_magnitude_bins = 31;
};

// The form that the pictures of an input are made into.
struct ImageFormat {
  int64_t channels = 3, height = 0, width = 0;
};

namespace detail {

// Reads "random_resized_crop(224, scale=(0.5, 1)), random_horizontal_flip".
class TransformParser {
public:
  TransformParser(std::string text_of_flag, std::string flag,
                  const ImageFormat &format)
      : text(std::move(text_of_flag)), flag(std::move(flag)), format(format) {
    scale.channels = format.channels;
    scale.plane = format.height * format.width;
    for (skip(); at < text.size(); skip())
      read_transform();
  }

  std::vector<ImageTransform> transforms;
  PixelScale scale;

private:
  using Numbers = std::vector<double>;
  struct Argument {
    std::string name; // empty: the next one
    Numbers numbers;
  };

  [[noreturn]] void fail(const std::string &why) const {
    throw Error("'" + flag + "': " + why);
  }
  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == ','))
      at++;
  }
  std::string name() {
    const size_t begin = at;
    while (at < text.size() && (isalnum(text[at]) || text[at] == '_'))
      at++;
    return text.substr(begin, at - begin);
  }
  double number() {
    char *end = nullptr;
    const double value = read_number(text.c_str() + at, &end);
    if (end == text.c_str() + at)
      fail("expects a number at '" + text.substr(at) + "'");
    at = size_t(end - text.c_str());
    return value;
  }
  bool accept(char c) {
    skip();
    if (at == text.size() || text[at] != c)
      return false;
    at++;
    return true;
  }
  Argument argument() {
    Argument argument;
    skip();
    const size_t begin = at;
    argument.name = at < text.size() && isalpha(text[at]) ? name() : "";
    if (!argument.name.empty() && !accept('='))
      fail("expects '=' behind '" + text.substr(begin) + "'");
    const char close = accept('(') ? ')' : accept('[') ? ']' : 0;
    if (!close)
      argument.numbers.push_back(number());
    while (close && !accept(close))
      argument.numbers.push_back(number());
    return argument;
  }
  std::vector<Argument> arguments() {
    std::vector<Argument> all;
    if (accept('('))
      while (!accept(')'))
        all.push_back(argument());
    return all;
  }

  // Returns the numbers of an argument by its place or its name; `counts` has
  // the numbers of numbers that it may have.
  Numbers take(std::vector<Argument> &given, const std::string &transform,
               const std::string &wanted, std::vector<size_t> counts,
               const Numbers &otherwise) {
    auto found = given.begin();
    while (found != given.end() && !found->name.empty() &&
           found->name != wanted)
      found++;
    if (found == given.end())
      return otherwise;
    const Numbers numbers = found->numbers;
    given.erase(found);
    if (std::find(counts.begin(), counts.end(), numbers.size()) == counts.end())
      fail(transform + " takes " + std::to_string(counts.back()) +
           " numbers for '" + wanted + "', but got " +
           std::to_string(numbers.size()));
    return numbers;
  }
  // A size is one number or (height, width); without it, it is the input's.
  void take_size(std::vector<Argument> &given, const std::string &transform,
                 ImageTransform &result) {
    auto is_bare_number = [&](size_t i) {
      return given.size() > i && given[i].name.empty() &&
             given[i].numbers.size() == 1;
    };
    if (is_bare_number(0) && is_bare_number(1))
      fail(transform +
           " takes a height and a width in brackets of their own: " +
           transform + "((" + std::to_string(int64_t(given[0].numbers[0])) +
           ", " + std::to_string(int64_t(given[1].numbers[0])) + "))");
    const Numbers size = take(given, transform, "size", {1, 2},
                              {double(format.height), double(format.width)});
    for (double length : size)
      if (!(length >= 1 && length <= 65536 && length == std::floor(length)))
        fail(transform + " takes a size of 1 to 65536 pixels");
    const bool is_short_side =
        size.size() == 1 && result.kind == ImageTransform::Resize;
    result.height = is_short_side ? 0 : int64_t(size[0]);
    result.width = int64_t(size.back());
  }
  void take_range(std::vector<Argument> &given, const std::string &transform,
                  const char *wanted, double most, double (&range)[2]) {
    const Numbers numbers =
        take(given, transform, wanted, {2}, {range[0], range[1]});
    if (!(numbers[0] > 0 && numbers[0] <= numbers[1] && numbers[1] <= most))
      fail(transform + " takes two numbers above 0 for '" + wanted +
           "', the lower one first");
    range[0] = numbers[0];
    range[1] = numbers[1];
  }
  void take_channels(std::vector<Argument> &given, const char *wanted,
                     float (&values)[PixelScale::kMostChannels]) {
    const Numbers numbers =
        take(given, "normalize", wanted, {1, size_t(format.channels)}, {});
    if (numbers.empty())
      fail("normalize needs mean and std, as in normalize(mean=[0.485, 0.456, "
           "0.406], std=[0.229, 0.224, 0.225])");
    for (int64_t c = 0; c < format.channels; c++)
      values[c] = float(numbers.size() == 1 ? numbers[0] : numbers[size_t(c)]);
  }
  void read_normalize(std::vector<Argument> &given) {
    take_channels(given, "mean", scale.mean);
    take_channels(given, "std", scale.std);
    for (float std : scale.std)
      if (!(std > 0))
        fail("normalize takes a std above 0");
    skip();
    if (at < text.size())
      fail("normalize must be the last transform, but '" + text.substr(at) +
           "' follows");
  }
  int64_t take_whole(std::vector<Argument> &given, const char *wanted,
                     int64_t otherwise, int64_t least, int64_t limit) {
    const double number =
        take(given, "rand_augment", wanted, {1}, {double(otherwise)})[0];
    if (!(number >= double(least) && number < double(limit) &&
          number == std::floor(number)))
      fail(std::string("rand_augment takes a whole number for '") + wanted +
           "', at least " + std::to_string(least) + " and below " +
           std::to_string(limit));
    return int64_t(number);
  }
  void read_rand_augment(std::vector<Argument> &given, ImageTransform &result) {
    constexpr int64_t kMostOps = 100, kMostBins = 1000;
    result.kind = ImageTransform::RandAugment;
    result.num_ops = take_whole(given, "num_ops", 2, 0, kMostOps);
    const int64_t magnitude = take_whole(given, "magnitude", 9, 0, kMostBins);
    result.num_magnitude_bins =
        take_whole(given, "num_magnitude_bins", 31, 2, kMostBins);
    if (magnitude >= result.num_magnitude_bins)
      fail("rand_augment takes a magnitude below num_magnitude_bins");
    result.magnitude = magnitude;
  }
  void read_transform() {
    const std::string transform = name();
    std::vector<Argument> given = arguments();
    ImageTransform result{};
    if (transform == "normalize") {
      read_normalize(given);
    } else if (transform == "random_resized_crop") {
      result.kind = ImageTransform::RandomResizedCrop;
      take_size(given, transform, result);
      take_range(given, transform, "scale", 1, result.scale);
      take_range(given, transform, "ratio", 1e6, result.ratio);
    } else if (transform == "random_horizontal_flip") {
      result.kind = ImageTransform::RandomHorizontalFlip;
      result.probability = take(given, transform, "p", {1}, {0.5})[0];
      if (!(result.probability >= 0 && result.probability <= 1))
        fail("random_horizontal_flip takes a p from 0 to 1");
    } else if (transform == "resize" || transform == "center_crop") {
      result.kind = transform == "resize" ? ImageTransform::Resize
                                          : ImageTransform::CenterCrop;
      take_size(given, transform, result);
    } else if (transform == "rand_augment") {
      read_rand_augment(given, result);
    } else {
      fail("there is no transform '" + transform +
           "'; there are random_resized_crop, random_horizontal_flip, resize, "
           "center_crop, rand_augment and normalize");
    }
    if (!given.empty())
      fail(transform + " takes no argument '" + given[0].name + "'");
    if (transform != "normalize")
      transforms.push_back(result);
  }

  const std::string text, flag;
  const ImageFormat format;
  size_t at = 0;
};

} // namespace detail

// Draws the box of a random resized crop, as torchvision does.
inline Box draw_crop(const ImageTransform &transform, int64_t width,
                     int64_t height, Draws &draws) {
  const double log_ratio[2] = {std::log(transform.ratio[0]),
                               std::log(transform.ratio[1])};
  for (int attempt = 0; attempt < 10; attempt++) {
    const double area = double(width * height) *
                        draws.uniform(transform.scale[0], transform.scale[1]);
    const double ratio = std::exp(draws.uniform(log_ratio[0], log_ratio[1]));
    const int64_t w = int64_t(std::nearbyint(std::sqrt(area * ratio))),
                  h = int64_t(std::nearbyint(std::sqrt(area / ratio)));
    if (w > 0 && w <= width && h > 0 && h <= height) {
      const int64_t y = draws.below(height - h + 1);
      return {draws.below(width - w + 1), y, w, h};
    }
  }
  // No crop fits: the largest one in the middle whose ratio does, of at least a
  // pixel.
  int64_t w = width, h = height;
  const double ratio = double(width) / double(height);
  if (ratio < transform.ratio[0])
    h = std::max<int64_t>(
        1, int64_t(std::nearbyint(double(w) / transform.ratio[0])));
  else if (ratio > transform.ratio[1])
    w = std::max<int64_t>(
        1, int64_t(std::nearbyint(double(h) * transform.ratio[1])));
  return {(width - w) / 2, (height - h) / 2, w, h};
}

} // namespace gpuopt
