// The files that predictions are written to.

#include "Files.h"

#include "gpuopt/predictor/result_files.h"
#include "gpuopt/predictor/sampling.h"

#include <gtest/gtest.h>

#include <limits>

namespace gpuopt {
namespace {

template <class T>
void append(ResultFile &file, const std::vector<T> &elements, int64_t samples) {
  file.append(reinterpret_cast<const uint8_t *>(elements.data()), samples);
}

TEST(NpyWriter, IsReadBack) {
  TemporaryFolder folder;
  for (const Type type :
       {Type::F64, Type::F32, Type::F16, Type::I64, Type::I32, Type::I16,
        Type::I8, Type::U64, Type::U32, Type::U16, Type::U8, Type::Bool}) {
    const std::vector<uint8_t> elements(6 * size_of(type), 1);
    NpyWriter writer(folder / "a.npy", type, {3, 2});
    writer.append(elements.data(), 4);
    writer.append(elements.data() + 4 * size_of(type), 2);
    writer.commit();
    const MappedFile file(folder / "a.npy");
    const NpyHeader header(file);
    EXPECT_EQ(header.type, type);
    EXPECT_EQ(header.shape, (std::vector<int64_t>{3, 2}));
    EXPECT_EQ(header.begin % 64, 0u);
    ASSERT_EQ(file.bytes, header.begin + elements.size());
    EXPECT_EQ(
        memcmp(file.data + header.begin, elements.data(), elements.size()), 0);
  }
}

TEST(NpyWriter, WidensBfloat16) {
  TemporaryFolder folder;
  NpyWriter writer(folder / "a.npy", Type::BF16, {2});
  const bf16 elements[] = {narrow_bf16(1.5f), narrow_bf16(-3)};
  writer.append(elements, 2);
  writer.commit();
  const MappedFile file(folder / "a.npy");
  const NpyHeader header(file);
  float wide[2];
  EXPECT_EQ(header.type, Type::F32);
  ASSERT_EQ(file.bytes, header.begin + sizeof wide);
  memcpy(wide, file.data + header.begin, sizeof wide);
  EXPECT_EQ(wide[0], 1.5f);
  EXPECT_EQ(wide[1], -3);
}

TEST(NpyWriter, HasTheShapesOfPython) {
  EXPECT_NE(npy_header(Type::F32, {}).find("'shape': (), }"),
            std::string::npos);
  EXPECT_NE(npy_header(Type::F32, {7}).find("'shape': (7, ), }"),
            std::string::npos);
}

TEST(FileNames, AreThoseOfOutputsOrLikeThem) {
  std::set<std::string> taken;
  EXPECT_EQ(file_name_of("logits.1", taken), "logits.1");
  EXPECT_EQ(file_name_of("/h.0/attn out", taken), "_h.0_attn_out");
  EXPECT_EQ(file_name_of("_h.0_attn_out", taken), "_h.0_attn_out-2");
  EXPECT_EQ(file_name_of("../x", taken), "_.._x");
  EXPECT_EQ(file_name_of("", taken), "_");
}

TEST(ArrayFile, HasTheSamplesThatCount) {
  TemporaryFolder folder;
  const TensorInfo output{"y", Type::F32, 2, {2, 2}, 0, 16};
  ArrayFile file(folder / "y.npy", output, 3);
  append<float>(file, {1, 2, 3, 4}, 2);
  append<float>(file, {5, 6, 7, 8}, 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "y.npy"));
  file.commit();
  const std::string content = read_file(folder / "y.npy");
  EXPECT_EQ(content.substr(content.size() - 24),
            bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(file.describe(), folder / "y.npy" + ": f32 [3, 2]");
}

TEST(NotFiniteValues, AreCountedOverBatches) {
  const TensorInfo output{"y", Type::F32, 2, {2, 3}, 0, 24};
  NotFiniteValues values(&output);
  auto look = [&](const std::vector<float> &batch, int64_t samples) {
    values.look(reinterpret_cast<const uint8_t *>(batch.data()), samples);
  };
  // What lies behind the samples that count is not looked at.
  look({1, 2, 3, NAN, 5, 6}, 1);
  EXPECT_EQ(values.describe({}), "");
  look({1, 2, 3, NAN, 5, INFINITY}, 2);
  look({-INFINITY, 2, 3, 4, 5, 6}, 2);
  const std::string why = "; look for such numbers in the data, and in weights "
                          "of a run that has diverged";
  EXPECT_EQ(values.describe({}), "3 of 15 values of output 'y' are infinite or "
                                 "NaN, the first in sample 2" +
                                     why);
  EXPECT_EQ(values.describe({"a.png", "b.png", "c.png", "d.png", "e.png"}),
            "3 of 15 values of output 'y' are infinite or NaN, the first in "
            "sample 2 ('c.png')" +
                why);
  EXPECT_EQ(values.describe({}, /*is_fp16=*/true),
            values.describe({}) +
                "; weights and values above 65504 are too large for fp16, but "
                "not for --precision=bf16");
}

TEST(NotFiniteValues, AreNoneAmongIntegers) {
  const TensorInfo output{"y", Type::I64, 1, {2}, 0, 16};
  NotFiniteValues values(&output);
  const std::vector<int64_t> batch{-1, INT64_MAX};
  values.look(reinterpret_cast<const uint8_t *>(batch.data()), 2);
  EXPECT_EQ(values.describe({}), "");
}

TEST(TopClasses, AreThoseOfTorch) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> numbers{1, 3, nan, 3, -2};
  auto number = [&](int64_t i) { return numbers[size_t(i)]; };
  EXPECT_EQ(greatest_of(number, 5, 3), (std::vector<int64_t>{2, 1, 3}));
  EXPECT_EQ(greatest_of(number, 5, 9), (std::vector<int64_t>{2, 1, 3, 0, 4}));
}

TEST(TopClasses, AreLinesOfJson) {
  TemporaryFolder folder;
  const TensorInfo output{"y", Type::F32, 2, {2, 3}, 0, 24};
  const PredictionNames none;
  TopClassesFile file(folder / "y.jsonl", output, 2, none);
  const float infinity = std::numeric_limits<float>::infinity();
  append<float>(file, {0.1f, 7, 2, 3, -1, infinity}, 2);
  append<float>(file, {1, 2, 3, 9, 9, 9}, 1);
  file.commit();
  EXPECT_EQ(read_file(folder / "y.jsonl"),
            "{\"sample\": 0, \"classes\": [1, 2], \"values\": [7, 2]}\n"
            "{\"sample\": 1, \"classes\": [2, 0], \"values\": [null, 3]}\n"
            "{\"sample\": 2, \"classes\": [2, 1], \"values\": [3, 2]}\n");
}

TEST(TopClasses, HaveTheNamesOfFilesAndClasses) {
  TemporaryFolder folder;
  const TensorInfo output{"y", Type::F32, 2, {1, 3}, 0, 12};
  const PredictionNames names{{"a \"b\".jpg"}, {"cat", "d\\og"}};
  TopClassesFile file(folder / "y.jsonl", output, 3, names);
  append<float>(file, {1, 3, 2}, 1);
  file.commit();
  EXPECT_EQ(read_file(folder / "y.jsonl"),
            R"({"sample": 0, "file": "a \"b\".jpg", "classes": [1, 2, 0], )"
            R"("names": ["d\\og", null, "cat"], "values": [3, 2, 1]})"
            "\n");
}

TEST(NextToken, TakesTheFirstOfTheLargest) {
  EXPECT_EQ(next_token({1, 3, NAN, 3, -INFINITY}, {}, Draws(1, 0, 0)), 1);
}

TEST(NextToken, DrawsAmongTheLikeliest) {
  // exp(2) : exp(1) : exp(0), of which the first two are drawn from.
  const std::vector<double> logits{0, 4, NAN, 2, -INFINITY};
  const Sampling sampling{/*temperature=*/2, /*top_k=*/2};
  int64_t counts[5] = {};
  for (uint64_t i = 0; i < 10000; i++)
    counts[next_token(logits, sampling, Draws(7, 0, i))]++;
  EXPECT_EQ(counts[1] + counts[3], 10000);
  const double share = std::exp(2.0) / (std::exp(2.0) + std::exp(1.0));
  EXPECT_NEAR(double(counts[1]) / 10000, share, 0.02); // 4 deviations
}

TEST(NextToken, RefusesWhatHasNoLikeliest) {
  for (const double logit : {NAN, INFINITY, -INFINITY})
    try {
      next_token({logit, logit}, {}, Draws(1, 0, 0));
      FAIL();
    } catch (const Error &error) {
      EXPECT_STREQ(error.what(), "the model's logits are infinite or NaN, so "
                                 "that no token can be chosen");
    }
}

} // namespace
} // namespace gpuopt
