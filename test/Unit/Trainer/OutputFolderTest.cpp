// Which folders a trainer writes to, and what it leaves there.
#include "TrainerFixture.h"

namespace gpuopt {

static std::vector<std::string> names_in(const std::string &folder) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}
using Names = std::vector<std::string>;

TEST_F(TrainerTest, RefusesFoldersOfOthers) {
  std::filesystem::create_directories(folder / "theirs");
  write_file(folder / "theirs/model.safetensors", "precious");
  std::filesystem::create_directories(folder / "program");
  write_file(folder / "program/.gpuopt", "");
  for (const char *out : {"theirs", "program"}) {
    const Names before = names_in(folder / out);
    // Before it looks at data.
    EXPECT_EQ(run(out, {"--max-steps=1", "--labels", folder / "none.npy"}), 1);
    EXPECT_EQ(error, "tiny: error: '--output-dir' '" + folder / out +
                         "' has files that are not of a training run; choose "
                         "another one or empty it\n");
    EXPECT_EQ(names_in(folder / out), before);
  }
  EXPECT_EQ(read_file(folder / "theirs/model.safetensors"), "precious");
}

TEST_F(TrainerTest, WritesToFoldersOfItsOwn) {
  const Names results = {".gpuopt-results", "metrics.jsonl",
                         "model.safetensors", "run.json"};
  std::filesystem::create_directories(folder / "empty");
  for (const char *out : {"new", "empty", "new", "empty"}) {
    EXPECT_EQ(run(out, {"--max-steps=1", "--overwrite-output-dir"}), 0)
        << error;
    EXPECT_EQ(names_in(folder / out), results);
  }
  // Beside something of the user's, once it is a trainer's.
  write_file(folder / "new/notes.txt", "kept");
  EXPECT_EQ(run("new", {"--max-steps=1", "--overwrite-output-dir"}), 0)
      << error;
  EXPECT_EQ(read_file(folder / "new/notes.txt"), "kept");
  // That of `gpuopt train`, where the program lies below.
  std::filesystem::create_directories(folder / "train/program");
  write_file(folder / "train/program/.gpuopt", "");
  EXPECT_EQ(run("train", {"--max-steps=1"}), 0) << error;
}

TEST_F(TrainerTest, WritesToNoFolderThatItReadsAsData) {
  std::filesystem::create_directories(folder / "pictures/cat");
  for (const char *flag : {"--labels", "--eval-labels"}) {
    EXPECT_EQ(run("pictures/out", {flag, folder / "pictures"}), 1);
    EXPECT_EQ(error, "tiny: error: " + std::string(flag) +
                         ": the output folder '" + folder / "pictures/out" +
                         "' lies in the folder of data '" +
                         folder / "pictures" +
                         "', and would be read as a part of it; choose another "
                         "folder\n");
  }
  EXPECT_EQ(names_in(folder / "pictures"), Names{"cat"});
}

TEST(OutputFolder, LeavesNothingWithoutResults) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "empty");
  {
    OutputFolder a(folder / "empty"), b(folder / "new/below");
  }
  EXPECT_EQ(names_in(folder / ""), Names{"empty"});
  EXPECT_EQ(names_in(folder / "empty"), Names{});
  {
    OutputFolder a(folder / "new/below");
    write_file(folder / "new/below/metrics.jsonl", "");
  }
  EXPECT_EQ(names_in(folder / "new/below"),
            (Names{".gpuopt-results", "metrics.jsonl"}));
}

// A shell that completes the name of a folder writes one.
TEST_F(TrainerTest, ASlashMayEndTheNameOfAFolder) {
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    if (tiny::at<StepState>(memory, tiny::kOffState)->step == 2)
      raise(SIGINT);
  };
  ASSERT_EQ(run("a//", {"--max-steps=4"}), 0) << error;
  const std::string way_on = "interrupted: ends after step 2 of 4; "
                             "--resume=auto goes on from '" +
                             folder / "a/checkpoint-2'\n";
  EXPECT_NE(output.find(way_on), std::string::npos) << output;
  EXPECT_NE(output.find("\nweights: " + folder / "a/model.safetensors\n"),
            std::string::npos)
      << output;
  // It is interrupted before its first step.
  ASSERT_EQ(
      run("a/", {"--max-steps=4", "--resume", folder / "a/checkpoint-2/"}), 0)
      << error;
  EXPECT_NE(output.find(way_on), std::string::npos) << output;
}

} // namespace gpuopt
