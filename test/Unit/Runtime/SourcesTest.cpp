// What the flags of data name: files that belong together, and those of formats
// that are none.

#include "Pictures.h"
#include "Samples.h"

#include "gpuopt/data/check_ahead.h"
#include "gpuopt/data/sources.h"

#include <gtest/gtest.h>

namespace gpuopt {
namespace {

TEST(Pictures, HaveLabelsOfTheSameNames) {
  TemporaryFolder folder;
  const std::string picture =
      png(kWidth, 4, PNG_COLOR_TYPE_RGB, smooth_pixels(kWidth, 4, 3));
  for (const char *name :
       {"one/a/0.png", "one/b/1.png", "same/a/0.jpg", "same/b/1.jpg",
        "flat/0.png", "flat/1.png", "other/a/0.png", "other/b/2.png",
        "swapped/b/0.png", "swapped/c/1.png"}) {
    const std::filesystem::path file = folder / name;
    std::filesystem::create_directories(file.parent_path());
    write_file(file, picture);
  }
  const InputInfo inputs[] = {
      {kPictures}, {{"labels", Type::I64, 1, {4}, 0, 0}, 2, true, -100}};
  auto problem = [&](const std::string &data, const std::string &labels) {
    DataFlags flags;
    flags.files["x"] = folder / data;
    flags.labels = folder / labels;
    return error_of(
        [&] { SourceOpener(inputs, flags, "uint16", "--eval-").open(); });
  };
  EXPECT_EQ(problem("one", "one"), "no error");
  EXPECT_EQ(problem("one", "same"), "no error");
  EXPECT_EQ(problem("flat", "one"), "no error");
  EXPECT_EQ(problem("one", "other"),
            "'" + folder / "other" + "' has labels of other files than '" +
                folder / "one" +
                "': sample 1 is 'b/2.png' there and 'b/1.png' here; give "
                "--eval-labels the folder of the data, or one whose files have "
                "the same names");
  EXPECT_NE(problem("one", "swapped"), "no error");
  EXPECT_NE(problem("flat", "other"), "no error");
}

// They would wrap as they are cast.
TEST(Integers, ThatDoNotFitAreRefused) {
  TemporaryFolder folder;
  const InputInfo inputs[] = {{{"x", Type::I32, 1, {2}, 0, 8}}};
  auto problem = [&](const char *type, const std::string &content) {
    write_file(folder / "x.npy", npy(type, "(2,)", content));
    DataFlags flags;
    flags.files["x"] = folder / "x.npy";
    const auto sources = SourceOpener(inputs, flags, "uint16", "--").open();
    return error_of([&] { check_indices(inputs[0], *sources[0]); });
  };
  constexpr int64_t kMost = 2147483647;
  EXPECT_EQ(problem("<i8", bytes_of<int64_t>({-kMost - 1, kMost})), "no error");
  const std::string range = "it must lie in [-2147483648, 2147483648)";
  EXPECT_EQ(problem("<i8", bytes_of<int64_t>({0, kMost + 1})),
            "'" + folder / "x.npy" +
                "': sample 1 holds 2147483648 for 'x', but " + range);
  EXPECT_EQ(problem("<u4", bytes_of<uint32_t>({4294967295u, 0})),
            "'" + folder / "x.npy" +
                "': sample 0 holds 4294967295 for 'x', but " + range);
}

TEST(Pictures, LieInFoldersWithoutLoops) {
  namespace fs = std::filesystem;
  TemporaryFolder folder;
  auto problem = [&] { return error_of([&] { ImageFolder(folder.path); }); };
  for (const char *name : {"a/b/0.png", "a/1.png"}) {
    fs::create_directories((folder.path / fs::path(name)).parent_path());
    write_file(folder / name, "not read");
  }
  fs::create_directory_symlink("b", folder / "a/other");
  EXPECT_EQ(problem(), "no error");
  for (const char *target : {"loop", "..", "../../a/."}) {
    fs::create_symlink(target, folder / "a/b/loop");
    EXPECT_EQ(problem(),
              "'" + folder / "a/b/loop" +
                  "' is a link to itself or back to a folder that it is in; "
                  "remove it")
        << target;
    fs::remove(folder / "a/b/loop");
  }
  // Each of two folders has a link to the other one.
  fs::create_directory(folder / "c");
  fs::create_directory_symlink("../c", folder / "a/there");
  fs::create_directory_symlink("../a", folder / "c/back");
  EXPECT_NE(problem().find("a/there/back' is a link"), std::string::npos)
      << problem();
}

// Nothing would come of a transform of an array.
TEST(Pictures, AloneAreTransformed) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "pictures");
  write_file(folder / "pictures/0.png",
             png(kWidth, 4, PNG_COLOR_TYPE_RGB, smooth_pixels(kWidth, 4, 3)));
  write_file(folder / "x.npy",
             npy("|u1", "(1, 3, 4, 6)", std::string(72, '\0')));
  const InputInfo inputs[] = {{kPictures}};
  auto problem = [&](const std::string &data, const DataFlags &transforms,
                     const std::string &prefix = "--") {
    DataFlags flags = transforms;
    flags.files["x"] = folder / data;
    return error_of(
        [&] { SourceOpener(inputs, flags, "uint16", prefix).open(); });
  };
  DataFlags flags;
  flags.transform = "resize";
  EXPECT_EQ(problem("pictures", flags), "no error");
  EXPECT_EQ(problem("x.npy", flags, "--eval-"),
            "'--eval-transform' is for pictures, but --eval-data names none: "
            "it names '" +
                folder / "x.npy" +
                "'; leave out --eval-transform, or give a folder of pictures, "
                "or members of tar files, as train.tar:jpg");
  flags = {};
  flags.training_transform = "random_resized_crop"; // of other data
  EXPECT_EQ(problem("x.npy", flags, "--eval-"), "no error");
  EXPECT_EQ(problem("pictures", flags, "--eval-")
                .rfind("--transform crops pictures at random", 0),
            0u);
  flags = {};
  flags.eval_transform = "resize";
  EXPECT_EQ(problem("pictures", flags), "no error");
  EXPECT_EQ(problem("x.npy", flags).rfind("'--eval-transform' is for", 0), 0u);
  flags.eval_transform = "bogus(3)";
  EXPECT_EQ(problem("pictures", flags)
                .rfind("'--eval-transform': there is no transform 'bogus'", 0),
            0u);
}

TEST(Pictures, HaveNoMoreClassesThanTheModel) {
  TemporaryFolder folder;
  for (const char *name : {"a/0.png", "b/1.png", "c/2.png"}) {
    const std::filesystem::path file = folder / name;
    std::filesystem::create_directories(file.parent_path());
    write_file(file, "not read for labels");
  }
  auto problem = [&](const TensorInfo &labels, int64_t limit, int64_t ignored) {
    const InputInfo inputs[] = {{labels, limit, true, ignored}};
    DataFlags flags;
    flags.labels = folder.path;
    return error_of(
        [&] { SourceOpener(inputs, flags, "uint16", "--").open(); });
  };
  const TensorInfo numbers{"labels", Type::I64, 1, {4}, 0, 0};
  EXPECT_EQ(problem(numbers, 3, -100), "no error");
  EXPECT_EQ(problem(numbers, 2, 2), "no error"); // the last one is ignored
  EXPECT_EQ(problem(numbers, -1, -100), "no error");
  const std::string too_many =
      "'" + folder.path +
      "' has 3 classes, which are its sub-folders, but the model's output has "
      "2: 'c' would be 2 for 'labels'; remove sub-folders, or take a model "
      "with 3 outputs";
  EXPECT_EQ(problem(numbers, 2, -100), too_many);
  // Those that are given as a probability for each class.
  EXPECT_EQ(problem({"labels", Type::F32, 2, {4, 2}, 0, 0}, 1, -100), too_many);
}

TEST(Pictures, OfTwoInputsArePairedByTheirOrder) {
  TemporaryFolder folder;
  const std::string picture =
      png(kWidth, 4, PNG_COLOR_TYPE_RGB, smooth_pixels(kWidth, 4, 3));
  for (const char *name : {"left/a/0_left.png", "left/b/1_left.png",
                           "right/a/0_right.png", "right/b/1_right.png"}) {
    const std::filesystem::path file = folder / name;
    std::filesystem::create_directories(file.parent_path());
    write_file(file, picture);
  }
  TensorInfo right = kPictures;
  right.name = "y";
  const InputInfo inputs[] = {
      {kPictures},
      {right},
      {{"labels", Type::I64, 1, {4}, 0, 0}, 2, true, -100}};
  DataFlags flags;
  flags.files = {{"x", folder / "left"}, {"y", folder / "right"}};
  flags.labels = folder / "left";
  EXPECT_EQ(
      error_of([&] { SourceOpener(inputs, flags, "uint16", "--").open(); }),
      "no error");
}

TEST(Pictures, OfValidationsHaveAFlagOfTheirOwn) {
  TemporaryFolder folder;
  write_file(folder / "0.png",
             png(kWidth, 9, PNG_COLOR_TYPE_RGB, smooth_pixels(kWidth, 9, 3)));
  // A validation has a flag of its own. The size is known ahead of decoding.
  const TensorInfo square{"x", Type::F32, 4, {4, 3, 16, 16}, 0, 0};
  for (bool decodes : {false, true})
    EXPECT_NE(
        error_of([&] {
          const ImageSource source(std::make_shared<ImageFolder>(folder.path),
                                   square, "resize(16)", "--eval-transform");
          std::vector<uint8_t> content(source.sample_bytes());
          decodes ? source.read({0}, content.data()) : source.check(0);
        })
            .find("is 6 x 9, and 16 x 24 after --eval-transform, but the input "
                  "is 16 x 16; --eval-transform 'resize((16, 16))' or "
                  "'resize(16),center_crop(16)' makes it so"),
        std::string::npos);
}

TEST(Pictures, AreLookedAtAheadForALimitedTime) {
  TemporaryFolder folder;
  for (int i = 0; i < 3; i++) // the last one has another size
    write_file(folder / std::to_string(i) + ".png",
               png(kWidth, 4 + i / 2, PNG_COLOR_TYPE_RGB,
                   smooth_pixels(kWidth, 4 + i / 2, 3)));
  const InputInfo inputs[] = {{kPictures}};
  DataFlags flags;
  flags.files["x"] = folder.path;
  const DataSources sources =
      SourceOpener(inputs, flags, "uint16", "--").open();
  auto problem = [&](int64_t batch_size, int seconds) {
    return error_of([&] {
      check_ahead(inputs, sources, batch_size, /*skips_bad_records=*/false,
                  std::chrono::seconds(seconds));
    });
  };
  EXPECT_NE(problem(2, 1000).find("2.png' is 6 x 5"), std::string::npos)
      << problem(2, 1000);
  EXPECT_EQ(problem(2, 0), "no error");
  EXPECT_NE(problem(3, 0), "no error"); // the first batch is read at any rate
}

TEST(OtherFormats, AreNamedWithWhatToDo) {
  TemporaryFolder folder;
  const std::string accepted =
      ". What is read: .npy and IDX files, FILE.npz:NAME, "
      "FILE.safetensors:NAME, FILE.parquet:COLUMN, folders of JPEG and PNG "
      "pictures, and members of tar files as FILE.tar:jpg";
  const InputInfo inputs[] = {{kPictures}};
  auto problem = [&](const std::string &name, const std::string &content) {
    DataFlags flags;
    write_file(folder / name, content);
    return error_of([&] {
      flags.files["x"] = folder / name;
      SourceOpener(inputs, flags, "uint16", "--").open();
    });
  };
  EXPECT_EQ(problem("x.data", png(kWidth, 4, PNG_COLOR_TYPE_RGB,
                                  smooth_pixels(kWidth, 4, 3))),
            "'" + folder / "x.data" +
                "' is a single picture; give the folder of all pictures, which "
                "has a sub-folder for each class where it gives the labels, "
                "too" +
                accepted);
  EXPECT_NE(problem("x.jpg", jpeg(6, 4)).find("is a single picture"),
            std::string::npos);
  EXPECT_EQ(problem("x-idx3-ubyte.gz", "\x1f\x8b\b"), // as MNIST comes
            "'" + folder / "x-idx3-ubyte.gz" +
                "' is compressed by gzip; unpack it: gunzip 'x-idx3-ubyte.gz'" +
                accepted);
  EXPECT_EQ(problem("x.pt", "PK"),
            "'" + folder / "x.pt" +
                "' is a file of torch.save or pickle; save the tensor as an "
                "array: numpy.save('x.npy', x.numpy())" +
                accepted);
  EXPECT_NE(problem("x.CKPT", "PK").find("is a file of torch.save or pickle"),
            std::string::npos);
  EXPECT_EQ(problem("x.CSV", "1,2"),
            "'" + folder / "x.CSV" +
                "' is a file of text; save its numbers as an array: "
                "numpy.save('x.npy', numpy.loadtxt('x.CSV', delimiter=',', "
                "dtype='float32'))" +
                accepted);
  // What it is counts, not what it is called.
  EXPECT_NE(problem("y.csv", npy("<f4", "(1, 72)", std::string(288, 0)))
                .find("has shape [1, 72]"),
            std::string::npos)
      << problem("y.csv", npy("<f4", "(1, 72)", std::string(288, 0)));
  EXPECT_NE(problem("z.bin", "abc").find("is not a .npy file"),
            std::string::npos);
}

} // namespace
} // namespace gpuopt
