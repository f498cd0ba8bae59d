// Pictures as a source of samples: decoded and transformed by whoever reads
// them. They stay bytes; the device makes numbers of them.
#pragma once

#include "gpuopt/data/dataset.h"
#include "gpuopt/data/image_steps.h"
#include "gpuopt/data/records.h"

namespace gpuopt {

// Feeds inputs of shape [batch, 3 or 1, height, width].
class ImageSource : public DataSource {
public:
  // `transform` is the value of the flag of that name.
  ImageSource(std::shared_ptr<const Records> files, const TensorInfo &tensor,
              const std::string &transform, std::string flag_of_transform)
      : records(std::move(files)), flag(std::move(flag_of_transform)),
        format(format_of(tensor, *records)) {
    detail::TransformParser parser(transform, flag, format);
    transforms = std::move(parser.transforms);
    pixel_scale = parser.scale;
    path = records->path;
    type = Type::U8;
    elements = format.channels * format.height * format.width;
    scale = is_fraction(tensor.type) ? &pixel_scale : nullptr;
  }
  int64_t samples() const override { return records->count(); }
  std::string place(int64_t sample) const override {
    return records->place(sample);
  }
  std::vector<std::string> names() const override { return records->names(); }

  void read(const SampleDraw &draw, uint8_t *to) const override {
    static thread_local ImageScratch scratch;
    const Record record = records->open(draw.sample);
    try {
      const std::unique_ptr<ImageReader> reader = open_image(record.content);
      const ImageSteps steps = steps_of(*reader, draw);
      run_steps(*reader, steps.steps, scratch);
      write_planes(scratch.now, format.channels, steps.is_flipped, to);
    } catch (const BadContent &problem) {
      throw BadRecord(place(draw.sample) + " " + problem.what());
    }
  }
  // Throws an Error if a transform that later pictures get cannot be read.
  void check_transform(const std::string &transform,
                       const std::string &flag_of_transform) const {
    detail::TransformParser(transform, flag_of_transform, format);
  }
  // The header of a picture has its size.
  void check(int64_t sample) const override {
    const Record record = records->open(sample);
    try {
      steps_of(*open_image(record.content), {sample});
    } catch (const BadContent &problem) {
      throw BadRecord(place(sample) + " " + problem.what());
    }
  }

private:
  static ImageFormat format_of(const TensorInfo &tensor,
                               const Records &records) {
    const auto shape = detail::sample_shape(tensor);
    if (shape.size() != 3 || (shape[0] != 3 && shape[0] != 1))
      throw Error("'" + records.path + "' holds pictures, but '" + tensor.name +
                  "' has samples of shape " + shape_text(shape) +
                  "; pictures have [3, height, width] or [1, height, width]");
    return {shape[0], shape[1], shape[2]};
  }
  // Returns what is done to a picture, which has the input's size then.
  ImageSteps steps_of(const ImageReader &reader, const SampleDraw &draw) const {
    ImageSteps steps(reader.width, reader.height, transforms,
                     Draws(draw.seed, draw.epoch, uint64_t(draw.sample)));
    if (steps.width != format.width || steps.height != format.height)
      refuse_size(reader, steps);
    return steps;
  }
  // Returns "--transform 'resize((16, 16))' or 'resize(16),center_crop(16)'".
  std::string fitting_transforms() const {
    const std::string height = std::to_string(format.height),
                      width = std::to_string(format.width),
                      both = "(" + height + ", " + width + ")";
    const bool is_square = format.height == format.width;
    return flag + " 'resize(" + both + ")' or 'resize(" +
           std::to_string(std::max(format.height, format.width)) +
           "),center_crop(" + (is_square ? width : both) + ")'";
  }
  [[noreturn]] void refuse_size(const ImageReader &reader,
                                const ImageSteps &steps) const {
    auto size = [](int64_t width, int64_t height) {
      return std::to_string(width) + " x " + std::to_string(height);
    };
    const bool is_same =
        reader.width == steps.width && reader.height == steps.height;
    throw BadContent("is " + size(reader.width, reader.height) +
                     (is_same ? ""
                              : ", and " + size(steps.width, steps.height) +
                                    " after " + flag) +
                     ", but the input is " + size(format.width, format.height) +
                     "; " + fitting_transforms() + " makes it so");
  }

  std::shared_ptr<const Records> records;
  const std::string flag; // of the transforms, for messages
  const ImageFormat format;
  std::vector<ImageTransform> transforms;
  PixelScale pixel_scale;
};

// The classes of a folder of pictures, as labels.
class ClassSource : public StoredSource {
public:
  explicit ClassSource(std::shared_ptr<const ImageFolder> classes)
      : folder(std::move(classes)), labels(folder->labels),
        classes_by_number(folder->classes) {
    path = folder->path;
    type = Type::I64;
    elements = 1;
  }
  int64_t samples() const override { return folder->count(); }
  std::string place(int64_t sample) const override {
    return folder->place(sample);
  }
  std::vector<std::string> names() const override { return folder->names(); }
  const std::vector<std::string> *class_names() const override {
    return &classes_by_number;
  }
  void number_classes_as(const std::vector<std::string> &all) override {
    for (size_t i = 0; i < labels.size(); i++) {
      const std::string &name = folder->classes[size_t(folder->labels[i])];
      labels[i] = std::find(all.begin(), all.end(), name) - all.begin();
    }
    classes_by_number = all;
  }
  const uint8_t *at(int64_t sample) const override {
    return reinterpret_cast<const uint8_t *>(&labels[size_t(sample)]);
  }

private:
  std::shared_ptr<const ImageFolder> folder;
  std::vector<int64_t> labels; // of the samples
  std::vector<std::string> classes_by_number;
};

} // namespace gpuopt
