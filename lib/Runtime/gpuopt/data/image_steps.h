// The crops, resizes and augmentations that a sample's transforms come to, and
// what carries them out. All of them are known once the size of the picture is,
// so nothing is decoded or resampled that a later crop would cut off.
#pragma once

#include "gpuopt/data/image_file.h"
#include "gpuopt/data/resample.h"
#include "gpuopt/data/transform.h"

namespace gpuopt {

// A crop, or a resize to width x height of which `box` is kept, after which the
// picture is changed without getting another size.
struct ImageStep {
  bool is_resize = false;
  int64_t width = 0, height = 0;
  Box box;
  bool is_flipped = false; // before it is changed
  std::vector<Augmentation> changes = {};
};

// The changes to one picture: the steps, and then perhaps a flip.
class ImageSteps {
public:
  ImageSteps(int64_t width, int64_t height,
             const std::vector<ImageTransform> &transforms, Draws draws)
      : width(width), height(height) {
    steps.push_back({false, 0, 0, {0, 0, width, height}});
    for (const ImageTransform &transform : transforms)
      add(transform, draws);
  }

  std::vector<ImageStep> steps; // the first one is a crop
  bool is_flipped = false;
  int64_t width, height; // of the result

private:
  void add(const ImageTransform &transform, Draws &draws) {
    switch (transform.kind) {
    case ImageTransform::RandAugment:
      return change(transform, draws);
    case ImageTransform::RandomHorizontalFlip:
      is_flipped ^= draws.uniform() < transform.probability;
      return;
    case ImageTransform::RandomResizedCrop:
      crop(draw_crop(transform, width, height, draws));
      return resize(transform.width, transform.height);
    case ImageTransform::CenterCrop:
      return crop({centered(width, transform.width),
                   centered(height, transform.height), transform.width,
                   transform.height});
    case ImageTransform::Resize:
      if (transform.height > 0)
        return resize(transform.width, transform.height);
      const double shorter = double(std::min(width, height));
      const double side = double(transform.width);
      return width <= height ? resize(transform.width,
                                      int64_t(side * double(height) / shorter))
                             : resize(int64_t(side * double(width) / shorter),
                                      transform.width);
    }
  }
  // Returns where a crop begins that is in the middle, or the padding of one
  // that is larger than the picture, below 0.
  static int64_t centered(int64_t size, int64_t crop) {
    return crop > size ? -((crop - size) / 2)
                       : int64_t(std::nearbyint(double(size - crop) / 2));
  }
  // What was a flip until here is done before the changes, whose directions it
  // would reverse.
  void change(const ImageTransform &transform, Draws &draws) {
    ImageStep &last = steps.back();
    last.is_flipped ^= is_flipped;
    is_flipped = false;
    for (int64_t i = 0; i < transform.num_ops; i++)
      last.changes.push_back(draw_augmentation(transform.magnitude,
                                               transform.num_magnitude_bins,
                                               width, height, draws));
  }
  void crop(Box box) {
    if (is_flipped) // which comes last
      box.x = width - box.x - box.width;
    Box &last = steps.back().box;
    const bool is_changed =
        steps.back().is_flipped || !steps.back().changes.empty();
    if (box.lies_in(width, height) && !is_changed)
      last = {last.x + box.x, last.y + box.y, box.width, box.height};
    else
      steps.push_back({false, 0, 0, box});
    width = box.width;
    height = box.height;
  }
  void resize(int64_t to_width, int64_t to_height) {
    if (to_width == width && to_height == height)
      return;
    if (to_width > ImageReader::kMostPixels / to_height)
      throw BadContent("would be too large after resize");
    steps.push_back({true, to_width, to_height, {0, 0, to_width, to_height}});
    width = to_width;
    height = to_height;
  }
};

// Pictures between the steps, which are kept from sample to sample.
struct ImageScratch {
  Image now, next;
};

// Flips a picture and changes it as a step says, once it has its size.
inline void change(const ImageStep &step, ImageScratch &scratch) {
  Image &image = scratch.now;
  for (int64_t y = 0; y < image.height && step.is_flipped; y++)
    for (int64_t x = 0; x < image.width / 2; x++)
      std::swap_ranges(image.row(y) + x * Image::kPixelBytes,
                       image.row(y) + (x + 1) * Image::kPixelBytes,
                       image.row(y) +
                           (image.width - 1 - x) * Image::kPixelBytes);
  for (const Augmentation &each : step.changes)
    augment(each, image, scratch.next);
}

// Carries out the steps; the result is in scratch.now.
inline void run_steps(ImageReader &reader, const std::vector<ImageStep> &steps,
                      ImageScratch &scratch) {
  reader.read(steps[0].box, scratch.now);
  change(steps[0], scratch);
  for (size_t i = 1; i < steps.size(); i++) {
    const ImageStep &step = steps[i];
    if (step.is_resize) {
      resample(scratch.now, step.width, step.height, step.box, scratch.next);
    } else {
      // Only crops that reach beyond the picture, or of one that is changed
      // before, are steps of their own.
      const Box inside = step.box.within(scratch.now.width, scratch.now.height);
      Image part;
      part.resize(inside.width, inside.height);
      for (int64_t y = 0; y < inside.height; y++)
        memcpy(part.row(y),
               scratch.now.row(inside.y + y) + inside.x * Image::kPixelBytes,
               size_t(inside.width * Image::kPixelBytes));
      scratch.next.resize(step.box.width, step.box.height);
      put_on_black(part, inside.x - step.box.x, inside.y - step.box.y,
                   scratch.next);
    }
    std::swap(scratch.now, scratch.next);
    change(step, scratch);
  }
}

// Writes a picture as planes of its channels: red, green and blue, or, for one
// channel, the brightness as PIL computes it (ITU-R 601).
inline void write_planes(const Image &image, int64_t channels, bool is_flipped,
                         uint8_t *to) {
  const int64_t width = image.width, plane = width * image.height;
  for (int64_t y = 0; y < image.height; y++) {
    const uint8_t *row = image.row(y);
    uint8_t *out = to + y * width;
    for (int64_t x = 0; x < width; x++) {
      const uint8_t *pixel = row + 4 * (is_flipped ? width - 1 - x : x);
      if (channels == 1) {
        out[x] = uint8_t(
            (pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) >>
            16);
        continue;
      }
      out[x] = pixel[0];
      out[x + plane] = pixel[1];
      out[x + 2 * plane] = pixel[2];
    }
  }
}

} // namespace gpuopt
