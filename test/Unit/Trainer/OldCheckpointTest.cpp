// Checkpoints can be resumed by every version with the same MINOR
// (CHANGELOG.md): a checkpoint that the first of them wrote stays in Inputs,
// and later ones go on from it.
//
// If this test fails, the format of checkpoints or the meaning of a setting has
// changed. Then either the trainer must go on reading what was written before,
// or MINOR rises and gets a checkpoint of its own, which
// GPUOPT_NEW_CHECKPOINT=1 in the environment of this test writes.

#include "TrainerFixture.h"

namespace gpuopt {
namespace {

const std::vector<std::string> kFlags = {
    "--max-steps=8",      "--save-steps=3",  "--lr-scheduler-type=cosine",
    "--warmup-steps=2",   "--ema-decay=0.5", "--weight-decay=0.1",
    "--learning-rate=0.1"};

struct OldCheckpointTest : TrainerTest {
  OldCheckpointTest() {
    program.model = "0123456789abcdef";
    program.compiled = kCompiled;
    program.accumulation_steps = 2;
  }
  std::vector<float> weights_in(const std::string &name) {
    const MappedFile file(folder / name);
    std::vector<float> weight(12);
    memcpy(weight.data(), read_safetensors(file).at("weight").data, 48);
    return weight;
  }
  // Other machines round otherwise in the last bits.
  static void expect_near(const std::vector<float> &a,
                          const std::vector<float> &b) {
    for (size_t i = 0; i < a.size(); i++)
      EXPECT_NEAR(a[i], b[i], 1e-5) << "at " << i;
  }
  static constexpr const char *kCompiled[] = {"loss=cross_entropy"};
};

TEST_F(OldCheckpointTest, IsResumed) {
  namespace fs = std::filesystem;
  ASSERT_EQ(run("whole", kFlags), 0) << error;
  if (getenv("GPUOPT_NEW_CHECKPOINT")) {
    fs::create_directories(GPUOPT_OLD_CHECKPOINT);
    fs::copy(folder / "whole/checkpoint-3", GPUOPT_OLD_CHECKPOINT,
             fs::copy_options::overwrite_existing);
  }
  ASSERT_TRUE(fs::exists(GPUOPT_OLD_CHECKPOINT))
      << "there is no checkpoint of this MINOR; see above";
  std::vector<std::string> flags = kFlags;
  flags.push_back("--resume=" GPUOPT_OLD_CHECKPOINT);
  ASSERT_EQ(run("resumed", flags), 0) << error;
  EXPECT_EQ(error, "");
  EXPECT_NE(output.find("after step 3 of 8"), std::string::npos) << output;
  const std::vector<double> whole = losses("whole"), rest = losses("resumed");
  ASSERT_EQ(rest.size(), 5u);
  for (size_t i = 0; i < rest.size(); i++)
    EXPECT_NEAR(rest[i], whole[3 + i], 1e-5) << "in step " << 4 + i;
  for (const char *name : {"model.safetensors", "ema.safetensors"})
    expect_near(weights_in("resumed/" + std::string(name)),
                weights_in("whole/" + std::string(name)));
}

} // namespace
} // namespace gpuopt
