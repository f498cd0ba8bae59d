// Which steps of a run are profiled: "wait=1,warmup=1,active=3,repeat=1", with
// the names and the meaning of torch.profiler.schedule.
//
// This file is C++17, as the compiler is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace gpuopt {

struct ProfileSchedule {
  int64_t wait = 0;   // steps of a cycle that run as always
  int64_t warmup = 1; // then, steps whose times are thrown away
  int64_t active = 3; // then, steps that are profiled
  int64_t repeat = 1; // cycles; 0: until the run ends

  int64_t cycle() const { return wait + warmup + active; }
  // Whether the calls of a step are timed: it is active, or warms up. Steps of
  // a run count from 1.
  bool covers(int64_t step) const {
    return is_within(step) && place(step) >= wait;
  }
  bool is_active(int64_t step) const {
    return is_within(step) && place(step) >= wait + warmup;
  }
  bool ends_cycle(int64_t step) const {
    return is_within(step) && place(step) == cycle() - 1;
  }

private:
  bool is_within(int64_t step) const {
    return step > 0 && (repeat == 0 || (step - 1) / cycle() < repeat);
  }
  int64_t place(int64_t step) const { return (step - 1) % cycle(); }
};

// Reads a schedule; names that are not given keep their defaults. Returns why
// the text is none, or nothing.
inline std::string parse_profile_schedule(const std::string &text,
                                          ProfileSchedule &schedule) {
  struct {
    const char *name;
    int64_t *value;
    int64_t least, most;
  } const fields[] = {{"wait", &schedule.wait, 0, 1000000000},
                      {"warmup", &schedule.warmup, 0, 1000000},
                      {"active", &schedule.active, 1, 100000},
                      {"repeat", &schedule.repeat, 0, 1000000}};
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const size_t equals = part.find('=');
    bool is_known = false;
    for (const auto &field : fields) {
      if (part.substr(0, equals) != field.name)
        continue;
      const std::string number =
          equals == std::string::npos ? "" : part.substr(equals + 1);
      char *stop = nullptr;
      const long long value = strtoll(number.c_str(), &stop, 10);
      if (number.empty() || *stop || value < field.least || value > field.most)
        return std::string("expects '") + field.name +
               "' to be a whole number of at least " +
               std::to_string(field.least) + " and at most " +
               std::to_string(field.most) + ", but got '" + part + "'";
      *field.value = value;
      is_known = true;
    }
    if (!is_known)
      return "expects wait, warmup, active or repeat with a number, as in "
             "'wait=1,warmup=1,active=3,repeat=1', but got '" +
             part + "'";
    at = end + 1;
  }
  return "";
}

} // namespace gpuopt
