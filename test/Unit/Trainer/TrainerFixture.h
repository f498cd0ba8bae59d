// trainer_main around a program written by hand, on data that it can learn.
#pragma once

#include "Files.h"
#include "TinyProgram.h"
#include "Values.h"

#include "gpuopt/trainer/trainer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

namespace gpuopt {

// The limit fails writes as a full disk does.
inline void limit_files_to(rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_FSIZE, &limit);
}

struct TrainerTest : testing::Test {
  TrainerTest() : program(tiny::program()) {
    x = random_values<float>(64 * 4, 1);
    for (int i = 0; i < 64; i++)
      labels.push_back(
          uint8_t(std::max_element(&x[size_t(i) * 4], &x[size_t(i) * 4 + 3]) -
                  &x[size_t(i) * 4]));
    write_file(folder / "x.npy", npy("<f4", "(64, 4)", bytes_of(x)));
    write_file(folder / "labels.npy", npy("|u1", "(64,)", bytes_of(labels)));
    const std::vector<float> zeros(12, 0);
    write_safetensors(folder / "start",
                      {{"weight", Type::F32, {4, 3}, zeros.data(), 48}});
  }
  ~TrainerTest() override { detail::interrupted = 0; }
  // Runs with the usual files; returns the exit status.
  int run(const std::string &out, std::vector<std::string> flags) {
    // What a test gives in place of a usual file takes its flag's place.
    std::vector<std::string> usual = {"tiny", "--data",
                                      "x=" + folder / "x.npy"};
    for (const auto &[flag, path] :
         {std::pair<std::string, std::string>{"--weights", folder / "start"},
          {"--labels", folder / "labels.npy"},
          {"--output-dir", folder / out}})
      if (std::none_of(flags.begin(), flags.end(), [&](const auto &given) {
            return given.substr(0, given.find('=')) == flag;
          }))
        usual.insert(usual.end(), {flag, path});
    flags.insert(flags.begin(), usual.begin(), usual.end());
    if (overwrites)
      flags.push_back("--overwrite-output-dir");
    std::vector<char *> argv;
    for (std::string &flag : flags)
      argv.push_back(flag.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = trainer_main(int(argv.size()), argv.data(), program);
    output = testing::internal::GetCapturedStdout();
    error = testing::internal::GetCapturedStderr();
    return status;
  }
  // The numbers that metrics.jsonl has under a key; NaN for null.
  std::vector<double> numbers(const std::string &out, const std::string &key) {
    std::ifstream file(folder / (out + "/metrics.jsonl"));
    const std::string quoted = "\"" + key + "\": ";
    std::vector<double> all;
    for (std::string line; std::getline(file, line);)
      if (const size_t at = line.find(quoted); at != std::string::npos) {
        const std::string text = line.substr(at + quoted.size());
        all.push_back(text.rfind("null", 0) == 0 ? NAN : std::stod(text));
      }
    return all;
  }
  std::vector<double> losses(const std::string &out) {
    return numbers(out, "loss");
  }
  // Returns the loss of the weights that a run has saved, over the first
  // samples, in double.
  double loss_of(const std::string &out, int samples) {
    const MappedFile file(folder / (out + "/model.safetensors"));
    float weight[12];
    memcpy(weight, read_safetensors(file).at("weight").data, sizeof weight);
    double sum = 0;
    for (int i = 0; i < samples; i++) {
      double total = 0, picked = 0;
      for (int k = 0; k < 3; k++) {
        double logit = 0;
        for (int j = 0; j < 4; j++)
          logit += double(x[size_t(i * 4 + j)]) * double(weight[j * 3 + k]);
        total += std::exp(logit);
        picked += k == labels[size_t(i)] ? logit : 0;
      }
      sum += std::log(total) - picked;
    }
    return sum / samples;
  }
  // The first samples, in files of their own.
  void write_first(int samples) {
    const std::string count = std::to_string(samples);
    write_file(folder / "x-some.npy",
               npy("<f4", "(" + count + ", 4)",
                   bytes_of(x).substr(0, size_t(samples) * 16)));
    write_file(folder / "labels-some.npy",
               npy("|u1", "(" + count + ",)",
                   bytes_of(labels).substr(0, size_t(samples))));
  }
  TemporaryFolder folder;
  Program program;
  std::vector<float> x;
  std::vector<uint8_t> labels;
  std::string output, error;
  bool overwrites = false; // whether a run takes the folder of an earlier one
};

} // namespace gpuopt
