// Folders of pictures and tar files as sources of samples, and what becomes of
// records that are bad.

#include "Pictures.h"
#include "Samples.h"

#include "gpuopt/data/loader.h"
#include "gpuopt/data/sources.h"

#include <gtest/gtest.h>
#include <set>

namespace gpuopt {
namespace {

const TensorInfo kLabels{"labels", Type::I64, 1, {4}, 1152, 32};

using Strings = std::vector<std::string>;

TEST(Braces, StandForNames) {
  EXPECT_EQ(expand_braces("a-{008..010}.tar"),
            (Strings{"a-008.tar", "a-009.tar", "a-010.tar"}));
  EXPECT_EQ(expand_braces("{2..0}"), (Strings{"2", "1", "0"}));
  EXPECT_EQ(expand_braces("{0..10..5}x"), (Strings{"0x", "5x", "10x"}));
  EXPECT_EQ(expand_braces("{-1..1}"), (Strings{"-1", "0", "1"}));
  EXPECT_EQ(expand_braces("{a..c}"), (Strings{"a", "b", "c"}));
  EXPECT_EQ(expand_braces("{x,y}{1..2}"), (Strings{"x1", "x2", "y1", "y2"}));
  EXPECT_EQ(expand_braces("{a-{0..1},b}"), (Strings{"a-0", "a-1", "b"}));
  for (const char *plain : {"plain", "{one}", "{", "a{1..b}", "}{"})
    EXPECT_EQ(expand_braces(plain), Strings{plain});
  EXPECT_NE(error_of([] {
              expand_braces("{0..99999999}");
            }).find("stands for more than a million files"),
            std::string::npos);
}

std::string octal(size_t value, int digits) {
  char text[20];
  snprintf(text, sizeof text, "%0*zo", digits, value);
  return text;
}

std::string padded(const std::string &content) {
  return content + std::string((512 - content.size() % 512) % 512, 0);
}

// A member of a tar file.
std::string member(const std::string &name, const std::string &content,
                   char kind = '0', const std::string &prefix = "") {
  std::string header(512, 0);
  auto put = [&](size_t at, const std::string &text) {
    header.replace(at, text.size(), text);
  };
  put(0, name.substr(0, 100));
  put(124, octal(content.size(), 11));
  put(148, "        ");
  header[156] = kind;
  put(257, std::string("ustar\0", 6) + "00");
  put(345, prefix);
  size_t sum = 0;
  for (const char c : header)
    sum += uint8_t(c);
  put(148, octal(sum, 6) + std::string("\0 ", 2));
  return header + padded(content);
}
const std::string kEnd(1024, 0);

std::unique_ptr<DataSource> open_source(const std::string &text,
                                        const TensorInfo &tensor, bool is_label,
                                        const std::string &transform = "") {
  InputInfo input{tensor};
  input.is_label = is_label;
  const InputInfo inputs[] = {input};
  DataFlags flags;
  flags.add("data", std::string(is_label ? "labels" : "x") + "=" + text);
  flags.transform = transform;
  return std::move(SourceOpener(inputs, flags, "uint16", "--").open()[0]);
}

template <class T>
std::vector<T> sample_of(const DataSource &source, int64_t sample) {
  std::vector<T> values(size_t(source.elements));
  source.read({sample}, reinterpret_cast<uint8_t *>(values.data()));
  return values;
}

std::string small_picture() {
  return png(kWidth, kHeight, PNG_COLOR_TYPE_RGB,
             smooth_pixels(kWidth, kHeight, 3, 0));
}

TEST(ImageFolder, LeavesOutFoldersWhoseNamesBeginWithADot) {
  TemporaryFolder folder;
  for (const char *below : {"flat/.thumbnails", "classes/.ipynb_checkpoints",
                            "classes/a/.thumbnails"})
    std::filesystem::create_directories(folder / below);
  for (const char *file : {"flat/1.png", "flat/.thumbnails/1.png",
                           "classes/a/2.png", "classes/a/.thumbnails/2.png"})
    write_file(folder / file, small_picture());
  EXPECT_EQ(open_source(folder / "flat", kPictures, false)->names(),
            Strings{"1.png"});
  EXPECT_EQ(open_source(folder / "classes", kPictures, false)->names(),
            Strings{"a/2.png"});
  EXPECT_EQ(*open_source(folder / "classes", kLabels, true)->class_names(),
            Strings{"a"});
}

TEST(ImageFolder, HasPicturesOrSubFolders) {
  TemporaryFolder folder;
  for (const char *name : {"b", "a"})
    std::filesystem::create_directories(folder / name);
  for (const char *file : {"a/1.png", "b/2.png", "4.JPG", "3.png"})
    write_file(folder / file, small_picture());
  for (const bool is_label : {false, true})
    EXPECT_NE(
        error_of([&] {
          open_source(folder.path, is_label ? kLabels : kPictures, is_label);
        })
            .find("' needs either pictures or a sub-folder of them for "
                  "each class, but has both: '3.png' beside the sub-folder "
                  "'a'; move either to another folder"),
        std::string::npos);
}

TEST(ImageFolder, HasClassesAndFilesInTheOrderOfNames) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "b/below");
  std::filesystem::create_directories(folder / "a");
  auto picture = [](int seed) {
    return png(kWidth, kHeight, PNG_COLOR_TYPE_RGB,
               smooth_pixels(kWidth, kHeight, 3, seed));
  };
  write_file(folder / "b/2.png", picture(2));
  write_file(folder / "b/1.PNG", picture(1));
  write_file(folder / "b/below/0.png", picture(3));
  write_file(folder / "b/notes.txt", "no picture");
  write_file(folder / "a/9.png", picture(0));
  const auto x = open_source(folder.path, kPictures, false);
  const auto labels = open_source(folder.path, kLabels, true);
  ASSERT_EQ(x->samples(), 4);
  ASSERT_EQ(labels->samples(), 4);
  EXPECT_EQ(x->type, Type::U8);
  for (int sample = 0; sample < 4; sample++) {
    EXPECT_EQ(sample_of<int64_t>(*labels, sample)[0], sample > 0);
    EXPECT_EQ(sample_of<uint8_t>(*x, sample)[0],
              smooth_pixels(kWidth, kHeight, 3, sample)[0]);
  }
  EXPECT_EQ(x->place(1), "'" + folder / "b/1.PNG" + "'");
  EXPECT_EQ(x->names(), (std::vector<std::string>{"a/9.png", "b/1.PNG",
                                                  "b/2.png", "b/below/0.png"}));
  EXPECT_EQ(x->class_names(), nullptr);
  EXPECT_EQ(*labels->class_names(), (std::vector<std::string>{"a", "b"}));
  write_file(folder / "a/8.bmp", "");
  EXPECT_NE(
      error_of([&] { open_source(folder.path, kPictures, false); })
          .find("a/8.bmp' is a picture, but of those only JPEG and PNG are "
                "read; convert or remove it"),
      std::string::npos);
  std::filesystem::remove(folder / "a/8.bmp");
  // A folder without sub-folders has pictures, but no classes.
  const auto flat = open_source(folder / "a", kPictures, false);
  EXPECT_EQ(flat->names(), std::vector<std::string>{"9.png"});
  EXPECT_EQ(sample_of<uint8_t>(*flat, 0), sample_of<uint8_t>(*x, 0));
  EXPECT_NE(
      error_of([&] { open_source(folder / "a", kLabels, true); })
          .find("a' has no sub-folders, but the sub-folders of a folder of "
                "pictures are its classes"),
      std::string::npos);
  std::filesystem::remove(folder / "a/9.png");
  EXPECT_NE(error_of([&] { open_source(folder / "a", kPictures, false); })
                .find("a' has neither pictures, which are files that end in "
                      ".jpg, .jpeg or .png, nor a sub-folder of them for each "
                      "class"),
            std::string::npos);
  EXPECT_NE(
      error_of([&] {
        open_source(folder.path, kPictures, false);
      }).find("a' has no pictures: files that end in .jpg, .jpeg or .png"),
      std::string::npos);
}

TEST(Shards, ReadMembersOfEachKind) {
  TemporaryFolder folder;
  const std::string long_name = std::string(120, 'n') + "/7";
  const auto pixels = smooth_pixels(kWidth, kHeight, 3);
  const std::string picture = png(kWidth, kHeight, PNG_COLOR_TYPE_RGB, pixels);
  const std::string pax_path = "path=" + long_name + ".png\n";
  const std::string pax = std::to_string(pax_path.size() + 4) + " " + pax_path;
  write_file(folder / "0.tar",
             member("dir/", "", '5') + member("dir/5.png", picture) +
                 member("dir/5.cls", "2\n") +
                 member("dir/5.json", "{\"a\": [1, {}], \"b\": {\"c\": -7}}") +
                 member("5.v.npy", npy("<i2", "()", "xy"), '0', "dir") + kEnd);
  write_file(folder / "1.tar",
             member("././@LongLink", long_name + ".cls" + '\0', 'L') +
                 member(long_name, "11") + member("pax", pax, 'x') +
                 member("short", picture) +
                 member("././@LongLink", long_name + ".json" + '\0', 'L') +
                 member(long_name, "{\"b\": {\"d\": 1, \"c\": 8.0}}") +
                 member("././@LongLink", long_name + ".v.npy" + '\0', 'L') +
                 member(long_name, npy("<i2", "()", "zw")) + kEnd);
  const std::string shards = folder / "{0..1}.tar:";
  const auto x = open_source(shards + "jpg;png", kPictures, false);
  ASSERT_EQ(x->samples(), 2);
  EXPECT_EQ(sample_of<uint8_t>(*x, 1)[0], pixels[0]);
  const auto classes = open_source(shards + "cls", kLabels, true);
  EXPECT_EQ(sample_of<int64_t>(*classes, 0)[0], 2);
  EXPECT_EQ(sample_of<int64_t>(*classes, 1)[0], 11);
  const auto field = open_source(shards + "json:b.c", kLabels, true);
  EXPECT_EQ(sample_of<int64_t>(*field, 0)[0], -7);
  EXPECT_EQ(sample_of<int64_t>(*field, 1)[0], 8);
  const auto array = open_source(shards + "v.npy", kLabels, true);
  EXPECT_EQ(array->type, Type::I16);
  EXPECT_EQ(sample_of<int16_t>(*array, 1)[0], 'z' + 256 * 'w');
  EXPECT_EQ(classes->place(0),
            "'" + folder / "0.tar" + "', member 'dir/5.cls' at byte " +
                std::to_string(1024 + padded(picture).size() + 512));
}

TEST(Shards, SayWhatIsWrong) {
  TemporaryFolder folder;
  const std::string one = member("1.cls", "5");
  auto changed = [](std::string file, size_t at) {
    file[at] ^= 1;
    return file;
  };
  const std::tuple<std::string, std::string, const char *> cases[] = {
      {one + kEnd, "txt", "names no members that can be read; name some as "},
      {one + kEnd, "json", ".tar:jpg, or png, cls, npy or json:FIELD"},
      {one + kEnd, "png", "the sample of '"},
      {one + kEnd, "png", "has no member 'png'"},
      // Cut off behind a member, in its padding, and in a later header.
      {one, "cls", "it is cut off, since no block of zeros ends it, at byte "},
      {one.substr(0, 600), "cls",
       "since no block of zeros ends it, at byte 600"},
      {one + one.substr(0, 100), "cls",
       "since no block of zeros ends it, at byte 1024"},
      {member("pax", "99 path=x\n", 'x') + one, "cls",
       "a pax header is damaged, at byte 0"},
      {kEnd, "cls",
       "holds no samples: members of a sample are named alike up to the first "
       "dot, as 0001.jpg and 0001.cls"},
      {changed(one, 5) + kEnd, "cls",
       "is not a tar file that can be read: the header of a member is damaged, "
       "at byte 0"},
      {one + one.substr(0, 512), "cls", "a member is cut off, at byte 1024"},
      {member("1.cls", "five") + kEnd, "cls",
       "0.tar', member '1.cls' at byte 512 is not an integer"},
      {member("1.cls", "9223372036854775808") + kEnd, "cls",
       "is an integer of more than 64 bits"},
      {member("1.json", "{\"a\": 1}") + kEnd, "json:b",
       "is not JSON with numbers under 'b'"},
      {member("1.json", "{\"b\": 1.5}") + kEnd, "json:b",
       "has a fraction, but the input needs integers"},
      {member("1.json", "{\"b\": 1e30}") + kEnd, "json:b",
       "has an integer beyond 2^53, where numbers of JSON are not exact"},
      {member("1.json", "{\"b\": -1e999}") + kEnd, "json:b",
       "is not JSON with numbers under 'b': the number -1e999 is too large"},
      {member("1.json", "{\"a\": " + std::string(200000, '[')) + kEnd, "json:b",
       "objects and arrays lie more than 100 levels deep in each other"},
      {member("1.json", "{\"b\": " + std::string(200000, '[')) + kEnd, "json:b",
       "objects and arrays lie more than 100 levels deep in each other"},
      {member("1.json", "{\"b\": [1, 2]}") + kEnd, "json:b",
       "has 2 numbers, but a sample needs 1"},
      {member("1.npy", npy("<i2", "(2,)", "abcd")) + kEnd, "npy",
       "at byte 512: it holds i16 [2], but a sample needs i16 []"},
      {member("1.npy", npy("<i2", "()", "a")) + kEnd, "npy",
       "it is shorter than its header says"},
  };
  for (const auto &[content, kind, message] : cases) {
    write_file(folder / "0.tar", content);
    const std::string error = error_of([&, kind = kind] {
      sample_of<int64_t>(*open_source(folder / "0.tar:" + kind, kLabels, true),
                         0);
    });
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_NE(error.find("0.tar"), std::string::npos) << error;
  }
}

TEST(Numbers, AreExact) {
  TemporaryFolder folder;
  const std::string digits = "1.5" + std::string(60, '0');
  write_file(folder / "0.tar", member("1.cls", "9223372036854775807") +
                                   member("1.json", "{\"b\": " + digits + "}") +
                                   kEnd);
  EXPECT_EQ(sample_of<int64_t>(
                *open_source(folder / "0.tar:cls", kLabels, true), 0)[0],
            INT64_MAX);
  const TensorInfo fractions{"labels", Type::F64, 1, {4}, 0, 32};
  EXPECT_EQ(sample_of<double>(
                *open_source(folder / "0.tar:json:b", fractions, true), 0)[0],
            1.5);
}

// What is bad is the array that says which type they have, or a file that was
// there when the folder was read.
TEST(BadRecords, CanBeTheFirstOrGone) {
  TemporaryFolder folder;
  write_file(folder / "0.tar", member("1.npy", "text") +
                                   member("2.npy", npy("<i2", "()", "xy")) +
                                   kEnd);
  const auto arrays = open_source(folder / "0.tar:npy", kLabels, true);
  EXPECT_EQ(arrays->type, Type::I16);
  EXPECT_THROW(sample_of<int16_t>(*arrays, 0), BadRecord);
  EXPECT_EQ(sample_of<int16_t>(*arrays, 1)[0], 'x' + 256 * 'y');
  write_file(folder / "0.tar", member("1.npy", "text") + kEnd);
  EXPECT_NE(error_of([&] {
              open_source(folder / "0.tar:npy", kLabels, true);
            }).find("is not a .npy file that can be read"),
            std::string::npos);
  std::filesystem::create_directories(folder / "a");
  write_file(folder / "a/0.png", png(kWidth, kHeight, PNG_COLOR_TYPE_RGB,
                                     smooth_pixels(kWidth, kHeight, 3)));
  const auto pictures = open_source(folder.path, kPictures, false);
  std::filesystem::remove(folder / "a/0.png");
  EXPECT_THROW(sample_of<uint8_t>(*pictures, 0), BadRecord);
}

struct PictureLoaderTest : testing::Test {
  static constexpr int kSamples = 24, kBatch = 4;
  static constexpr size_t kElements = kBatch * 3 * kHeight * kWidth;

  PictureLoaderTest() {
    program.inputs = inputs;
    program.name = "tiny";
    inputs[1].is_label = true;
    inputs[1].index_limit = kSamples;
    write_shard({});
  }
  // Pictures of sizes of their own; those of `bad` end too early.
  void write_shard(const std::set<int> &bad, int samples = kSamples) {
    std::string shard;
    for (int i = 0; i < samples; i++) {
      const std::string picture = jpeg(20 + i, 30 - i / 2, {}, i);
      const size_t bytes = bad.count(i) ? picture.size() / 2 : picture.size();
      shard += member(std::to_string(i) + ".jpg", picture.substr(0, bytes)) +
               member(std::to_string(i) + ".cls", std::to_string(i));
    }
    write_file(folder / "x.tar", shard + kEnd);
  }
  std::unique_ptr<Loader> loader(Context &ctx, LoaderOptions options) {
    DataFlags flags;
    flags.add("data", "x=" + folder / "x.tar:jpg");
    flags.labels = folder / "x.tar:cls";
    flags.transform = "random_resized_crop random_horizontal_flip "
                      "normalize(mean=[0.5, 0.4, 0.3], std=[0.1, 0.2, 0.3])";
    return std::make_unique<Loader>(
        ctx, program, SourceOpener(inputs, flags, "uint16", "--").open(),
        options);
  }
  static LoaderOptions options(int workers) {
    LoaderOptions options;
    options.batch_size = kBatch;
    options.num_workers = workers;
    options.skips_bad_records = true;
    options.max_bad_records = 1000;
    return options;
  }
  // The labels and the numbers of all pixels of some batches.
  std::pair<std::vector<int64_t>, std::vector<float>>
  batches(LoaderOptions options, int count) {
    Context ctx(1);
    const auto batches = loader(ctx, options);
    std::vector<char> memory(kElements * 4 + kBatch * 8);
    std::vector<int64_t> labels(kBatch), all_labels;
    std::vector<float> pixels(kElements), all_pixels;
    for (int i = 0; i < count; i++) {
      batches->deliver(memory.data());
      memcpy(pixels.data(), memory.data(), kElements * 4);
      memcpy(labels.data(), memory.data() + kElements * 4, kBatch * 8);
      all_labels.insert(all_labels.end(), labels.begin(), labels.end());
      all_pixels.insert(all_pixels.end(), pixels.begin(), pixels.end());
    }
    return {all_labels, all_pixels};
  }
  TemporaryFolder folder;
  InputInfo inputs[2] = {{kPictures}, {kLabels}};
  Program program{};
};

TEST_F(PictureLoaderTest, AnyNumberOfWorkersGivesTheSamePixels) {
  write_shard({3, 4, 17});
  testing::internal::CaptureStderr();
  const auto expected = batches(options(0), 20);
  const std::string warnings = testing::internal::GetCapturedStderr();
  EXPECT_NE(warnings.find("tiny: warning: skipped bad record 1 of at most "
                          "1000: '" +
                          folder / "x.tar" + "', member '"),
            std::string::npos)
      << warnings;
  EXPECT_NE(warnings.find("is a damaged JPEG: "), std::string::npos);
  for (const int workers : {1, 2, 7}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(batches(options(workers), 20), expected);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), warnings);
  }
  testing::internal::CaptureStderr();
  for (const int first : {1, 6, 13}) {
    LoaderOptions resumed = options(2);
    resumed.first_batch = first;
    const auto rest = batches(resumed, 20 - first);
    EXPECT_TRUE(std::equal(rest.first.begin(), rest.first.end(),
                           expected.first.begin() + first * kBatch));
    EXPECT_TRUE(std::equal(rest.second.begin(), rest.second.end(),
                           expected.second.begin() + first * int(kElements)));
  }
  testing::internal::GetCapturedStderr();
  for (const int64_t label : expected.first)
    EXPECT_TRUE(label != 3 && label != 4 && label != 17);
}

TEST_F(PictureLoaderTest, EpochsCropAPictureOtherwise) {
  const auto [labels, pixels] = batches(options(1), 12);
  std::map<int64_t, std::set<float>> first_pixels;
  for (size_t i = 0; i < labels.size(); i++)
    first_pixels[labels[i]].insert(pixels[i * 3 * kHeight * kWidth]);
  EXPECT_EQ(first_pixels.size(), size_t(kSamples));
  int differing = 0;
  for (const auto &[label, values] : first_pixels)
    differing += values.size() == 2;
  EXPECT_GT(differing, kSamples / 2);
}

TEST_F(PictureLoaderTest, ScalesPixelsByChannel) {
  std::string shard;
  for (int i = 0; i < kBatch; i++)
    shard += member(std::to_string(i) + ".jpg",
                    png(kWidth, kHeight, PNG_COLOR_TYPE_RGB,
                        std::vector<uint8_t>(kWidth * kHeight * 3, 51))) +
             member(std::to_string(i) + ".cls", "1");
  write_file(folder / "x.tar", shard + kEnd);
  const std::vector<float> pixels = batches(options(1), 1).second;
  for (size_t i = 0; i < kElements; i++) {
    const size_t c = i / (kWidth * kHeight) % 3;
    const float mean[] = {0.5f, 0.4f, 0.3f}, std[] = {0.1f, 0.2f, 0.3f};
    ASSERT_EQ(pixels[i], (51 / 255.0f - mean[c]) / std[c]) << i;
  }
}

TEST_F(PictureLoaderTest, ABadRecordIsAnErrorUnlessItIsSkipped) {
  write_shard({5, 9});
  for (const int workers : {0, 2}) {
    LoaderOptions refusing = options(workers);
    refusing.skips_bad_records = false;
    const std::string error = error_of([&] { batches(refusing, 6); });
    EXPECT_TRUE(error.find("x.tar', member '5.jpg' at byte ") < error.size() ||
                error.find("x.tar', member '9.jpg' at byte ") < error.size())
        << error;
    LoaderOptions limited = options(workers);
    limited.max_bad_records = 1;
    testing::internal::CaptureStderr();
    const std::string many = error_of([&] { batches(limited, 24); });
    testing::internal::GetCapturedStderr();
    EXPECT_EQ(many.find("more records are bad than --max-bad-records allows, "
                        "1: '"),
              0u)
        << many;
  }
}

// The place of a sample in a batch is that of the record that was read.
TEST_F(PictureLoaderTest, PlacesAreThoseOfWhatReplacesBadRecords) {
  write_shard({5, 9});
  for (const bool shuffles : {false, true}) {
    LoaderOptions skipping = options(2);
    skipping.shuffle = shuffles;
    Context ctx(1);
    const auto batches = loader(ctx, skipping);
    std::vector<char> memory(kElements * 4 + kBatch * 8);
    testing::internal::CaptureStderr();
    for (int i = 0; i < 2 * kSamples / kBatch; i++) {
      batches->deliver(memory.data());
      for (int64_t k = 0; k < kBatch; k++) {
        int64_t label;
        memcpy(&label, memory.data() + kElements * 4 + k * 8, 8);
        const std::string place = batches->place_of(0, k);
        EXPECT_NE(place.find("member '" + std::to_string(label) + ".jpg'"),
                  std::string::npos)
            << place << " is of sample " << label;
      }
    }
    testing::internal::GetCapturedStderr();
  }
}

// The only bad sample comes in every epoch. In a validation it is the last one,
// with which the last batch is filled up.
TEST_F(PictureLoaderTest, ABadRecordCountsOnce) {
  for (const bool validates : {false, true}) {
    const int samples = kSamples - 2, last = samples - 1;
    write_shard({last}, samples);
    LoaderOptions limited = options(2);
    limited.max_bad_records = 1;
    limited.pads_last = validates;
    limited.shuffle = !validates;
    testing::internal::CaptureStderr();
    EXPECT_EQ(error_of([&] { batches(limited, 28); }), "no error");
    const std::string warnings = testing::internal::GetCapturedStderr();
    EXPECT_EQ(warnings.find("tiny: warning: skipped bad record 1 of at most 1: "
                            "'"),
              0u)
        << warnings;
    EXPECT_EQ(warnings.find("warning", 20), std::string::npos) << warnings;
  }
}

TEST_F(PictureLoaderTest, LabelsOutOfRangeAreBadRecords) {
  inputs[1].index_limit = 20;
  testing::internal::CaptureStderr();
  for (const int64_t label : batches(options(2), 6).first)
    EXPECT_LT(label, 20);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "holds 22 for 'labels', but it must lie in [0, 20)"),
            std::string::npos);
}

// A source that fails otherwise than by a bad record.
struct FailingSource : DataSource {
  FailingSource() { elements = 1; }
  int64_t samples() const override { return 8; }
  void read(const SampleDraw &draw, uint8_t *) const override {
    if (draw.sample == 6)
      throw std::runtime_error("the network is gone");
  }
};

TEST(FailingWorker, EndsTheRunWithItsMessage) {
  const InputInfo inputs[] = {{{"x", Type::F32, 1, {2}, 0, 8}}};
  Program program{};
  program.inputs = inputs;
  for (const int workers : {0, 1, 3}) {
    DataSources sources;
    sources.push_back(std::make_unique<FailingSource>());
    LoaderOptions options;
    options.batch_size = 2;
    options.shuffle = false;
    options.num_workers = workers;
    options.skips_bad_records = true;
    Context ctx(1);
    Loader loader(ctx, program, std::move(sources), options);
    float batch[2];
    for (int i = 0; i < 3; i++)
      loader.deliver(reinterpret_cast<char *>(batch));
    EXPECT_EQ(
        error_of([&] { loader.deliver(reinterpret_cast<char *>(batch)); }),
        "the network is gone");
  }
}

TEST(Pictures, NeedAnInputOfPictures) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "a");
  write_file(folder / "a/0.png",
             png(kWidth, 9, PNG_COLOR_TYPE_RGB, smooth_pixels(kWidth, 9, 3)));
  const TensorInfo flat{"x", Type::F32, 2, {4, 72}, 0, 0};
  EXPECT_NE(error_of([&] { open_source(folder.path, flat, false); })
                .find("holds pictures, but 'x' has samples of shape [72]; "
                      "pictures have [3, height, width] or [1, height, width]"),
            std::string::npos);
  auto problem = [&](const char *transform) {
    return error_of([&] {
      sample_of<uint8_t>(*open_source(folder.path, kPictures, false, transform),
                         0);
    });
  };
  EXPECT_NE(problem("").find("0.png' is 6 x 9, but the input is 6 x 4; "
                             "--transform 'resize((4, 6))' or "
                             "'resize(6),center_crop((4, 6))' makes it so"),
            std::string::npos)
      << problem("");
  EXPECT_NE(problem("resize(8)")
                .find("is 6 x 9, and 8 x 12 after --transform, "
                      "but the input is 6 x 4"),
            std::string::npos);
  EXPECT_EQ(problem("resize"), "no error");
  EXPECT_EQ(problem("resize((4, 6))"), "no error");
  EXPECT_EQ(problem("resize(6),center_crop((4, 6))"), "no error");
  const TensorInfo pairs{"labels", Type::I64, 2, {4, 2}, 0, 0};
  EXPECT_EQ(error_of([&] { open_source(folder.path, pairs, true); }),
            "the classes of '" + folder.path +
                "' are one number for each sample, but 'labels' needs 2");
  DataFlags flags;
  flags.transform = "resize";
  const InputInfo inputs[] = {{kPictures}};
  EXPECT_EQ(
      error_of([&] { SourceOpener(inputs, flags, "uint16", "--").open(); }),
      "'--transform' is for pictures, which --data names, but it is not "
      "given");
}

} // namespace
} // namespace gpuopt
