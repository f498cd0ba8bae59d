// Prints what a schedule makes of the learning rate. For test_schedules.py.
//
//   schedule_trace steps FLAG=VALUE...   the factor of each update
//   schedule_trace losses FLAG=VALUE...  after each loss of the standard input,
//                                        that of reduce_lr_on_plateau
#include "gpuopt/optimizers/lr_schedule.h"
#include "gpuopt/trainer/validations.h"

#include <iostream>

using namespace gpuopt;

static void set(const std::string &flag, TrainingSettings &s) {
  const size_t equals = flag.find('=');
  const std::string name = flag.substr(0, equals),
                    text = flag.substr(equals + 1);
  const SettingInfo *setting = find_setting(name);
  if (!setting)
    throw Error("there is no flag --" + name);
  const Field &field = setting->field;
  if (field.choice)
    s.*field.choice = choice_number(field, text);
  else if (field.integer)
    s.*field.integer = std::stoll(text);
  else
    s.*field.number = std::stod(text);
}

int main(int argc, char **argv) {
  TrainingSettings s;
  for (int i = 2; i < argc; i++)
    set(argv[i], s);
  if (std::string(argv[1]) == "steps") {
    for (int64_t step = 0; step < s.max_steps; step++)
      printf("%.17g\n", schedule_factor(s, step));
    return 0;
  }
  ValidationHistory history;
  for (double loss = 0; std::cin >> loss;) {
    note_validation(s, history.count + 1, loss, loss, history);
    printf("%.17g\n", history.lr_factor);
  }
  return 0;
}
