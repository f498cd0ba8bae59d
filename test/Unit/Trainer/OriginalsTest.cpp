// Frozen weights that a program has in half precision.

#include "TrainerFixture.h"

namespace gpuopt {
namespace {

// Numbers that bf16 does not have.
const std::vector<float> kBase = {1.001f, -0.3333333f, 3e38f, 1e-40f};

struct OriginalsTest : TrainerTest {
  OriginalsTest() {
    states.assign(program.states.begin(), program.states.end());
    states.push_back({{"base", Type::BF16, 1, {4}, tiny::kOffWeight + 128, 8},
                      StateKind::Frozen,
                      {}});
    program.states.data = states.data();
    program.states.count = int(states.size());
    write_weights(folder / "start");
  }
  void write_weights(const std::string &file,
                     const std::vector<float> &base = kBase) {
    const std::vector<float> zeros(12, 0);
    write_safetensors(file, {{"weight", Type::F32, {4, 3}, zeros.data(), 48},
                             {"base", Type::F32, {4}, base.data(), 16}});
  }
  // Returns what a file has of the frozen weight, in f32.
  static std::vector<float> base_in(const std::string &path) {
    const MappedFile file(path);
    const StoredTensor base = read_safetensors(file).at("base");
    EXPECT_EQ(base.dtype, "F32");
    std::vector<float> values(base.bytes / sizeof(float));
    memcpy(values.data(), base.data, base.bytes);
    return values;
  }
  static std::vector<float> rounded(std::vector<float> values) {
    for (float &value : values)
      value = widen(narrow_bf16(value));
    return values;
  }
  std::vector<StateInfo> states;
};

TEST_F(OriginalsTest, AreSavedWithAllBits) {
  ASSERT_NE(kBase, rounded(kBase));
  ASSERT_EQ(run("a", {"--max-steps=2", "--save-steps=1", "--ema-decay=0.5"}), 0)
      << error;
  EXPECT_EQ(error, "");
  for (const char *file :
       {"a/model.safetensors", "a/ema.safetensors",
        "a/checkpoint-1/model.safetensors", "a/checkpoint-2/model.safetensors",
        "a/checkpoint-2/ema.safetensors"})
    EXPECT_EQ(base_in(folder / file), kBase) << file;
  // They come from the checkpoint then.
  write_weights(folder / "start", std::vector<float>(4, 9));
  ASSERT_EQ(run("a", {"--max-steps=3", "--resume=auto", "--ema-decay=0.5"}), 0)
      << error;
  EXPECT_EQ(base_in(folder / "a/model.safetensors"), kBase);
}

TEST_F(OriginalsTest, AreThoseOfOtherFirstWeights) {
  std::vector<double> wide = {0.1, 1, 2, 3};
  write_safetensors(folder / "init",
                    {{"base", Type::F64, {4}, wide.data(), 32}});
  ASSERT_EQ(run("a", {"--init-from", folder / "init"}), 0) << error;
  EXPECT_EQ(base_in(folder / "a/model.safetensors"),
            (std::vector<float>{0.1f, 1, 2, 3}));
  const uint16_t halves[] = {0x3c00, 0x4000, 0x4200, 0x0001};
  write_safetensors(folder / "init", {{"base", Type::F16, {4}, halves, 8}});
  ASSERT_EQ(run("b", {"--init-from", folder / "init"}), 0) << error;
  EXPECT_EQ(base_in(folder / "b/model.safetensors"),
            (std::vector<float>{1, 2, 3, 0x1p-24f}));
}

// One that is removed is still read.
TEST_F(OriginalsTest, AreRoundedWhereTheirFileIsWrittenTo) {
  static std::string start;
  start = folder / "start";
  program.update = [](Context &ctx, char *memory) {
    std::ofstream(start, std::ios::app) << "more";
    tiny::update(ctx, memory);
  };
  ASSERT_EQ(run("a", {"--max-steps=2", "--save-steps=1"}), 0) << error;
  EXPECT_EQ(base_in(folder / "a/model.safetensors"), rounded(kBase));
  EXPECT_EQ(error, "tiny: warning: frozen weights such as 'base' are saved as "
                   "they are in memory, rounded to half precision, because '" +
                       start +
                       "', which they were loaded from, has been written to "
                       "since then or cannot be read\n");
  write_weights(start);
  program.update = [](Context &ctx, char *memory) {
    std::filesystem::remove(start);
    tiny::update(ctx, memory);
  };
  ASSERT_EQ(run("b", {}), 0) << error;
  EXPECT_EQ(base_in(folder / "b/model.safetensors"), kBase);
}

TEST_F(OriginalsTest, AreRefusedWhereTheyBecomeInfinite) {
  states.back().tensor.type = Type::F16;
  const std::string message =
      "' has numbers in 'base' that are too large for F16, the type in which "
      "this program keeps that frozen weight; compile it with another "
      "--precision\n";
  EXPECT_EQ(run("a", {}), 1);
  EXPECT_EQ(error, "tiny: error: '" + (folder / "start") + message);
  write_weights(folder / "start", {1, 2, 3, 4});
  const float large[] = {7e4f, 1, 2, 3};
  write_safetensors(folder / "init", {{"base", Type::F32, {4}, large, 16}});
  EXPECT_EQ(run("a", {"--init-from", folder / "init"}), 1);
  EXPECT_EQ(error, "tiny: error: '" + (folder / "init") + message);
}

// The program that gpuopt train has written takes its place meanwhile.
TEST_F(OriginalsTest, NameTheirFileWhereTheProgramGoes) {
  static std::string start;
  start = folder / ".gpuopt-next/start";
  std::filesystem::create_directory(folder / ".gpuopt-next");
  write_weights(start);
  program.update = [](Context &ctx, char *memory) {
    std::ofstream(start, std::ios::app) << "more";
    tiny::update(ctx, memory);
  };
  ASSERT_EQ(run("a", {"--max-steps=1", "--weights", start}), 0) << error;
  EXPECT_NE(error.find("because '" + folder / "start" + "', which they were"),
            std::string::npos)
      << error;
}

TEST_F(OriginalsTest, AreWhatACallerHasWritten) {
  Session session(program, 1);
  session.allocate();
  session.load_weights(folder / "start");
  session.weights_file().save(folder / "before", {});
  EXPECT_EQ(base_in(folder / "before"), kBase);
  const bf16 one = narrow_bf16(1);
  copy_to_device(session.ctx,
                 session.memory + states.back().tensor.offset + sizeof one,
                 &one, sizeof one);
  session.weights_file().save(folder / "after", {});
  EXPECT_EQ(base_in(folder / "after"),
            (std::vector<float>{kBase[0], 1, kBase[2], kBase[3]}));
}

TEST(ConvertElements, TakesNoIntegers) {
  const int64_t number = 1;
  float converted;
  try {
    convert_elements(Type::I64, &number, Type::F32, &converted, 1);
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "expected a type of floating-point numbers");
  }
}

} // namespace
} // namespace gpuopt
