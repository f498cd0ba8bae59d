// Files and flags have a point in numbers under every locale of the process.

#include "CommaLocale.h"
#include "TrainerFixture.h"

#include <regex>

namespace gpuopt {
namespace {

#define NEEDS(locale)                                                          \
  if (!(locale).is_set)                                                        \
  GTEST_SKIP() << "there is no localedef to make a locale with a comma"

std::string as_printed(double number) {
  char text[40];
  snprintf(text, sizeof text, "%g", number);
  return text;
}

TEST(Locale, IsTheCallersOutside) {
  const CommaLocale locale;
  NEEDS(locale);
  EXPECT_EQ(as_printed(0.5), "0,5");
  std::ostringstream stream;
  stream << 1234567;
  EXPECT_EQ(stream.str(), "1.234.567");
  {
    const PlainNumbers plain;
    EXPECT_EQ(as_printed(0.5), "0.5");
  }
  EXPECT_EQ(as_printed(0.5), "0,5");
}

TEST(Locale, NumbersAreReadWithAPoint) {
  const CommaLocale locale;
  NEEDS(locale);
  EXPECT_EQ(detail::parse_number("--a", "0.25"), 0.25);
  EXPECT_EQ(detail::parse_number("--a", "+1e-3"), 1e-3);
  EXPECT_THROW(detail::parse_number("--a", "0,25"), Error);
  LossScaling scaling;
  detail::parse_loss_scale("0.5", scaling);
  EXPECT_EQ(scaling.init_scale, 0.5);
  ParamGroupSetting group;
  EXPECT_EQ(parse_param_group("fc:lr=0.125,weight_decay=0",
                              *find_optimizer("adamw"), TrainingSettings(),
                              group),
            "");
  EXPECT_EQ(group.values.at(0).second, 0.125);
  LossTerm term;
  EXPECT_EQ(parse_loss_term("aux:mse:0.3", term), "");
  EXPECT_EQ(loss_term_text(term), "aux:mse:0.3");
  JsonParser parser("[0.5, 1.5e1]", 12, "not read");
  std::vector<double> values;
  parser.numbers(values);
  EXPECT_EQ(values, (std::vector<double>{0.5, 15}));
  EXPECT_EQ(number_text(1e-8), "1e-08");
  EXPECT_EQ(number_text(0.999), "0.999");
}

TEST(Locale, AStateIsReadAgain) {
  TemporaryFolder folder;
  RunState run;
  run.loss_scale = 0.5;
  run.epoch = 1.0 / 3;
  run.max_steps = 1234567;
  const CommaLocale locale;
  NEEDS(locale);
  const std::string text = json_of(run);
  EXPECT_NE(text.find("\"loss_scale\": 0.5,"), std::string::npos) << text;
  write_file(folder / "state.json", text);
  const RunState read = read_run_state(folder / "state.json");
  EXPECT_EQ(read.loss_scale, 0.5);
  EXPECT_EQ(read.epoch, 1.0 / 3);
  EXPECT_EQ(read.max_steps, 1234567);
}

// All of a run's files that other programs read, and what a run goes on from.
TEST_F(TrainerTest, AnyLocaleLeavesTheSameFiles) {
  const std::vector<std::string> flags = {
      "--max-steps=20",       "--save-steps=8",
      "--learning-rate=0.05", "--adam-beta2=0.95",
      "--profile=active=2",   "--profile-costs-to=" + folder / "costs.json",
      "--eval-data",          "x=" + folder / "x.npy",
      "--eval-labels",        folder / "labels.npy"};
  ASSERT_EQ(run("plain", flags), 0) << error;
  {
    const CommaLocale locale;
    NEEDS(locale);
    ASSERT_EQ(run("comma", flags), 0) << error;
  }
  EXPECT_EQ(losses("comma"), losses("plain"));
  EXPECT_EQ(numbers("comma", "learning_rate"),
            numbers("plain", "learning_rate"));
  EXPECT_EQ(numbers("comma", "eval_loss"), numbers("plain", "eval_loss"));
  EXPECT_EQ(read_file(folder / "comma/checkpoint-8/trainer_state.json"),
            read_file(folder / "plain/checkpoint-8/trainer_state.json"));
  // In JSON, a comma between digits would separate two numbers, which no list
  // of these files does without a space.
  const std::regex comma("[0-9],[0-9]");
  for (const char *file :
       {"comma/metrics.jsonl", "comma/run.json", "comma/profile/profile.json",
        "comma/profile/trace.json", "comma/profile/table.txt", "costs.json"}) {
    const std::string text = read_file(folder / file);
    std::smatch found;
    EXPECT_FALSE(std::regex_search(text, found, comma))
        << file << ": " << found.str();
  }
  // Marks between thousands.
  const std::regex point("[0-9]\\.[0-9]{3}\\.[0-9]");
  for (const char *file :
       {"comma/run.json", "comma/profile/profile.json", "costs.json"}) {
    const std::string text = read_file(folder / file);
    EXPECT_FALSE(std::regex_search(text, point)) << text;
  }
}

} // namespace
} // namespace gpuopt
