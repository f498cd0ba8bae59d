// --mixup and --cutmix: what is drawn, what becomes of a batch, and labels that
// are given as classes.

#include "Files.h"

#include "gpuopt/data/loader.h"
#include "gpuopt/data/sources.h"

#include <gtest/gtest.h>

namespace gpuopt {
namespace {

constexpr int64_t kBatch = 5, kClasses = 3, kSide = 4;

// Pictures of two channels whose pixels are 100 * sample + their place, and
// their classes.
struct MixTest : testing::Test {
  MixTest() {
    std::vector<float> pixels;
    for (int sample = 0; sample < 10; sample++)
      for (int i = 0; i < 32; i++)
        pixels.push_back(float(100 * sample + i));
    write_file(folder / "x.npy", npy("<f4", "(10, 2, 4, 4)", bytes_of(pixels)));
    write_file(
        folder / "y.npy",
        npy("|u1", "(10,)",
            bytes_of(std::vector<uint8_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0})));
    program.inputs = inputs;
    program.batch_size = kBatch;
  }
  DataSources sources() {
    DataFlags data;
    data.files["x"] = folder / "x.npy";
    data.labels = folder / "y.npy";
    return SourceOpener(program.inputs, data, "uint16", "--").open();
  }
  // One batch after the other, as the program's memory has it.
  struct Batch {
    float x[kBatch][2][kSide][kSide];
    float labels[kBatch][kClasses];
  };
  std::vector<Batch> batches(MixOptions mix, int workers, int count,
                             int64_t first = 0) {
    Context ctx(1);
    LoaderOptions options{kBatch, /*shuffle=*/false, 7, workers, 2};
    options.mix = mix;
    options.first_batch = first;
    Loader loader(ctx, program, sources(), options);
    std::vector<Batch> all(static_cast<size_t>(count));
    for (Batch &batch : all)
      loader.deliver(reinterpret_cast<char *>(&batch));
    return all;
  }
  std::string refusal(MixOptions mix) {
    try {
      batches(mix, 0, 1);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder;
  InputInfo inputs[2] = {
      {{"x", Type::F32, 4, {kBatch, 2, kSide, kSide}, 0, sizeof(Batch::x)}},
      {{"labels",
        Type::F32,
        2,
        {kBatch, kClasses},
        sizeof(Batch::x),
        sizeof(Batch::labels)},
       1,
       true}};
  Program program{};
};

TEST_F(MixTest, ClassesBecomeProbabilities) {
  const Batch batch = batches({}, 0, 1)[0];
  for (int i = 0; i < kBatch; i++)
    for (int c = 0; c < kClasses; c++)
      EXPECT_EQ(batch.labels[i][c], i % 3 == c ? 1 : 0) << i << " " << c;
  EXPECT_EQ(batch.x[4][1][3][3], 431);
}

TEST_F(MixTest, AClassOutOfRangeIsNamed) {
  write_file(folder / "y.npy",
             npy("|u1", "(10,)",
                 bytes_of(std::vector<uint8_t>{0, 1, 3, 0, 1, 2, 0, 1, 2, 0})));
  EXPECT_NE(refusal({}).find("sample 2 holds 3 for 'labels', but it must lie "
                             "in [0, 3)"),
            std::string::npos)
      << refusal({});
}

TEST_F(MixTest, MixupMixesSamplesAndLabelsByOneShare) {
  for (const Batch &batch : batches({0.8, 0}, 0, 20)) {
    // Sample 0 has 0 in its first place, and its partner, 4, has 400.
    const float rest = batch.x[0][0][0][0] / 400, share = 1 - rest;
    const bool is_second = batch.x[4][0][0][0] > 500; // of an epoch's batches
    if (is_second)
      continue;
    for (int i = 0; i < kBatch; i++) {
      const int partner = 4 - i;
      for (int c = 0; c < 2; c++)
        for (int k = 0; k < 16; k++)
          EXPECT_NEAR(batch.x[i][c][k / 4][k % 4],
                      share * float(100 * i + 16 * c + k) +
                          rest * float(100 * partner + 16 * c + k),
                      1e-3);
      for (int c = 0; c < kClasses; c++)
        EXPECT_NEAR(batch.labels[i][c],
                    share * float(i % 3 == c) + rest * float(partner % 3 == c),
                    1e-5);
    }
  }
}

TEST_F(MixTest, CutmixExchangesABoxAndMixesLabelsByItsArea) {
  int exchanged = 0;
  const auto all = batches({0, 1}, 0, 40);
  for (size_t n = 0; n < all.size(); n += 2) { // the first of each epoch
    const Batch &batch = all[n];
    int inside = 0, top = kSide, bottom = -1, left = kSide, right = -1;
    for (int y = 0; y < kSide; y++)
      for (int x = 0; x < kSide; x++) {
        const bool is_inside = batch.x[0][0][y][x] >= 400;
        for (int i = 0; i < kBatch; i++)
          for (int c = 0; c < 2; c++)
            EXPECT_EQ(batch.x[i][c][y][x],
                      100 * (is_inside ? 4 - i : i) + 16 * c + 4 * y + x);
        if (!is_inside)
          continue;
        inside++;
        top = std::min(top, y), bottom = std::max(bottom, y);
        left = std::min(left, x), right = std::max(right, x);
      }
    if (inside > 0) {
      EXPECT_EQ(inside, (bottom - top + 1) * (right - left + 1));
    }
    exchanged += inside > 0 && inside < 16;
    EXPECT_NEAR(batch.labels[0][1], float(inside) / 16, 1e-6); // of sample 4
    EXPECT_NEAR(batch.labels[0][0], 1 - float(inside) / 16, 1e-6);
  }
  EXPECT_GT(exchanged, 5);
}

TEST_F(MixTest, IsAFunctionOfTheBatch) {
  const MixOptions both{0.8, 1};
  const auto all = batches(both, 1, 12);
  auto same = [](const Batch &a, const Batch &b) {
    return memcmp(&a, &b, sizeof a) == 0;
  };
  const auto with_workers = batches(both, 3, 12);
  for (size_t i = 0; i < all.size(); i++)
    EXPECT_TRUE(same(all[i], with_workers[i])) << i;
  const auto later = batches(both, 2, 5, 7); // as a run that is resumed
  for (size_t i = 0; i < later.size(); i++)
    EXPECT_TRUE(same(all[7 + i], later[i])) << i;
  EXPECT_FALSE(same(all[0], all[2])); // the same samples, an epoch later
}

TEST_F(MixTest, AShareOfTheBatchesIsMixed) {
  const auto plain = batches({}, 0, 1)[0];
  int mixed = 0;
  const auto all = batches({1, 0, 0.3}, 0, 400);
  for (size_t n = 0; n < all.size(); n += 2)
    mixed += memcmp(&all[n], &plain, sizeof plain) != 0;
  EXPECT_NEAR(mixed, 60, 25); // of 200; four standard deviations
}

TEST(DrawMix, SharesHaveTheBetaDistribution) {
  for (const double shape : {0.2, 1.0, 3.0}) {
    double sum = 0, squares = 0;
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; i++) {
      const Mix mix = draw_mix({shape, 0}, Draws(1, 2, uint64_t(i)), 8, 8);
      EXPECT_TRUE(mix.share >= 0 && mix.share <= 1);
      sum += mix.share, squares += double(mix.share) * mix.share;
    }
    const double mean = sum / kDraws, variance = squares / kDraws - mean * mean;
    EXPECT_NEAR(mean, 0.5, 0.015) << shape;
    EXPECT_NEAR(variance, 1 / (4 * (2 * shape + 1)), 0.005) << shape;
  }
  // Shares of a small shape are 0 or 1, and no NaN.
  for (const double shape : {1e-5, 1e-310})
    for (int i = 0; i < 100; i++) {
      const float share =
          draw_mix({shape, 0}, Draws(1, 2, uint64_t(i)), 8, 8).share;
      EXPECT_TRUE(share < 1e-3 || share > 0.999) << share;
    }
}

TEST(DrawMix, ChoosesByTheSwitchProbability) {
  int boxes = 0;
  for (int i = 0; i < 1000; i++)
    boxes += draw_mix({1, 1, 1, 0.2}, Draws(3, 0, uint64_t(i)), 8, 8).has_box;
  EXPECT_NEAR(boxes, 200, 55);
}

TEST_F(MixTest, RefusesWhatCannotBeMixed) {
  InputInfo classes = classes_of(inputs[1]);
  std::swap(inputs[1], classes);
  EXPECT_EQ(refusal({0.2, 0}),
            "'--mixup' mixes labels that are a probability for each class, but "
            "'labels' is i64 [5]; the losses soft_cross_entropy and "
            "bce_with_logits have such labels, which may also be given as "
            "classes");
  std::swap(inputs[1], classes);
  inputs[0].tensor.rank = 2;
  inputs[0].tensor.shape[1] = 32;
  write_file(folder / "x.npy",
             npy("<f4", "(10, 32)", bytes_of(std::vector<float>(320))));
  EXPECT_EQ(refusal({0.2, 0}), "");
  EXPECT_EQ(refusal({0, 0.2}),
            "'--cutmix' mixes pictures, [batch, channels, height, width], of "
            "f32 or f64, but 'x' is f32 [5, 32]");
}

TEST_F(MixTest, LabelsOfAnotherShapeAreToldAsThatIs) {
  inputs[1].tensor.rank = 3;
  inputs[1].tensor.shape[2] = 1;
  Context ctx(1);
  try {
    check_mix(program.inputs, kBatch, {0.2, 0});
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(),
                 "'--mixup' mixes labels of shape [batch, classes] with two "
                 "classes or more, but 'labels' is f32 [5, 3, 1]");
  }
}

// Samples of several blocks, in double, by several threads.
TEST(MixSamples, OfManyNumbers) {
  constexpr int64_t kSamples = 4, kEdge = 80, kSize = 2 * kEdge * kEdge;
  const InputInfo input{{"x", Type::F64, 4, {kSamples, 2, kEdge, kEdge}, 0, 0}};
  std::vector<double> x(size_t(kSamples * kSize)), mixed;
  for (size_t i = 0; i < x.size(); i++)
    x[i] = double(i);
  Context ctx(3);
  auto mixed_by = [&](const Mix &mix) {
    mixed = x;
    mix_samples(ctx, reinterpret_cast<char *>(mixed.data()), input, mix);
  };
  auto other = [&](size_t i) {
    const size_t sample = i / kSize;
    return x[(kSamples - 1 - sample) * kSize + i % kSize];
  };
  mixed_by({0.75f});
  for (size_t i = 0; i < x.size(); i++)
    ASSERT_EQ(mixed[i], 0.75 * x[i] + 0.25 * other(i)) << i;
  mixed_by({0.75f, true, 10, 50, 20, 60});
  for (size_t i = 0; i < x.size(); i++) {
    const size_t row = i / kEdge % kEdge, column = i % kEdge;
    const bool is_inside = row >= 10 && row < 50 && column >= 20 && column < 60;
    ASSERT_EQ(mixed[i], is_inside ? other(i) : x[i]) << i;
  }
}

// Classes of each type of integers, and more of them than a block has.
TEST(SpreadClasses, OfEachType) {
  constexpr int64_t kSamples = 100, kMany = 120;
  const TensorInfo tensor{"y", Type::F64, 2, {kSamples, kMany}, 0, 0};
  Context ctx(2);
  auto expect = [&](Type type, auto zero) {
    std::vector<decltype(zero)> classes;
    for (int64_t i = 0; i < kSamples; i++)
      classes.push_back(decltype(zero)(i * 7 % kMany));
    std::vector<double> y(size_t(kSamples * kMany), -1);
    spread_classes(ctx, type, classes.data(),
                   reinterpret_cast<char *>(y.data()), tensor);
    for (int64_t i = 0; i < kSamples * kMany; i++)
      ASSERT_EQ(y[size_t(i)], i % kMany == i / kMany * 7 % kMany) << i;
  };
  expect(Type::I64, int64_t(0));
  expect(Type::I32, int32_t(0));
  expect(Type::I16, int16_t(0));
  expect(Type::I8, int8_t(0));
  expect(Type::U32, uint32_t(0));
  expect(Type::U16, uint16_t(0));
  expect(Type::U8, uint8_t(0));
}

TEST_F(MixTest, ClassesOfATypeThatIsNotReadAreNamed) {
  write_file(folder / "y.npy",
             npy("<u8", "(10,)", bytes_of(std::vector<uint64_t>(10))));
  EXPECT_NE(refusal({}).find("' holds u64, but 'labels' needs i64; save "
                             "array.astype('int64')"),
            std::string::npos)
      << refusal({});
}

TEST(CheckMix, NeedsOneInputLabelsAndPairs) {
  auto refusal = [](const Program &program) -> std::string {
    try {
      check_mix(program.inputs, program.batch_size, {0.2, 0});
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  const InputInfo inputs[] = {{{"x", Type::F32, 2, {1, 4}, 0, 16}},
                              {{"y", Type::F32, 2, {1, 4}, 16, 16}, 1, true}};
  Program program{};
  program.inputs = inputs;
  program.batch_size = 1;
  EXPECT_EQ(refusal(program),
            "'--mixup' mixes two samples with each other, but a batch has one; "
            "--batch-size is set at compile time");
  program.inputs.count = 1;
  EXPECT_EQ(
      refusal(program),
      "'--mixup' needs a program with one input and with labels, but this "
      "one has inputs: 1, labels: 0");
}

} // namespace
} // namespace gpuopt
