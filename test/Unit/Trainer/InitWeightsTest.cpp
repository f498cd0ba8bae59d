// --init-from: weights of another file.

#include "TrainerFixture.h"

namespace gpuopt {
namespace {

struct InitWeightsTest : TrainerTest {
  InitWeightsTest()
      : file(folder / "init"), values(random_values<float>(12, 3)) {}
  // Runs no step that changes a weight; returns what the weights are then.
  std::vector<float> weights_after(std::vector<std::string> flags) {
    flags.push_back("--learning-rate=0");
    flags.push_back("--init-from=" + file);
    EXPECT_EQ(run("a", flags), 0) << error;
    const MappedFile saved(folder / "a/model.safetensors");
    std::vector<float> weights(12);
    memcpy(weights.data(), read_safetensors(saved).at("weight").data, 48);
    return weights;
  }
  TensorToSave tensor(const std::string &name, std::vector<int64_t> shape) {
    return {name, Type::F32, std::move(shape), values.data(), 48};
  }
  const std::string file;
  const std::vector<float> values;
};

TEST_F(InitWeightsTest, TakesWhatFits) {
  overwrites = true;
  write_safetensors(file, {tensor("weight", {4, 3})});
  EXPECT_EQ(weights_after({"--init-strict"}), values);
  EXPECT_EQ(error, "");
  // By another name of a tied tensor, in half precision, beside others.
  std::vector<uint16_t> halves;
  std::vector<float> rounded;
  for (const float value : values) {
    const bf16 half = narrow_bf16(value);
    halves.push_back(half.bits);
    rounded.push_back(widen(half));
  }
  write_safetensors(file,
                    {{"tied.weight", Type::BF16, {4, 3}, halves.data(), 24},
                     tensor("head", {12})});
  EXPECT_EQ(weights_after({}), rounded);
  EXPECT_EQ(error, "tiny: warning: '--init-from' '" + file +
                       "': 1 of 1 tensors are taken; is not of the program: "
                       "'head'\n");
}

// --weights takes a file of the program's own weights. What else such a file
// has is told, but where a run with the same graph has saved it.
TEST_F(InitWeightsTest, TellsWhatOtherWeightsHaveBeside) {
  const int64_t seen = 7;
  const std::vector<TensorToSave> tensors{
      tensor("weight", {4, 3}),
      tensor("head", {12}),
      {"batches", Type::I64, {1}, &seen, 8}};
  write_safetensors(file, tensors);
  ASSERT_EQ(run("a", {"--max-steps=1", "--weights=" + file}), 0) << error;
  EXPECT_EQ(error, "tiny: warning: '" + file +
                       "' has 'head', which the program does not have and does "
                       "not take\n");
  program.graph = "1:0123456789abcdef";
  write_safetensors(file, tensors, {{kGraphEntry, program.graph}});
  ASSERT_EQ(run("b", {"--max-steps=1", "--weights=" + file}), 0) << error;
  EXPECT_EQ(error, "");
}

// A folder stands for its weights, or for those of its last whole checkpoint.
TEST_F(InitWeightsTest, TakesTheWeightsOfARun) {
  ASSERT_EQ(run("run", {"--max-steps=3", "--save-steps=1"}), 0) << error;
  const std::string last = folder / "run/checkpoint-2";
  std::filesystem::remove_all(folder / "run/checkpoint-3");
  std::filesystem::create_directory(folder / "run/checkpoint-9"); // unfinished
  std::filesystem::copy(last + "/model.safetensors",
                        folder / "run/checkpoint-9/model.safetensors");
  const auto taken = [&](const std::string &path) {
    overwrites = true;
    EXPECT_EQ(run("b", {"--max-steps=1", "--init-from", folder / path}), 0)
        << error;
    const std::string said = "begins with the weights of '";
    const size_t at = output.find(said);
    return at == std::string::npos
               ? output
               : output.substr(at + said.size(),
                               output.find('\'', at + said.size()) - at -
                                   said.size());
  };
  EXPECT_EQ(taken("run"), folder / "run/model.safetensors");
  EXPECT_EQ(taken("run/checkpoint-1/"),
            folder / "run/checkpoint-1/model.safetensors");
  std::filesystem::remove(folder / "run/model.safetensors");
  EXPECT_EQ(taken("run"), last + "/model.safetensors");
  std::filesystem::create_directory(folder / "bare");
  EXPECT_EQ(run("c", {"--max-steps=1", "--init-from", folder / "bare"}), 1);
  EXPECT_EQ(error, "tiny: error: '--init-from': '" + folder / "bare" +
                       "' is a folder without model.safetensors; give a file, "
                       "or the folder of a run or of a checkpoint that has "
                       "one\n");
}

// As num_batches_tracked of batch normalisation, and a mask.
TEST_F(InitWeightsTest, LeavesOutIntegersThatAStateDictHas) {
  const int64_t count = 7;
  const uint8_t mask[] = {0, 1};
  write_safetensors(
      file, {tensor("weight", {4, 3}),
             {"norm.num_batches_tracked", Type::I64, {}, &count, sizeof count},
             {"mask", Type::Bool, {2}, mask, sizeof mask}});
  EXPECT_EQ(weights_after({"--init-strict"}), values);
  EXPECT_EQ(error, "");
}

TEST_F(InitWeightsTest, LeavesTheWarningToWhatHasBuiltTheProgram) {
  write_safetensors(file, {tensor("weight", {4, 3}), tensor("head", {12})});
  setenv(kAdvisorVariable, "gpuopt", /*replace=*/1);
  EXPECT_EQ(weights_after({}), values);
  unsetenv(kAdvisorVariable);
  EXPECT_EQ(error, "");
}

TEST_F(InitWeightsTest, NamesWhatLacksOrDoesNotFit) {
  write_safetensors(file, {tensor("weight", {3, 4})});
  EXPECT_EQ(run("a", {"--init-from", file}), 1);
  EXPECT_EQ(error, "tiny: error: '--init-from' '" + file +
                       "': 0 of 1 tensors are taken; does not fit: 'weight' "
                       "(F32 [3, 4], but the program has F32 [4, 3])\n");
  write_safetensors(file, {tensor("head", {12})});
  EXPECT_EQ(run("a", {"--init-from", file}), 1);
  EXPECT_NE(error.find("lacks 'weight'; is not of the program: 'head'\n"),
            std::string::npos)
      << error;
  write_safetensors(file, {tensor("weight", {4, 3}), tensor("head", {12})});
  EXPECT_EQ(run("a", {"--init-from", file, "--init-strict"}), 1);
  EXPECT_NE(error.find("1 of 1 tensors are taken; is not of the program: "),
            std::string::npos)
      << error;
  EXPECT_EQ(run("a", {"--init-strict"}), 1);
  EXPECT_EQ(error, "tiny: error: '--init-strict' has no effect without "
                   "--init-from\n");
  EXPECT_EQ(run("a", {"--init-from", folder / "none"}), 1);
  EXPECT_NE(error.find("'--init-from': "), std::string::npos) << error;
}

// As of a module in a wrapper, whose names are many.
TEST_F(InitWeightsTest, SaysWhatNamesBeginWith) {
  write_safetensors(file,
                    {tensor("base_model.model.weight", {4, 3}),
                     tensor("a", {12}), tensor("b", {12}), tensor("c", {12})});
  EXPECT_EQ(run("a", {"--init-from", file}), 1);
  EXPECT_NE(error.find("lacks 'weight'; is not of the program: 'a', 'b', "
                       "'base_model.model.weight', 'c'; names of the "
                       "file have 'base_model.model.' before those of the "
                       "program, as 'base_model.model.weight' has: write a "
                       "file without it\n"),
            std::string::npos)
      << error;
}

TEST_F(InitWeightsTest, NamesTensorsThatAreNotFinite) {
  std::vector<float> bad = values;
  bad[7] = NAN;
  write_safetensors(file, {{"weight", Type::F32, {4, 3}, bad.data(), 48}});
  EXPECT_EQ(run("a", {"--init-from", file}), 1);
  EXPECT_EQ(error, "tiny: error: '--init-from' '" + file +
                       "' has elements that are infinite or NaN in 'weight'; "
                       "training cannot begin with them: mend the file, or "
                       "leave these tensors out of it\n");
  // A number of f64 that is too large for the program's f32.
  std::vector<double> wide(values.begin(), values.end());
  wide[0] = 1e300;
  write_safetensors(file, {{"weight", Type::F64, {4, 3}, wide.data(), 96}});
  EXPECT_EQ(run("a", {"--init-from", file}), 1);
  EXPECT_NE(error.find("infinite or NaN in 'weight'"), std::string::npos)
      << error;
}

TEST_F(InitWeightsTest, SaysHowToConvertOtherFormats) {
  auto refusal = [&](const std::string &name, const std::string &content) {
    write_file(folder / name, content);
    EXPECT_EQ(run("a", {"--init-from", folder / name}), 1);
    return error;
  };
  EXPECT_EQ(refusal("w.pt", "PK\3\4..."),
            "tiny: error: '--init-from' '" + folder / "w.pt" +
                "' is a file of torch.save, but a safetensors file is needed; "
                "if the file is a state_dict, write one in Python: "
                "gpuopt.safetensors.write('" +
                folder / "w.safetensors" +
                "', {name: tensor.detach().float().numpy() for name, tensor in "
                "torch.load('" +
                folder / "w.pt" + "', map_location='cpu').items()})\n");
  EXPECT_NE(refusal("model.bin", "\x80\2...").find("is a file of torch.save"),
            std::string::npos);
  EXPECT_NE(refusal("w.npz", "PK\3\4...")
                .find("is a file of numpy.savez, but a safetensors file is "
                      "needed; write one in Python: gpuopt.safetensors.write("
                      "'" +
                      folder / "w.safetensors" + "', dict(numpy.load('" +
                      folder / "w.npz" + "')))"),
            std::string::npos);
  EXPECT_NE(refusal("w.npy", npy("<f4", "(4, 3)", bytes_of(values)))
                .find("is a file of numpy.save, but"),
            std::string::npos);
  EXPECT_NE(
      refusal("it's.npy", npy("<f4", "(4, 3)", bytes_of(values)))
          .find("it\\'s.safetensors', {'NAME OF THE WEIGHT': numpy.load("),
      std::string::npos)
      << error;
  EXPECT_NE(refusal("text", "none of them").find("is not a safetensors file"),
            std::string::npos);
}

// The length of a header, 640, begins as a file of torch.save does.
TEST_F(InitWeightsTest, TellsSafetensorsByTheirHeader) {
  std::string header =
      R"({"weight":{"dtype":"F32","shape":[4,3],"data_offsets":[0,48]}})";
  header.resize(640, ' ');
  write_file(file,
             std::string("\x80\2\0\0\0\0\0\0", 8) + header + bytes_of(values));
  EXPECT_EQ(weights_after({}), values);
}

// A checkpoint has the weights already.
TEST_F(InitWeightsTest, AResumedRunHasItsOwn) {
  write_safetensors(file, {tensor("weight", {4, 3})});
  const std::vector<std::string> flags = {"--resume=auto", "--save-steps=1",
                                          "--init-from", file};
  ASSERT_EQ(run("a", flags), 0) << error;
  const std::string first = read_file(folder / "a/model.safetensors");
  ASSERT_EQ(run("a", flags), 0) << error;
  EXPECT_EQ(read_file(folder / "a/model.safetensors"), first);
}

} // namespace
} // namespace gpuopt
