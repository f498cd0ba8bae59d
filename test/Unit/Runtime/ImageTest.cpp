// Pictures: their decoders, the filter that resizes them, and transforms.

#include "Pictures.h"

#include "gpuopt/data/eval_transform.h"
#include "gpuopt/data/image_steps.h"

#include <gtest/gtest.h>

namespace gpuopt {
namespace {

NamedBytes bytes_named(const std::string &content) {
  return {"picture", reinterpret_cast<const uint8_t *>(content.data()),
          content.size()};
}

Image read(const std::string &content, Box box = {}) {
  const auto reader = open_image(bytes_named(content));
  if (box == Box{})
    box = {0, 0, reader->width, reader->height};
  Image image;
  reader->read(box, image);
  return image;
}

// Red, green and blue of each pixel of a box.
std::vector<int> colors_of(const Image &image, Box box) {
  std::vector<int> colors;
  for (int64_t y = box.y; y < box.y + box.height; y++)
    for (int64_t x = box.x; x < box.x + box.width; x++)
      for (int c = 0; c < 3; c++)
        colors.push_back(image.row(y)[4 * x + c]);
  return colors;
}
std::vector<int> colors_of(const Image &image) {
  return colors_of(image, {0, 0, image.width, image.height});
}

std::string problem_of(const std::string &content, Box box = {}) {
  try {
    read(content, box);
  } catch (const BadContent &problem) {
    return problem.what();
  }
  return "no problem";
}

TEST(Jpeg, ABoxIsAPartOfTheWholePicture) {
  for (const JpegKind kind :
       {JpegKind{3, 2, 2}, JpegKind{3, 2, 1}, JpegKind{3, 1, 1},
        JpegKind{3, 1, 2}, JpegKind{1}, JpegKind{4}, JpegKind{3, 2, 2, true}}) {
    const std::string file = jpeg(211, 157, kind);
    const Image whole = read(file);
    ASSERT_EQ(whole.width, 211);
    ASSERT_EQ(whole.height, 157);
    Draws draws(1, 2, 3);
    for (int i = 0; i < 60; i++) {
      Box box;
      box.width = 1 + draws.below(211);
      box.height = 1 + draws.below(157);
      box.x = draws.below(211 - box.width + 1);
      box.y = draws.below(157 - box.height + 1);
      ASSERT_EQ(colors_of(read(file, box)), colors_of(whole, box))
          << kind.channels << " channels, " << box.x << " " << box.y << " "
          << box.width << " " << box.height;
    }
  }
}

TEST(Jpeg, HasTheColorsThatWereWritten) {
  const std::vector<uint8_t> written = smooth_pixels(64, 48, 3);
  const std::vector<int> found = colors_of(read(jpeg(64, 48, {3, 1, 1})));
  double difference = 0;
  for (size_t i = 0; i < found.size(); i++)
    difference += std::abs(found[i] - int(written[i]));
  EXPECT_LT(difference / double(found.size()), 4);
  const std::vector<int> grey = colors_of(read(jpeg(64, 48, {1})));
  EXPECT_EQ(grey[30], grey[31]);
}

TEST(Jpeg, SaysWhatIsWrong) {
  const std::string file = jpeg(64, 64);
  EXPECT_EQ(problem_of(file), "no problem");
  for (size_t bytes = 2; bytes + 2 < file.size(); bytes += 7)
    EXPECT_EQ(problem_of(file.substr(0, bytes)).find("is a damaged JPEG: "), 0u)
        << bytes << " of " << file.size();
  // The picture's size follows the marker of its frame.
  std::string huge = file;
  huge.replace(huge.find("\xff\xc0") + 5, 4, "\xff\xdc\xff\xdc");
  EXPECT_EQ(problem_of(huge), "has 65500 x 65500 pixels, but only up to "
                              "178956970 are read");
  EXPECT_EQ(problem_of("text"), "is neither a JPEG nor a PNG picture");
  EXPECT_EQ(problem_of(""), "is neither a JPEG nor a PNG picture");
}

TEST(ImageReader, NeedsAPixel) {
  struct Empty : ImageReader {
    Empty() { set_size(0, 5); }
    void read(const Box &, Image &) override {}
  };
  try {
    Empty();
    FAIL() << "expected BadContent";
  } catch (const BadContent &problem) {
    EXPECT_STREQ(problem.what(),
                 "has 0 x 5 pixels, but a picture needs at least one");
  }
}

TEST(Png, HasTheColorsThatWereWritten) {
  const int width = 5, height = 7;
  const Box middle{1, 2, 3, 4};
  const std::vector<uint8_t> rgb = smooth_pixels(width, height, 3);
  auto expected = [&](int channels) {
    std::vector<int> colors;
    const std::vector<uint8_t> pixels = smooth_pixels(width, height, channels);
    for (int64_t y = middle.y; y < middle.y + middle.height; y++)
      for (int64_t x = middle.x; x < middle.x + middle.width; x++)
        for (int c = 0; c < 3; c++)
          colors.push_back(pixels[size_t((y * width + x) * channels +
                                         (channels < 3 ? 0 : c))]);
    return colors;
  };
  const std::pair<int, int> kinds[] = {{PNG_COLOR_TYPE_GRAY, 1},
                                       {PNG_COLOR_TYPE_GRAY_ALPHA, 2},
                                       {PNG_COLOR_TYPE_RGB, 3},
                                       {PNG_COLOR_TYPE_RGBA, 4}};
  for (const auto &[colors, channels] : kinds)
    for (const bool is_interlaced : {false, true}) {
      const std::string file =
          png(width, height, colors, smooth_pixels(width, height, channels), 8,
              is_interlaced);
      EXPECT_EQ(colors_of(read(file, middle)), expected(channels)) << channels;
    }
  // 16 bits, of which the upper ones come first, and a palette.
  EXPECT_EQ(colors_of(read(
                png(1, 1, PNG_COLOR_TYPE_RGB, {7, 255, 8, 255, 9, 0}, 16))),
            (std::vector<int>{7, 8, 9}));
  EXPECT_EQ(colors_of(read(png(1, 1, PNG_COLOR_TYPE_GRAY, {7, 255}, 16))),
            (std::vector<int>{7, 7, 7}));
  EXPECT_EQ(colors_of(read(png(2, 1, PNG_COLOR_TYPE_PALETTE, {1, 0}))),
            (std::vector<int>{200, 100, 50, 10, 20, 30}));
  const std::string file = png(width, height, PNG_COLOR_TYPE_RGB, rgb);
  for (size_t bytes = 4; bytes < 60; bytes++)
    EXPECT_EQ(problem_of(file.substr(0, bytes)).find("is a damaged PNG: "), 0u)
        << bytes;
}

Image smooth_image(int width, int height) {
  Image image;
  image.resize(width, height);
  image.pixels = smooth_pixels(width, height, 4);
  return image;
}

TEST(Resample, AWindowIsAPartOfTheWholeResult) {
  const Image from = smooth_image(61, 43);
  for (const auto &[width, height] :
       {std::pair<int, int>{20, 17}, {61, 20}, {100, 43}, {150, 90}}) {
    Image whole, part;
    resample(from, width, height, {0, 0, width, height}, whole);
    const Box window{width / 3, height / 4, width / 2, height / 2};
    resample(from, width, height, window, part);
    EXPECT_EQ(colors_of(part), colors_of(whole, window));
  }
}

TEST(Resample, AveragesWhatAPixelCovers) {
  // The filter of a half covers four pixels, by 1, 3, 3 and 1 eighths.
  Image from, to;
  from.resize(4, 1);
  for (int x = 0; x < 4; x++)
    from.row(0)[4 * x] = uint8_t(81 * (x == 1));
  resample(from, 2, 1, {0, 0, 2, 1}, to);
  // At the border the weights are 3, 3 and 1 sevenths.
  EXPECT_EQ(to.row(0)[0], 35); // 34.7
  EXPECT_EQ(to.row(0)[4], 12); // 11.6
}

detail::TransformParser parse(const std::string &text) {
  return {text, "--transform", {3, 32, 48}};
}

TEST(Transforms, HaveTheDefaultsOfTorchvision) {
  const auto parser =
      parse("random_resized_crop, random_horizontal_flip resize(256) "
            "resize([20, 30]),center_crop(size=24) "
            "normalize(mean=[0.5, 0.25, 0], std=0.5)");
  ASSERT_EQ(parser.transforms.size(), 5u);
  const ImageTransform &crop = parser.transforms[0];
  EXPECT_EQ(crop.width, 48); // the input's
  EXPECT_EQ(crop.height, 32);
  EXPECT_EQ(crop.scale[0], 0.08);
  EXPECT_EQ(crop.ratio[1], 4. / 3);
  EXPECT_EQ(parser.transforms[1].probability, 0.5);
  EXPECT_EQ(parser.transforms[2].height, 0); // the shorter side has 256
  EXPECT_EQ(parser.transforms[2].width, 256);
  EXPECT_EQ(parser.transforms[3].height, 20);
  EXPECT_EQ(parser.transforms[3].width, 30);
  EXPECT_EQ(parser.transforms[4].height, 24);
  EXPECT_EQ(parser.transforms[4].width, 24);
  EXPECT_EQ(parser.scale.mean[1], 0.25f);
  EXPECT_EQ(parser.scale.std[2], 0.5f);
  EXPECT_EQ(parse("random_resized_crop(9, (0.5, 1))").transforms[0].scale[0],
            0.5);
}

TEST(Transforms, SayWhatIsWrong) {
  const std::pair<const char *, const char *> cases[] = {
      {"blur", "there is no transform 'blur'; there are random_resized_crop, "
               "random_horizontal_flip, resize, center_crop, "
               "rand_augment and normalize"},
      {"resize(", "expects a number at ''"},
      {"rand_augment(0.5)", "rand_augment takes a whole number for 'num_ops', "
                            "at least 0 and below 100"},
      {"rand_augment(magnitude=31)",
       "rand_augment takes a magnitude below num_magnitude_bins"},
      {"resize(a)", "expects '=' behind 'a)'"},
      {"resize(size=2, side=3)", "resize takes no argument 'side'"},
      {"resize(4, 6)", "resize takes a height and a width in brackets of their "
                       "own: resize((4, 6))"},
      {"random_resized_crop(4, 6)", "random_resized_crop((4, 6))"},
      {"resize(0)", "resize takes a size of 1 to 65536 pixels"},
      {"resize([1, 2, 3])", "resize takes 2 numbers for 'size', but got 3"},
      {"random_horizontal_flip(2)",
       "random_horizontal_flip takes a p from 0 to 1"},
      {"random_resized_crop(scale=(1, 0.5))",
       "takes two numbers above 0 for 'scale', the lower one first"},
      {"normalize",
       "normalize needs mean and std, as in normalize(mean=[0.485, 0.456, "
       "0.406], std=[0.229, 0.224, 0.225])"},
      {"normalize(mean=0, std=0)", "normalize takes a std above 0"},
      {"normalize(mean=0, std=1), resize(3)",
       "normalize must be the last transform, but 'resize(3)' follows"},
  };
  for (const auto &[text, message] : cases) {
    const std::string error = error_of([&] { parse(text); });
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_EQ(error.find("'--transform': "), 0u) << error;
  }
}

// What transforms make of a picture.
Image transformed(const std::string &file, const std::string &transforms,
                  uint64_t sample = 0) {
  const auto reader = open_image(bytes_named(file));
  const ImageSteps steps(reader->width, reader->height,
                         parse(transforms).transforms, Draws(1, 2, sample));
  ImageScratch scratch;
  run_steps(*reader, steps.steps, scratch);
  EXPECT_EQ(scratch.now.width, steps.width);
  EXPECT_EQ(scratch.now.height, steps.height);
  return scratch.now;
}

// Validations see pictures as training does, but for what is random.
TEST(Transforms, OfValidationsHaveNoAugmentations) {
  const std::string kept = "normalize(mean=[0.5, 0.5, 0.5], std=0.25)";
  EXPECT_EQ(eval_transform_of("resize((8, 8)),random_horizontal_flip (p=0.3), "
                              "rand_augment, " +
                                  kept,
                              ""),
            "resize((8, 8)), " + kept);
  EXPECT_EQ(eval_transform_of("random_resized_crop", kept), kept);
  EXPECT_EQ(eval_transform_of("", ""), "");
  EXPECT_EQ(
      error_of([&] { eval_transform_of("random_resized_crop, " + kept, ""); }),
      "--transform crops pictures at random (random_resized_crop, " + kept +
          "), which a validation does not; say what it does to them by "
          "--eval-transform, as 'resize(256), center_crop(224)' and a "
          "normalize");
}

TEST(Transforms, CutsLateWhatTheyWouldCutEarly) {
  const std::string file = jpeg(90, 60);
  const Image whole = read(file);
  Image resized;
  resample(whole, 60, 40, {0, 0, 60, 40}, resized);
  EXPECT_EQ(colors_of(transformed(file, "resize(40), center_crop([20, 31])")),
            colors_of(resized, {14, 10, 31, 20})); // 14.5 to the even number
  // A crop that is larger than the picture has a black frame.
  const Image framed = transformed(file, "center_crop([64, 95])");
  EXPECT_EQ(colors_of(framed, {2, 2, 90, 60}), colors_of(whole));
  EXPECT_EQ(colors_of(framed, {0, 0, 95, 2}), std::vector<int>(95 * 2 * 3, 0));
  EXPECT_EQ(colors_of(framed, {92, 0, 3, 64}), std::vector<int>(3 * 64 * 3, 0));
  EXPECT_EQ(colors_of(transformed(file, "center_crop([64, 95]), "
                                        "center_crop([60, 90])")),
            colors_of(framed, {2, 2, 90, 60}));
}

TEST(Transforms, RefuseWhatIsTooLarge) {
  const auto parser = parse("resize(65536)");
  EXPECT_THROW(ImageSteps(1, 3000, parser.transforms, Draws(1, 2, 3)),
               BadContent);
  try {
    ImageSteps(1, 3000, parser.transforms, Draws(1, 2, 3));
  } catch (const BadContent &problem) {
    EXPECT_STREQ(problem.what(), "would be too large after resize");
  }
}

TEST(Transforms, AFlipBeforeACropIsOneAfterIt) {
  const std::string file = jpeg(90, 60);
  const auto parser = parse("random_horizontal_flip(1), resize(30), "
                            "center_crop([30, 30])");
  const ImageSteps steps(91, 60, parser.transforms, Draws(1, 2, 3));
  EXPECT_TRUE(steps.is_flipped);
  // 45 columns, of which the flipped picture keeps 8 to 37.
  EXPECT_EQ(steps.steps.back().box.x, 45 - 8 - 30);
}

TEST(Transforms, CropsAreDrawnBySample) {
  ImageTransform crop{ImageTransform::RandomResizedCrop};
  double area = 0;
  for (uint64_t sample = 0; sample < 4000; sample++) {
    Draws draws(7, 1, sample), again(7, 1, sample);
    const Box box = draw_crop(crop, 300, 200, draws);
    EXPECT_EQ(box, draw_crop(crop, 300, 200, again));
    EXPECT_TRUE(box.lies_in(300, 200));
    const double ratio = double(box.width) / double(box.height);
    EXPECT_GT(ratio, 0.7);
    EXPECT_LT(ratio, 1.4);
    area += double(box.width * box.height) / 60000;
  }
  // As of the same draws in Python: large crops often do not fit.
  EXPECT_NEAR(area / 4000, 0.389, 0.012);
  // No crop of these ratios fits, so it is the largest in the middle.
  Draws draws(1, 1, 1);
  crop.scale[0] = 1;
  EXPECT_EQ(draw_crop(crop, 300, 30, draws), (Box{130, 0, 40, 30}));
  EXPECT_EQ(draw_crop(crop, 30, 300, draws), (Box{0, 130, 30, 40}));
  // A box has at least a pixel.
  crop.ratio[0] = crop.ratio[1] = 5;
  EXPECT_EQ(draw_crop(crop, 1, 3, draws), (Box{0, 1, 1, 1}));
  crop.ratio[0] = crop.ratio[1] = 0.2;
  EXPECT_EQ(draw_crop(crop, 3, 1, draws), (Box{1, 0, 1, 1}));
}

TEST(Planes, AreColorsOrBrightness) {
  Image image;
  image.resize(2, 1);
  image.pixels = {10, 20, 30, 0, 40, 50, 60, 0};
  std::vector<uint8_t> planes(6);
  write_planes(image, 3, false, planes.data());
  EXPECT_EQ(planes, (std::vector<uint8_t>{10, 40, 20, 50, 30, 60}));
  write_planes(image, 3, true, planes.data());
  EXPECT_EQ(planes, (std::vector<uint8_t>{40, 10, 50, 20, 60, 30}));
  planes.resize(2);
  write_planes(image, 1, false, planes.data());
  EXPECT_EQ(planes, (std::vector<uint8_t>{18, 48}));
}

} // namespace
} // namespace gpuopt
