// What a prediction may write over and remove in its output folder.

#include "Files.h"

#include "gpuopt/predictor/result_folder.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace gpuopt {
namespace {

void put(const std::string &path, const std::string &text = "theirs") {
  std::filesystem::create_directories(folder_above(path));
  std::ofstream(path) << text;
}

// Writes results as a prediction does.
void predict(const std::string &folder, const std::vector<std::string> &names) {
  ResultFolder results(folder);
  std::vector<std::string> paths;
  for (const std::string &name : names)
    paths.push_back(results.add(name));
  results.remove_earlier();
  for (const std::string &path : paths)
    put(path, "predicted");
  results.finish();
}

std::string error_of_add(const std::string &folder, const std::string &name) {
  return error_of([&] { ResultFolder(folder).add(name); });
}

TEST(ResultFolder, TakesFoldersThatGpuoptHasWrittenAlone) {
  TemporaryFolder folder;
  EXPECT_EQ(why_no_results(folder / "new/one"), "");
  std::filesystem::create_directory(folder / "empty");
  EXPECT_EQ(why_no_results(folder / "empty"), "");
  put(folder / "pictures/cat/a.jpg");
  EXPECT_EQ(why_no_results(folder / "pictures"),
            "'" + folder / "pictures" +
                "' holds 'cat', and no prediction or training has written to "
                "it; choose a new or an empty folder");
  put(folder / "file");
  EXPECT_EQ(why_no_results(folder / "file"),
            "'" + folder / "file" + "' is no folder; choose another path");
  put(folder / "program/.gpuopt");
  EXPECT_EQ(why_no_results(folder / "program"),
            "'" + folder / "program" +
                "' has a compiled program; choose a new or an empty folder");
  put(folder / "run/.gpuopt-results");
  EXPECT_EQ(why_no_results(folder / "run"), "");
  put(folder / "begun/predictor/.gpuopt");
  EXPECT_EQ(why_no_results(folder / "begun"), "");
  predict(folder / "results", {"y.npy"});
  EXPECT_EQ(why_no_results(folder / "results"), "");
}

TEST(ResultFolder, ReplacesEarlierResultsAsAWhole) {
  TemporaryFolder folder;
  const std::string path = folder / "out";
  predict(path, {"y.npy", "samples.jsonl"});
  put(path + "/notes.txt");
  predict(path, {"y.jsonl"});
  EXPECT_FALSE(std::filesystem::exists(path + "/y.npy"));
  EXPECT_FALSE(std::filesystem::exists(path + "/samples.jsonl"));
  EXPECT_EQ(read_file(path + "/notes.txt"), "theirs");
  EXPECT_EQ(read_file(path + "/" + kPredictionMark),
            std::string(kPredictionTitle) + "\ny.jsonl\n");
  // What is no longer listed is somebody else's.
  put(path + "/y.npy");
  predict(path, {"y.jsonl"});
  EXPECT_EQ(read_file(path + "/y.npy"), "theirs");
}

TEST(ResultFolder, WritesOverNoFileOfOthers) {
  TemporaryFolder folder;
  const std::string path = folder / "run";
  put(path + "/.gpuopt-results");
  put(path + "/logits.npy");
  EXPECT_EQ(error_of_add(path, "logits.npy"),
            "'" + path +
                "/logits.npy' is none of the results that "
                "'.gpuopt-prediction' lists, and would be replaced; move it, "
                "or choose another folder");
  EXPECT_EQ(error_of_add(path, "scores.npy"), "no error");
  predict(path, {"scores.npy"});
  EXPECT_EQ(error_of_add(path, "scores.npy"), "no error");
  EXPECT_EQ(read_file(path + "/logits.npy"), "theirs");
}

TEST(ResultFolder, KnowsWhatAKilledPredictionHasLeft) {
  TemporaryFolder folder;
  const std::string path = folder / "out";
  predict(path, {"old.npy"});
  {
    ResultFolder results(path);
    put(results.add("new.npy") + ".part");
    results.remove_earlier();
    put(path + "/new.npy");
  }
  EXPECT_FALSE(std::filesystem::exists(path + "/old.npy"));
  predict(path, {"last.npy"});
  EXPECT_FALSE(std::filesystem::exists(path + "/new.npy"));
}

// Adds a result in a process that ends without destructors, as one that is
// killed.
void die_while_writing(const std::string &folder, const std::string &name) {
  const pid_t child = fork();
  if (child == 0) {
    ResultFolder results(folder);
    put(results.add(name) + ".part");
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
}

TEST(ResultFolder, TakesWhatWasKilledBeforeItsResults) {
  TemporaryFolder folder;
  const std::string path = folder / "out";
  die_while_writing(path, "y.npy");
  EXPECT_TRUE(std::filesystem::exists(path + "/y.npy.part"));
  EXPECT_EQ(why_no_results(path), "");
  predict(path, {"z.npy"});
  EXPECT_FALSE(std::filesystem::exists(path + "/y.npy.part"));
  // The earlier results stay listed until the new ones replace them.
  die_while_writing(path, "y.npy");
  predict(path, {"y.npy"});
  EXPECT_FALSE(std::filesystem::exists(path + "/z.npy"));
  EXPECT_EQ(read_file(path + "/" + kPredictionMark),
            std::string(kPredictionTitle) + "\ny.npy\n");
}

TEST(ResultFolder, KeepsThePartsThatItWrites) {
  TemporaryFolder folder;
  const std::string path = folder / "out";
  die_while_writing(path, "y.npy");
  ResultFolder results(path);
  AtomicFile file(results.add("y.npy"));
  results.remove_earlier();
  file.commit();
  EXPECT_TRUE(std::filesystem::exists(path + "/y.npy"));
}

TEST(ResultFolder, LeavesNoMarkWithoutResults) {
  TemporaryFolder folder;
  const std::string path = folder / "out";
  ResultFolder(path).add("y.npy");
  EXPECT_TRUE(std::filesystem::is_empty(path));
  predict(path, {"y.npy"});
  ResultFolder(path).add("z.npy");
  predict(path, {"x.npy"});
  EXPECT_FALSE(std::filesystem::exists(path + "/y.npy"));
}

TEST(ResultFolder, AMarkReachesIntoNoOtherFolder) {
  TemporaryFolder folder;
  const std::string path = folder / "out";
  put(folder / "mine.npy");
  put(path + "/" + kPredictionMark,
      std::string(kPredictionTitle) + "\n../mine.npy\n");
  predict(path, {"y.npy"});
  EXPECT_EQ(read_file(folder / "mine.npy"), "theirs");
}

TEST(ResultFolder, LiesNotBesideItsData) {
  TemporaryFolder folder;
  put(folder / "out/x.npy");
  put(folder / "pictures/cat/a.jpg");
  auto why = [&](const std::string &out, const std::string &data) {
    return why_not_beside_data(folder / out, "--data", folder / data);
  };
  EXPECT_EQ(why("out", "out/x.npy"),
            "--data: '" + folder / "out/x.npy" +
                "' lies in the output folder '" + folder / "out" +
                "', whose results are replaced; choose another folder");
  EXPECT_EQ(why("pictures/out", "pictures"),
            "--data: the output folder '" + folder / "pictures/out" +
                "' lies in the folder of data '" + folder / "pictures" +
                "', and would be read as a part of it; choose another folder");
  EXPECT_NE(why("out/../out/", "out/x.npz:images"), "");
  EXPECT_NE(why("pictures", "pictures/"), "");
  EXPECT_NE(why("out", "out/x-{0..1}.tar:jpg"), "");
  EXPECT_EQ(why("out2", "out/x.npy"), "");
  EXPECT_EQ(why("ou", "out/x.npy"), "");
  EXPECT_EQ(why("predicted", "pictures"), "");
  // Pictures are read from no folder whose name begins with a dot.
  EXPECT_EQ(why("pictures/.out", "pictures"), "");
  EXPECT_EQ(why("pictures/cat/.runs/out", "pictures"), "");
  EXPECT_NE(why("pictures/cat/out.1", "pictures"), "");
  const std::string out = folder / "out", x = folder / "out/x.npy";
  auto flag_of = [&](const std::vector<std::string> &data,
                     const std::string &tokens, const std::string &prompts) {
    const std::string text = why_not_beside_data(out, data, tokens, prompts);
    return text.substr(0, text.find(':'));
  };
  EXPECT_EQ(flag_of({folder / "y.npy", x}, "", ""), "--data");
  EXPECT_EQ(flag_of({}, x, ""), "--tokens");
  EXPECT_EQ(flag_of({}, "", x), "--prompts");
  EXPECT_EQ(flag_of({folder / "y.npy"}, "", ""), "");
  std::filesystem::create_symlink(folder / "out", folder / "link");
  EXPECT_NE(why("link", "out/x.npy"), "");
}

} // namespace
} // namespace gpuopt
