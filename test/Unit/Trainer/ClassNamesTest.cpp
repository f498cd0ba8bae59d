// classes.txt: the names of what a run has learnt, beside its weights.
#include "TrainerFixture.h"

namespace gpuopt {
namespace {

struct ClassNamesTest : TrainerTest {
  ClassNamesTest() {
    for (int i = 0; i < 64; i++) {
      const std::string name =
          std::vector<std::string>{"cat", "dog", "owl"}[size_t(i) % 3];
      std::filesystem::create_directories(folder / ("pictures/" + name));
      write_file(folder /
                     ("pictures/" + name + "/" + std::to_string(i) + ".png"),
                 "not read for labels");
    }
  }
  // Runs on labels that have names.
  int run_named(const std::string &out, std::vector<std::string> more = {}) {
    const bool has_steps =
        std::any_of(more.begin(), more.end(), [](const std::string &flag) {
          return flag.rfind("--max-steps", 0) == 0;
        });
    if (!has_steps)
      more.push_back("--max-steps=2");
    more.insert(more.begin(), {"--labels", folder / "pictures"});
    return run(out, std::move(more));
  }
  int run_unnamed(const std::string &out) {
    return run(out, {"--max-steps=2"});
  }
  std::string names_in(const std::string &out) {
    return read_file(folder / (out + "/classes.txt"));
  }
  bool has_names(const std::string &out) {
    return std::filesystem::exists(folder / (out + "/classes.txt"));
  }
};

TEST_F(ClassNamesTest, StandBesideTheWeights) {
  ASSERT_EQ(run_named("a", {"--save-steps=1"}), 0) << error;
  for (const char *out : {"a", "a/checkpoint-1", "a/checkpoint-2"})
    EXPECT_EQ(names_in(out), "cat\ndog\nowl\n") << out;
  check_whole(folder / "a/checkpoint-1");
  ASSERT_EQ(run("b", {"--max-steps=1", "--save-steps=1"}), 0) << error;
  EXPECT_FALSE(has_names("b") || has_names("b/checkpoint-1"));
}

TEST_F(ClassNamesTest, AreReplacedWithTheWeights) {
  overwrites = true;
  ASSERT_EQ(run_named("a"), 0) << error;
  std::filesystem::rename(folder / "pictures/cat", folder / "pictures/ant");
  detail::interrupted = 1;
  ASSERT_EQ(run_named("a"), 0) << error;
  EXPECT_EQ(names_in("a"), "cat\ndog\nowl\n") << "the weights are as before";
  detail::interrupted = 0;
  const auto update = program.update;
  program.update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    tiny::at<float>(memory, tiny::kOffWeight)[11] = -INFINITY;
  };
  ASSERT_EQ(run_named("a"), kDiverged) << error;
  EXPECT_EQ(names_in("a"), "cat\ndog\nowl\n") << "these weights are back";
  program.update = update;
  ASSERT_EQ(run_named("a"), 0) << error;
  EXPECT_EQ(names_in("a"), "ant\ndog\nowl\n");
  ASSERT_EQ(run_unnamed("a"), 0) << error;
  EXPECT_FALSE(has_names("a")) << "these weights have learnt other classes";
}

TEST_F(ClassNamesTest, ThoseOfTheUserStay) {
  overwrites = true;
  ASSERT_EQ(run_unnamed("a"), 0) << error;
  write_file(folder / "a/classes.txt", "mine\n");
  ASSERT_EQ(run_unnamed("a"), 0) << error;
  EXPECT_EQ(error, "");
  EXPECT_EQ(names_in("a"), "mine\n");
  ASSERT_EQ(run_named("a"), 0) << error;
  EXPECT_EQ(error,
            "tiny: warning: '" + folder / "a/classes.txt" +
                "' stays, because no run has written it, but it has other "
                "names than the folders of the labels; remove it to have the "
                "next run write those\n");
  EXPECT_EQ(names_in("a"), "mine\n");
  // What a run has written is the user's once it is changed.
  ASSERT_EQ(run_named("b"), 0) << error;
  write_file(folder / "b/classes.txt", "Cat\nDog\nOwl\n");
  ASSERT_EQ(run_unnamed("b"), 0) << error;
  EXPECT_EQ(names_in("b"), "Cat\nDog\nOwl\n");
}

TEST_F(ClassNamesTest, OfACheckpointAreThoseOfTheLabels) {
  ASSERT_EQ(run_named("a", {"--save-steps=2"}), 0) << error;
  const std::string weights = read_file(folder / "a/model.safetensors");
  std::filesystem::rename(folder / "pictures/dog", folder / "pictures/ape");
  EXPECT_EQ(run_named("a", {"--resume=auto", "--max-steps=3"}), 1);
  EXPECT_EQ(error, "tiny: error: '" + folder / "a/checkpoint-2/classes.txt" +
                       "' has other classes than the folders of the labels: "
                       "class 0 is 'cat' there and 'ape' here; give these "
                       "folders the names that they had, or remove that file "
                       "if only the names are others\n");
  EXPECT_EQ(read_file(folder / "a/model.safetensors"), weights);
  std::filesystem::rename(folder / "pictures/ape", folder / "pictures/dog");
  std::filesystem::rename(folder / "pictures/owl", folder / "owl");
  for (int i = 0; i < 21; i++)
    write_file(folder / ("pictures/dog/" + std::to_string(100 + i) + ".png"),
               "");
  EXPECT_EQ(run_named("a", {"--resume=auto", "--max-steps=3"}), 1);
  EXPECT_NE(error.find("there are 3 classes there and 2 here"),
            std::string::npos)
      << error;
  std::filesystem::rename(folder / "owl", folder / "pictures/owl");
  for (int i = 0; i < 21; i++)
    std::filesystem::remove(
        folder / ("pictures/dog/" + std::to_string(100 + i) + ".png"));
  EXPECT_EQ(run_named("a", {"--resume=auto", "--max-steps=3"}), 0) << error;
  // They have no names, or the checkpoint has none.
  EXPECT_EQ(run("a", {"--max-steps=4", "--resume=auto"}), 0) << error;
}

TEST_F(ClassNamesTest, OfWeightsToBeginWithAreCompared) {
  ASSERT_EQ(run_named("a"), 0) << error;
  const std::string from = "--init-from=" + folder / "a/model.safetensors";
  ASSERT_EQ(run_named("b", {from}), 0) << error;
  EXPECT_EQ(error, "");
  std::filesystem::rename(folder / "pictures/owl", folder / "pictures/bat");
  const std::string why = "'--init-from' '" + folder / "a/model.safetensors" +
                          "' has learnt other classes, according to '" +
                          folder / "a/classes.txt" +
                          "': class 0 is 'cat' there and 'bat' here";
  ASSERT_EQ(run_named("c", {from}), 0) << error;
  EXPECT_EQ(error, "tiny: warning: " + why +
                       "; training begins with the weights of those classes\n");
  setenv(kAdvisorVariable, "gpuopt", /*replace=*/1); // which has told it
  ASSERT_EQ(run_named("e", {from}), 0) << error;
  unsetenv(kAdvisorVariable);
  EXPECT_EQ(error, "");
  EXPECT_EQ(run_named("d", {from, "--init-strict"}), 1);
  EXPECT_EQ(error, "tiny: error: " + why + "\n");
}

struct NamedSource : DataSource {
  explicit NamedSource(std::vector<std::string> names)
      : names_of_classes(std::move(names)) {}
  int64_t samples() const override { return 0; }
  void read(const SampleDraw &, uint8_t *) const override {}
  const std::vector<std::string> *class_names() const override {
    return names_of_classes.empty() ? nullptr : &names_of_classes;
  }
  std::vector<std::string> names_of_classes;
};

struct ValidationClassesTest : TrainerTest {
  ValidationClassesTest() {
    for (int i = 0; i < 64; i++)
      add("pictures", kNames[labels[size_t(i)]], i);
  }
  static constexpr const char *kNames[] = {"cat", "dog", "owl"};
  void add(const std::string &into, const std::string &name, int number) {
    const std::string file = into + "/" + name + "/" + std::to_string(number);
    std::filesystem::create_directories(folder / (into + "/" + name));
    write_file(folder / (file + ".png"), "not read for labels");
  }
  // Validates on the samples of x-some.npy, by a folder of their classes.
  int run_validated(const std::string &out) {
    return run(out, {"--max-steps=2", "--labels", folder / "pictures",
                     "--eval-data", "x=" + folder / "x-some.npy",
                     "--eval-labels", folder / "validation"});
  }
};

TEST_F(ValidationClassesTest, OthersThanTheTrainingsAreAnError) {
  write_first(3);
  for (const char *name : {"ape", "cat", "wolf"})
    add("validation", name, 1);
  EXPECT_EQ(run_validated("a"), 1);
  EXPECT_EQ(error, "tiny: error: '" + folder / "validation" +
                       "' has classes that '" + folder / "pictures" +
                       "', the training data, does not have: 'ape', 'wolf'; "
                       "the classes there are 'cat', 'dog', 'owl'; rename or "
                       "remove these sub-folders\n");
}

TEST_F(ValidationClassesTest, SomeOfTheTrainingsHaveTheirNumbers) {
  // The samples of class 2 alone.
  std::string owls;
  int count = 0;
  for (int i = 0; i < 64; i++)
    if (labels[size_t(i)] == 2) {
      add("validation", "owl", i);
      owls += bytes_of(x).substr(size_t(i) * 16, 16);
      count++;
    }
  const std::string shape = std::to_string(count);
  write_file(folder / "x-some.npy", npy("<f4", "(" + shape + ", 4)", owls));
  ASSERT_EQ(run_validated("a"), 0) << error;
  write_file(folder / "twos.npy",
             npy("|u1", "(" + shape + ",)", std::string(size_t(count), '\2')));
  ASSERT_EQ(run("b", {"--max-steps=2", "--labels", folder / "pictures",
                      "--eval-data", "x=" + folder / "x-some.npy",
                      "--eval-labels", folder / "twos.npy"}),
            0)
      << error;
  EXPECT_EQ(numbers("a", "eval_loss"), numbers("b", "eval_loss"));
}

TEST_F(ValidationClassesTest, NumbersOfTheTrainingAreAsMany) {
  write_first(3);
  for (const char *name : {"cat", "dog"})
    add("validation", name, 1);
  add("validation", "dog", 2);
  const std::vector<std::string> flags = {
      "--max-steps=2", "--eval-data", "x=" + folder / "x-some.npy",
      "--eval-labels", folder / "validation"};
  EXPECT_EQ(run("a", flags), 1);
  EXPECT_EQ(error, "tiny: error: '" + folder / "validation" +
                       "' has 2 sub-folders, which number its classes by their "
                       "names from 0 to 1, but '" +
                       folder / "labels.npy" +
                       "', the training's labels, has numbers up to 2; give "
                       "both as folders, or both as numbers\n");
  std::filesystem::rename(folder / "validation/dog/2.png",
                          folder / "validation/2.png");
  std::filesystem::create_directory(folder / "validation/owl");
  std::filesystem::rename(folder / "validation/2.png",
                          folder / "validation/owl/2.png");
  EXPECT_EQ(run("a", flags), 0) << error;
}

TEST_F(ValidationClassesTest, AFolderMayHaveClassesThatTheTrainingLacks) {
  write_first(3);
  for (const char *name : {"cat", "dog", "owl"})
    add("validation", name, 1);
  for (uint8_t &label : labels)
    label = std::min<uint8_t>(label, 1);
  write_file(folder / "two.npy", npy("|u1", "(64,)", bytes_of(labels)));
  EXPECT_EQ(run("a", {"--max-steps=2", "--labels", folder / "two.npy",
                      "--eval-data", "x=" + folder / "x-some.npy",
                      "--eval-labels", folder / "validation"}),
            0)
      << error;
}

TEST_F(ClassNamesTest, FewerThanTheModelHasAreTold) {
  ASSERT_EQ(run_named("a"), 0) << error;
  EXPECT_EQ(output.find("classes: "), std::string::npos) << output;
  for (const auto &entry :
       std::filesystem::directory_iterator(folder / "pictures/owl"))
    std::filesystem::rename(entry.path(),
                            std::filesystem::path(folder / "pictures/dog") /
                                entry.path().filename());
  std::filesystem::remove(folder / "pictures/owl");
  const std::string note =
      "classes: '" + folder / "pictures" +
      "' has 2 sub-folders, but the model's output has 3 classes; classes 2 "
      "and above have no samples\n";
  ASSERT_EQ(run_named("b"), 0) << error;
  EXPECT_NE(output.find(note), std::string::npos) << output;
  // The gpuopt that has started the trainer has told it.
  setenv(kAdvisorVariable, "gpuopt", /*replace=*/1);
  ASSERT_EQ(run_named("c"), 0) << error;
  unsetenv(kAdvisorVariable);
  EXPECT_EQ(output.find(note), std::string::npos) << output;
}

TEST(ClassNames, AreOneListOrNone) {
  auto text_of = [](const std::vector<std::vector<std::string>> &all) {
    DataSources sources;
    for (const auto &names : all)
      sources.push_back(std::make_unique<NamedSource>(names));
    return class_names_text(sources);
  };
  EXPECT_EQ(text_of({{}, {"a", "b\nc"}}), "a\nb c\n");
  EXPECT_EQ(text_of({{"a", "b"}, {"a", "b"}, {}}), "a\nb\n");
  EXPECT_EQ(text_of({{"a", "b"}, {"c"}}), "");
  EXPECT_EQ(text_of({{}}), "");
}

} // namespace
} // namespace gpuopt
