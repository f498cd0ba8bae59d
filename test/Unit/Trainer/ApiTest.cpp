// The C API around a program written by hand: its steps have the bits of the
// trainer's, what it saves and loads is the trainer's, and it says what is
// wrong with an argument.

#include "CommaLocale.h"
#include "TrainerFixture.h"

#include "gpuopt/api/functions.h"

#include <sys/wait.h>
#include <unistd.h>

static gpuopt::Program &own_program() {
  static gpuopt::Program instance = gpuopt::tiny::program();
  return instance;
}
const gpuopt::Program &program() { return own_program(); }

namespace gpuopt {
namespace {

struct ApiTest : TrainerTest {
  ApiTest() { own_program() = tiny::program(); }
  ~ApiTest() override { gpuopt_destroy(p); }

  gpuopt_status create(std::vector<const char *> settings = {}) {
    gpuopt_destroy(p);
    gpuopt_options options;
    gpuopt_options_init(&options);
    const std::string file = folder / "start";
    options.weights = file.c_str();
    options.settings = settings.data();
    options.setting_count = settings.size();
    return gpuopt_create(&options, &p);
  }
  // The samples of a step, as the trainer takes them with --no-shuffle.
  std::vector<gpuopt_tensor> batch(int64_t step, int64_t batches = 1) {
    wide.assign(labels.begin(), labels.end());
    const size_t first = size_t(step * batches * tiny::kBatch) % 64;
    const size_t count = size_t(batches * tiny::kBatch);
    return {{"x", GPUOPT_F32, GPUOPT_HOST, &x[first * 4], count * 16},
            {"labels", GPUOPT_I64, GPUOPT_HOST, &wide[first], count * 8}};
  }
  double step(int64_t number, int64_t batches = 1) {
    const auto inputs = batch(number, batches);
    double loss = NAN;
    EXPECT_EQ(gpuopt_step(p, inputs.data(), inputs.size(), &loss), GPUOPT_OK)
        << gpuopt_last_error();
    return loss;
  }
  // Returns what a call said that failed with a status.
  std::string refusal(gpuopt_status status, gpuopt_status expected) {
    EXPECT_EQ(status, expected);
    return gpuopt_last_error();
  }
  std::string invalid(gpuopt_status status) {
    return refusal(status, GPUOPT_INVALID_ARGUMENT);
  }
  std::vector<float> weight() {
    std::vector<float> values(12);
    const gpuopt_tensor to{"weight", GPUOPT_F32, GPUOPT_HOST, values.data(),
                           48};
    EXPECT_EQ(gpuopt_read_state(p, &to), GPUOPT_OK) << gpuopt_last_error();
    return values;
  }

  gpuopt_program *p = nullptr;
  std::vector<int64_t> wide; // the labels
};

TEST_F(ApiTest, StepsHaveTheBitsOfTheTrainer) {
  ASSERT_EQ(run("a", {"--no-shuffle", "--max-steps=6", "--learning-rate=0.2"}),
            0)
      << error;
  ASSERT_EQ(create({"--max-steps=6", "--learning-rate=0.2"}), GPUOPT_OK)
      << gpuopt_last_error();
  std::vector<double> losses;
  for (int64_t i = 0; i < 6; i++)
    losses.push_back(step(i));
  EXPECT_EQ(losses, this->losses("a"));
  ASSERT_EQ(gpuopt_save_weights(p, (folder / "saved").c_str()), GPUOPT_OK);
  EXPECT_EQ(read_file(folder / "saved"),
            read_file(folder / "a/model.safetensors"));
  gpuopt_step_info info;
  ASSERT_EQ(gpuopt_get_step_info(p, &info), GPUOPT_OK);
  EXPECT_EQ(info.steps, 6);
  EXPECT_EQ(info.loss, losses.back());
  EXPECT_FLOAT_EQ(info.learning_rate, numbers("a", "learning_rate").back());
}

TEST_F(ApiTest, AStepTakesAllOfItsBatches) {
  program.accumulation_steps = own_program().accumulation_steps = 2;
  ASSERT_EQ(run("a", {"--no-shuffle", "--max-steps=3"}), 0) << error;
  ASSERT_EQ(create({"--max-steps=3"}), GPUOPT_OK) << gpuopt_last_error();
  const std::vector<double> losses{step(0, 2), step(1, 2), step(2, 2)};
  EXPECT_EQ(losses, this->losses("a"));
  const auto one = batch(0);
  EXPECT_EQ(invalid(gpuopt_step(p, one.data(), 2, nullptr)),
            "input 'x' needs 256 bytes, 2 batches of f32 [8, 4], but got 128");
}

// The threads of OpenMP do not survive a fork.
TEST_F(ApiTest, ACallInAForkedProcessIsRefused) {
  const auto status_in_fork = [&](int num_threads, const char *text) {
    EXPECT_EQ(create(), GPUOPT_OK) << gpuopt_last_error();
    step(0);
    p->context().num_threads = num_threads; // this test is without OpenMP
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      const auto inputs = batch(1);
      const auto status = gpuopt_step(p, inputs.data(), inputs.size(), nullptr);
      const std::string error = gpuopt_last_error();
      const bool fits =
          error.find(text) != std::string::npos &&
          (status == GPUOPT_OK ||
           error.find("the program was made in process ") != std::string::npos);
      _exit(fits ? int(status) : 99);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(status_in_fork(2, ", from which this one was forked without its "
                              "threads: make the program after the fork, or "
                              "with num_threads 1 on the host"),
            GPUOPT_INVALID_ARGUMENT);
  EXPECT_EQ(status_in_fork(1, ""), GPUOPT_OK);
}

TEST_F(ApiTest, EvaluationChangesNothing) {
  ASSERT_EQ(create(), GPUOPT_OK) << gpuopt_last_error();
  const auto inputs = batch(0);
  double loss = 0, weight = 0;
  ASSERT_EQ(gpuopt_evaluate(p, inputs.data(), 2, &loss, &weight), GPUOPT_OK);
  EXPECT_EQ(weight, 8);
  const double again = step(0);
  EXPECT_EQ(loss, again);
  ASSERT_EQ(gpuopt_evaluate(p, inputs.data(), 2, &loss, nullptr), GPUOPT_OK);
  EXPECT_LT(loss, again);
}

TEST_F(ApiTest, DescribesItsTensors) {
  ASSERT_EQ(create(), GPUOPT_OK) << gpuopt_last_error();
  gpuopt_program_info info;
  ASSERT_EQ(gpuopt_get_program_info(p, &info), GPUOPT_OK);
  EXPECT_STREQ(info.name, "tiny");
  EXPECT_STREQ(info.target, "host");
  EXPECT_STREQ(info.optimizer, "adamw");
  EXPECT_EQ(info.batch_size, 8);
  EXPECT_TRUE(info.has_step && info.has_evaluate && !info.has_forward);
  EXPECT_EQ(info.device_bytes, tiny::kTotal);
  EXPECT_EQ(gpuopt_tensor_count(p, GPUOPT_INPUTS), 2u);
  EXPECT_EQ(gpuopt_tensor_count(p, GPUOPT_OUTPUTS), 0u);
  EXPECT_EQ(gpuopt_tensor_count(p, GPUOPT_STATES), 3u); // without the gradient
  gpuopt_tensor_info tensor;
  ASSERT_EQ(gpuopt_get_tensor_info(p, GPUOPT_INPUTS, 1, &tensor), GPUOPT_OK);
  EXPECT_EQ(tensor.role, GPUOPT_LABELS);
  EXPECT_EQ(tensor.type, GPUOPT_I64);
  ASSERT_EQ(gpuopt_find_tensor(p, GPUOPT_STATES, "tied.weight", &tensor),
            GPUOPT_OK);
  EXPECT_STREQ(tensor.name, "weight");
  ASSERT_EQ(tensor.name_count, 2u);
  EXPECT_STREQ(tensor.names[1], "tied.weight");
  EXPECT_EQ(tensor.role, GPUOPT_PARAMETER);
  EXPECT_EQ(std::vector<int64_t>(tensor.shape, tensor.shape + tensor.rank),
            (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(gpuopt_api_version(), GPUOPT_API_VERSION);
  EXPECT_EQ(gpuopt_stream(p), nullptr);
  EXPECT_EQ(gpuopt_synchronize(p), GPUOPT_OK);
}

TEST_F(ApiTest, KeepsWhatCallersHaveNoUseForToItself) {
  std::vector<StateInfo> states(own_program().states.begin(),
                                own_program().states.end());
  states.push_back({{"param_groups", Type::U8, 1, {64}, tiny::kOffMoment2, 64},
                    StateKind::ParamGroups,
                    {}});
  own_program().states.data = states.data();
  own_program().states.count = int(states.size());
  ASSERT_EQ(create(), GPUOPT_OK) << gpuopt_last_error();
  EXPECT_EQ(gpuopt_tensor_count(p, GPUOPT_STATES), 3u);
  gpuopt_tensor_info tensor;
  EXPECT_EQ(
      invalid(gpuopt_find_tensor(p, GPUOPT_STATES, "param_groups", &tensor))
          .rfind("the program has no state 'param_groups'", 0),
      0u);
  gpuopt_destroy(p);
  p = nullptr;
}

TEST_F(ApiTest, ReadsAndWritesState) {
  ASSERT_EQ(create(), GPUOPT_OK) << gpuopt_last_error();
  const double first = step(0);
  const std::vector<float> trained = weight();
  EXPECT_NE(trained, std::vector<float>(12, 0));
  std::vector<float> zeros(12, 0);
  for (const char *name : {"weight", "weight.m", "weight.v"}) {
    const gpuopt_tensor from{name, GPUOPT_F32, GPUOPT_HOST, zeros.data(), 48};
    ASSERT_EQ(gpuopt_write_state(p, &from), GPUOPT_OK) << gpuopt_last_error();
    std::vector<float> read(12, 1);
    const gpuopt_tensor to{name, GPUOPT_F32, GPUOPT_HOST, read.data(), 48};
    ASSERT_EQ(gpuopt_read_state(p, &to), GPUOPT_OK) << gpuopt_last_error();
    EXPECT_EQ(read, zeros) << name;
  }
  EXPECT_EQ(step(0), first);
}

TEST_F(ApiTest, TheLearningRateIsTheCallers) {
  ASSERT_EQ(create({"--max-steps=10"}), GPUOPT_OK) << gpuopt_last_error();
  ASSERT_EQ(gpuopt_set_learning_rate(p, 0), GPUOPT_OK);
  step(0);
  EXPECT_EQ(weight(), std::vector<float>(12, 0));
  ASSERT_EQ(gpuopt_set_learning_rate(p, 0.5), GPUOPT_OK);
  step(1);
  gpuopt_step_info info;
  ASSERT_EQ(gpuopt_get_step_info(p, &info), GPUOPT_OK);
  EXPECT_EQ(info.learning_rate, 0.5); // no schedule
  EXPECT_EQ(invalid(gpuopt_set_learning_rate(p, -1)),
            "'learning_rate' must be at least 0 and finite, but is -1");
}

TEST_F(ApiTest, ARelativeStepLeavesNoRateToCallers) {
  own_program().optimizer = "adafactor";
  own_program().optimizer_states = {};
  const std::string why =
      " has no effect with --adafactor-relative-step, by which adafactor "
      "chooses the learning rate itself; leave it out, or give "
      "--no-adafactor-relative-step";
  EXPECT_EQ(
      invalid(create({"--adafactor-relative-step", "--learning-rate=0.5"})),
      "'--learning-rate'" + why);
  ASSERT_EQ(create({"--adafactor-relative-step"}), GPUOPT_OK)
      << gpuopt_last_error();
  EXPECT_EQ(invalid(gpuopt_set_learning_rate(p, 0.5)), "'learning_rate'" + why);
}

// The rate that a group sets for itself is multiplied as the other one is, and
// stays so in a checkpoint that is loaded afterwards.
TEST_F(ApiTest, TheRatesOfGroupsFollow) {
  std::vector<StateInfo> states(own_program().states.begin(),
                                own_program().states.end());
  states.push_back({{"param_groups",
                     Type::U8,
                     2,
                     {1, kParamGroupBytes},
                     tiny::kTotal, // behind the arena
                     kParamGroupBytes},
                    StateKind::ParamGroups,
                    {}});
  own_program().states.data = states.data();
  own_program().states.count = int(states.size());
  own_program().arena_bytes += kParamGroupBytes;
  own_program().total_bytes += kParamGroupBytes;
  static const char *const defaults[] = {"--learning-rate=0.1", "--max-steps=9",
                                         "--param-group=weight:lr=0.25"};
  own_program().defaults = defaults;
  static double rate = 0, rate_of_group = 0;
  own_program().update = [](Context &ctx, char *memory) {
    tiny::update(ctx, memory);
    rate = tiny::at<Hyperparameters>(memory, tiny::kOffHyper)->learning_rate;
    rate_of_group =
        tiny::at<ParamGroup>(memory, tiny::kTotal)->hyper.learning_rate;
  };
  ASSERT_EQ(create(), GPUOPT_OK) << gpuopt_last_error();
  step(0);
  EXPECT_EQ(rate, 0.1);
  EXPECT_EQ(rate_of_group, 0.25);
  const std::string saved = folder / "saved";
  ASSERT_EQ(gpuopt_save_checkpoint(p, saved.c_str()), GPUOPT_OK)
      << gpuopt_last_error();
  ASSERT_EQ(gpuopt_set_learning_rate(p, 0.05), GPUOPT_OK);
  step(1);
  EXPECT_EQ(rate, 0.05);
  EXPECT_EQ(rate_of_group, 0.125);
  ASSERT_EQ(gpuopt_load(p, saved.c_str()), GPUOPT_OK) << gpuopt_last_error();
  step(1);
  EXPECT_EQ(rate, 0.05);
  EXPECT_EQ(rate_of_group, 0.125);
  gpuopt_destroy(p); // before the states
  p = nullptr;
}

// The linear schedule would have a rate of 0 if it did not know its end.
TEST_F(ApiTest, WithoutAnEndTheRateStays) {
  ASSERT_EQ(create({"--max-steps=-1", "--warmup-steps=2"}), GPUOPT_OK)
      << gpuopt_last_error();
  std::vector<double> rates;
  for (int64_t i = 0; i < 4; i++) {
    step(i);
    gpuopt_step_info info;
    gpuopt_get_step_info(p, &info);
    rates.push_back(info.learning_rate);
  }
  EXPECT_EQ(rates, (std::vector<double>{0, 0.05, 0.1, 0.1}));
}

TEST_F(ApiTest, GoesOnFromACheckpointOfTheTrainer) {
  ASSERT_EQ(run("a", {"--no-shuffle", "--max-steps=6", "--save-steps=3"}), 0)
      << error;
  ASSERT_EQ(create({"--max-steps=6"}), GPUOPT_OK) << gpuopt_last_error();
  ASSERT_EQ(gpuopt_load(p, (folder / "a/checkpoint-3").c_str()), GPUOPT_OK)
      << gpuopt_last_error();
  const std::vector<double> all = losses("a");
  for (int64_t i = 3; i < 6; i++)
    EXPECT_EQ(step(i), all[size_t(i)]);
  // The folder of the results has the weights alone.
  const std::vector<float> last = weight();
  step(0);
  ASSERT_EQ(gpuopt_load(p, (folder / "a").c_str()), GPUOPT_OK);
  EXPECT_EQ(weight(), last);
}

// Validations lower the rate of a trainer, and what they have made of it stays.
TEST_F(ApiTest, GoesOnWithTheRateThatAPlateauHasLeft) {
  const std::vector<std::string> plateau = {
      "--no-shuffle",    "--max-steps=6",
      "--save-steps=3",  "--lr-scheduler-type=reduce_lr_on_plateau",
      "--lr-patience=0", "--lr-threshold=0.9",
      "--lr-factor=0.5", "--eval-steps=1",
      "--eval-data",     "x=" + folder / "x.npy",
      "--eval-labels",   folder / "labels.npy"};
  ASSERT_EQ(run("a", plateau), 0) << error;
  const double left = numbers("a", "learning_rate")[3];
  ASSERT_LT(left, 0.1);
  auto rate_of_step = [&](int64_t number) {
    step(number);
    gpuopt_step_info info;
    EXPECT_EQ(gpuopt_get_step_info(p, &info), GPUOPT_OK);
    return info.learning_rate;
  };
  const std::string checkpoint = folder / "a/checkpoint-3",
                    saved = folder / "saved";
  ASSERT_EQ(create({"--lr-scheduler-type=reduce_lr_on_plateau"}), GPUOPT_OK)
      << gpuopt_last_error();
  EXPECT_EQ(rate_of_step(0), 0.1);
  ASSERT_EQ(gpuopt_load(p, checkpoint.c_str()), GPUOPT_OK)
      << gpuopt_last_error();
  EXPECT_EQ(rate_of_step(3), left);
  EXPECT_EQ(rate_of_step(4), left); // no validation has lowered it further
  ASSERT_EQ(gpuopt_save_checkpoint(p, saved.c_str()), GPUOPT_OK)
      << gpuopt_last_error();
  // A rate of the caller's is what it says.
  ASSERT_EQ(gpuopt_set_learning_rate(p, 0.05), GPUOPT_OK);
  EXPECT_EQ(rate_of_step(5), 0.05);
  ASSERT_EQ(gpuopt_load(p, saved.c_str()), GPUOPT_OK) << gpuopt_last_error();
  EXPECT_EQ(rate_of_step(5), 0.05);
  // Nor does it stay under another schedule.
  ASSERT_EQ(create({"--lr-scheduler-type=constant"}), GPUOPT_OK);
  ASSERT_EQ(gpuopt_load(p, checkpoint.c_str()), GPUOPT_OK);
  EXPECT_EQ(rate_of_step(3), 0.1);
  // A trainer goes on with it.
  std::vector<std::string> resumed = plateau;
  resumed.push_back("--resume=" + saved);
  ASSERT_EQ(run("b", resumed), 0) << error;
  EXPECT_EQ(numbers("b", "learning_rate").front(), left);
}

TEST_F(ApiTest, TheTrainerGoesOnFromItsCheckpoint) {
  ASSERT_EQ(run("a", {"--no-shuffle", "--max-steps=6"}), 0) << error;
  ASSERT_EQ(create({"--max-steps=6"}), GPUOPT_OK) << gpuopt_last_error();
  for (int64_t i = 0; i < 3; i++)
    step(i);
  const std::string saved = folder / "saved/";
  ASSERT_EQ(gpuopt_save_checkpoint(p, saved.c_str()), GPUOPT_OK)
      << gpuopt_last_error();
  ASSERT_EQ(gpuopt_save_checkpoint(p, saved.c_str()), GPUOPT_OK)
      << gpuopt_last_error(); // in its place
  EXPECT_FALSE(std::filesystem::exists(folder / "saved.part"));
  ASSERT_EQ(
      run("b", {"--no-shuffle", "--max-steps=6", "--resume", folder / "saved"}),
      0)
      << error;
  const std::vector<double> all = losses("a");
  EXPECT_EQ(losses("b"), std::vector<double>(all.begin() + 3, all.end()));
}

// The process may write a comma in numbers, as after setlocale(LC_ALL, "").
TEST_F(ApiTest, WorksUnderAnyLocale) {
  static const char *const defaults[] = {"--learning-rate=0.125",
                                         "--max-steps=9"};
  own_program().defaults = defaults;
  ASSERT_EQ(create(), GPUOPT_OK) << gpuopt_last_error();
  const double first = step(0);
  const std::string saved = folder / "saved", plain = folder / "plain";
  ASSERT_EQ(gpuopt_save_checkpoint(p, plain.c_str()), GPUOPT_OK);
  const CommaLocale locale;
  if (!locale.is_set)
    GTEST_SKIP() << "there is no localedef to make a locale with a comma";
  ASSERT_EQ(create(), GPUOPT_OK) << gpuopt_last_error();
  EXPECT_EQ(step(0), first);
  ASSERT_EQ(gpuopt_save_checkpoint(p, saved.c_str()), GPUOPT_OK)
      << gpuopt_last_error();
  ASSERT_EQ(gpuopt_load(p, saved.c_str()), GPUOPT_OK) << gpuopt_last_error();
  EXPECT_EQ(read_file(saved + "/trainer_state.json"),
            read_file(plain + "/trainer_state.json"));
  EXPECT_EQ(invalid(create({"--adam-beta2=1.5"})),
            "'--adam-beta2' must be at least 0 and below 1, but is 1.5");
  EXPECT_EQ(invalid(create({"--learning-rate=-0.5"})),
            "'--learning-rate' must be at least 0 and at most 1e+38, but is "
            "-0.5");
  EXPECT_STREQ(localeconv()->decimal_point, ",") << "it stays the caller's";
}

TEST_F(ApiTest, SaysWhatIsWrongWithTensors) {
  ASSERT_EQ(create(), GPUOPT_OK) << gpuopt_last_error();
  const std::vector<float> before = weight();
  auto say = [&](auto change) {
    auto inputs = batch(0);
    change(inputs);
    return invalid(gpuopt_step(p, inputs.data(), inputs.size(), nullptr));
  };
  EXPECT_EQ(say([](auto &b) { b.pop_back(); }),
            "the program takes 2 inputs, but got 1; its inputs are 'x' f32 "
            "[8, 4], 'labels' i64 [8]");
  EXPECT_EQ(say([](auto &b) { b[0].name = "y"; }),
            "the program has no input 'y'; its inputs are 'x' f32 [8, 4], "
            "'labels' i64 [8]");
  EXPECT_EQ(say([](auto &b) { b[1] = b[0]; }), "input 'x' is given twice");
  EXPECT_EQ(say([](auto &b) { b[0].type = GPUOPT_F64; }),
            "input 'x' must be of type f32, but is f64");
  EXPECT_EQ(say([](auto &b) { b[0].type = gpuopt_type(0); }),
            "input 'x' must be of type f32, but is of no type: 0");
  EXPECT_EQ(say([](auto &b) { b[0].size_in_bytes = 64; }),
            "input 'x' needs 128 bytes, f32 [8, 4], but got 64");
  EXPECT_EQ(say([](auto &b) { b[0].data = nullptr; }),
            "input 'x' has no data: its pointer is null");
  EXPECT_EQ(say([](auto &b) { b[0].memory = gpuopt_memory(0); }),
            "input 'x' must lie in memory of GPUOPT_HOST or GPUOPT_DEVICE, "
            "but got 0");
  EXPECT_EQ(say([](auto &b) { b[0].memory = GPUOPT_DEVICE; }),
            "input 'x' lies on a device, but the program is of target host, "
            "which has none: give GPUOPT_HOST");
  EXPECT_EQ(say([](auto &b) { static_cast<int64_t *>(b[1].data)[2] = 3; }),
            "element 2 holds 3 for 'labels', but it must lie in [0, 3)");
  EXPECT_EQ(invalid(gpuopt_step(p, nullptr, 2, nullptr)),
            "'inputs' must not be null");
  EXPECT_EQ(weight(), before);
  gpuopt_tensor_info info;
  EXPECT_EQ(invalid(gpuopt_get_tensor_info(p, GPUOPT_OUTPUTS, 0, &info)),
            "there is no output 0: the program has 0");
  EXPECT_EQ(invalid(gpuopt_find_tensor(p, GPUOPT_OUTPUTS, "y", &info)),
            "the program has no output 'y'; it has no outputs");
  EXPECT_EQ(invalid(gpuopt_find_tensor(p, gpuopt_group(9), "y", &info)),
            "there is no group 9 of tensors: give GPUOPT_INPUTS, "
            "GPUOPT_OUTPUTS or GPUOPT_STATES");
  EXPECT_EQ(invalid(gpuopt_step(nullptr, nullptr, 0, nullptr)),
            "'program' must not be null");
}

TEST_F(ApiTest, InputsWithoutNamesComeInOrder) {
  ASSERT_EQ(create(), GPUOPT_OK) << gpuopt_last_error();
  auto inputs = batch(0);
  double by_name = 0, by_place = 0;
  ASSERT_EQ(gpuopt_evaluate(p, inputs.data(), 2, &by_name, nullptr), GPUOPT_OK);
  inputs[0].name = inputs[1].name = nullptr;
  ASSERT_EQ(gpuopt_evaluate(p, inputs.data(), 2, &by_place, nullptr),
            GPUOPT_OK);
  EXPECT_EQ(by_name, by_place);
}

TEST_F(ApiTest, SaysWhatIsWrongWithOptions) {
  EXPECT_EQ(invalid(create({"--momentum=0.9"})),
            "'--momentum' applies only to programs that were compiled with "
            "--optimizer=sgd and a --momentum");
  EXPECT_EQ(p, nullptr);
  EXPECT_EQ(invalid(create({"--eval-steps=3"})),
            "'--eval-steps' is for the trainer's loop, not for a step of it");
  EXPECT_EQ(invalid(create({"--learning-rate=-1"})),
            "'--learning-rate' must be at least 0 and at most 1e+38, but is "
            "-1");
  EXPECT_EQ(invalid(create({"--max-steps=-1", "--warmup-ratio=0.5"})),
            "'--warmup-ratio' is a share of --max-steps, which is not given");
  EXPECT_EQ(invalid(create({"--wait-policy=often"})),
            "'--wait-policy' must be auto, active or passive, but is 'often'");
  EXPECT_NE(invalid(create({"--batch-size=3"})).find("--batch-size"),
            std::string::npos);
  gpuopt_options options;
  gpuopt_options_init(&options);
  options.device = 1;
  EXPECT_EQ(invalid(gpuopt_create(&options, &p)),
            "a program of target host has no device 1; give 0");
  options.device = 0;
  options.num_threads = -1;
  EXPECT_EQ(invalid(gpuopt_create(&options, &p)),
            "'num_threads' must be at least 0 and at most 4096, but is -1");
}

TEST_F(ApiTest, SaysWhatIsWrongWithFiles) {
  ASSERT_EQ(create(), GPUOPT_OK) << gpuopt_last_error();
  const std::string none = folder / "none";
  EXPECT_EQ(refusal(gpuopt_load(p, none.c_str()), GPUOPT_FAILED),
            "there is no file or folder '" + none + "'");
  EXPECT_EQ(invalid(gpuopt_save_checkpoint(p, folder.path.c_str())),
            "'" + folder.path +
                "' exists and is no checkpoint; choose another folder");
  // A checkpoint of another program has such a file, but no checksums.
  std::filesystem::create_directory(folder / "foreign");
  write_file(folder / "foreign/trainer_state.json", "{}");
  EXPECT_EQ(invalid(gpuopt_save_checkpoint(p, (folder / "foreign").c_str())),
            "'" + folder / "foreign" +
                "' exists and is no checkpoint; choose another folder");
  EXPECT_EQ(invalid(gpuopt_save_checkpoint(p, "")),
            "the path of a checkpoint must not be empty");
  step(0);
  ASSERT_EQ(gpuopt_save_checkpoint(p, none.c_str()), GPUOPT_OK);
  own_program().batch_size = 4;
  EXPECT_EQ(refusal(gpuopt_load(p, none.c_str()), GPUOPT_FAILED),
            "'" + none +
                "' is of a run with --batch-size 8, but this one has "
                "4");
  std::vector<float> nans(12, NAN);
  const gpuopt_tensor from{"weight", GPUOPT_F32, GPUOPT_HOST, nans.data(), 48};
  ASSERT_EQ(gpuopt_write_state(p, &from), GPUOPT_OK);
  EXPECT_EQ(
      refusal(gpuopt_save_weights(p, (folder / "lost").c_str()), GPUOPT_FAILED),
      "nothing is saved, because weights are infinite or "
      "NaN: 'weight'");
  EXPECT_FALSE(std::filesystem::exists(folder / "lost"));
}

TEST(Api, LetsNoExceptionOut) {
  EXPECT_EQ(api::guarded([] { throw std::bad_alloc(); }), GPUOPT_FAILED);
  EXPECT_STREQ(gpuopt_last_error(), "the host has no memory left");
  EXPECT_EQ(api::guarded([] { throw 1; }), GPUOPT_FAILED);
  EXPECT_STREQ(gpuopt_last_error(),
               "an exception that is none of std::exception");
  const std::string text(10000, 'x'); // longer than what is kept
  EXPECT_EQ(api::guarded([&] { throw Error(text); }), GPUOPT_FAILED);
  EXPECT_EQ(text.find(gpuopt_last_error()), 0u);
}

TEST_F(ApiTest, SaysWhatTheProgramLacks) {
  own_program().evaluate = nullptr;
  ASSERT_EQ(create(), GPUOPT_OK) << gpuopt_last_error();
  const auto inputs = batch(0);
  double loss = 0;
  EXPECT_EQ(refusal(gpuopt_evaluate(p, inputs.data(), 2, &loss, nullptr),
                    GPUOPT_UNSUPPORTED),
            "the program has no evaluation: compile it with one");
  EXPECT_EQ(refusal(gpuopt_forward(p, inputs.data(), 2, nullptr, 0),
                    GPUOPT_UNSUPPORTED),
            "the program has no forward: compile it with --inference");
  own_program().micro_step = nullptr;
  EXPECT_EQ(
      refusal(gpuopt_step(p, inputs.data(), 2, nullptr), GPUOPT_UNSUPPORTED),
      "the program computes the forward alone: compile it without "
      "--inference to train it");
}

} // namespace
} // namespace gpuopt
