// Notices numbers that are infinite or NaN, and warns of them.
#pragma once

#include "gpuopt/program/program.h"
#include "gpuopt/trainer/advice.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace gpuopt {

// Returns a NaN without its sign, which means nothing, for printing.
inline double without_nan_sign(double value) {
  return value != value ? double(NAN) : value;
}

// "'a', 'b' (where it is), 'c' and 4 more".
class NameList {
public:
  explicit NameList(int most = 3) : most(most) {}
  void add(const char *name, const std::string &place = "") {
    if (count++ < most)
      names += std::string(names.empty() ? "'" : ", '") + name + "'" +
               (place.empty() ? "" : " (" + place + ")");
  }
  bool empty() const { return count == 0; }
  std::string text() const {
    return count > most
               ? names + " and " + std::to_string(count - most) + " more"
               : names;
  }

private:
  int most; // names that are in the text
  std::string names;
  int count = 0;
};

// Names the gradients whose sum of squares is not finite.
inline std::string overflowing_gradients(const Program &program,
                                         const std::vector<double> &partials) {
  NameList names;
  for (int i = 0; i < program.gradients.count; i++) {
    const bool is_last = i + 1 == program.gradients.count;
    const int64_t first = program.gradients.data[i].first_partial;
    const int64_t end = is_last ? program.partials
                                : program.gradients.data[i + 1].first_partial;
    bool overflows = false;
    for (int64_t k = first; k < end; k++)
      overflows |= !is_finite(partials[size_t(k)]);
    if (overflows)
      names.add(program.gradients.data[i].name);
  }
  return names.text();
}

namespace detail {

// In a file, tensors may begin at any byte.
template <class T>
bool all_finite(const void *data, size_t bytes) {
  for (size_t i = 0; i < bytes / sizeof(T); i++) {
    T value;
    memcpy(&value, static_cast<const char *>(data) + i * sizeof value,
           sizeof value);
    if (!is_finite(double(load_scalar(&value))))
      return false;
  }
  return true;
}

inline bool all_finite(Type type, const void *data, size_t bytes) {
  switch (type) {
  case Type::F64:
    return all_finite<double>(data, bytes);
  case Type::F32:
    return all_finite<float>(data, bytes);
  case Type::F16:
    return all_finite<f16>(data, bytes);
  case Type::BF16:
    return all_finite<bf16>(data, bytes);
  default:
    return true;
  }
}

} // namespace detail

// Looks at each step and warns: once about a loss, a few times about a result,
// and about a run of skipped steps.
class FiniteWatch {
public:
  // Returns where the sample lies that is at a place in the batch, in the data
  // of an input; empty if that is not known.
  using PlaceOf = std::function<std::string(int input, int64_t place)>;

  // Puts an earlier batch into the inputs again, 1 for the last one.
  using DeliverAgain = std::function<void(int64_t back)>;

  FiniteWatch(Context &ctx, const Program &program, char *memory,
              PlaceOf place_of, DeliverAgain deliver_again)
      : ctx(ctx), program(program), memory(memory),
        place_of(std::move(place_of)), deliver_again(std::move(deliver_again)) {
  }

  // Checks the inputs after a batch has come, for --debug-overflow.
  void batch() {
    if (program.checked.count && inputs.empty())
      inputs = inputs_not_finite();
  }

  // A step is done. `scale_is_least` says that its loss scale cannot fall.
  void step(int64_t number, double loss, const StepState &state,
            bool scale_is_least = false) {
    if (state.first_not_finite >= 0 && results_told++ < kMostResultsTold)
      tell_result(number, state.first_not_finite);
    is_spoilt = !state.scaler.found_inf && !is_finite(state.grad_norm);
    has_loss = is_finite(loss);
    if ((is_spoilt || !has_loss) && !has_warned) {
      has_warned = true;
      warn_of_loss(number, loss, state);
    }
    if (state.scaler.skipped_in_a_row == kSkippedBeforeWarning)
      warn_of_skipping(state.scaler);
    stuck_steps =
        state.scaler.found_inf && scale_is_least ? stuck_steps + 1 : 0;
    inputs.clear();
  }

  // Whether the last step's update used gradients that are not finite, so that
  // weights are not finite now; or whether so many steps in a row were skipped
  // at the least loss scale that no later one will be good.
  bool weights_are_lost() const {
    return is_spoilt || stuck_steps >= kMostStuckSteps;
  }
  // Whether what the weights compute seems not to be finite, so that a
  // checkpoint of them should replace no other: steps are skipped at the least
  // loss scale, several in a row or without a finite loss. A single one with a
  // finite loss may be due to its batch.
  bool is_stuck() const {
    return stuck_steps >= kFewStuckSteps || (stuck_steps > 0 && !has_loss);
  }
  // Returns the first step of those that have lost the weights, the last of
  // which is `last`.
  int64_t lost_since(int64_t last) const {
    return last - std::max<int64_t>(stuck_steps - 1, 0);
  }
  // Says why weights are lost that are finite.
  std::string why_stuck() const {
    return stuck_steps < kMostStuckSteps
               ? ""
               : "; from it on " + std::to_string(stuck_steps) +
                     " steps in a row were skipped at the least loss scale";
  }
  // Whether the last step had no finite loss.
  bool loss_is_lost() const { return !has_loss; }

private:
  static constexpr int kMostResultsTold = 20;
  // The number of skipped steps in a row after which a warning comes, once for
  // each such run.
  static constexpr int64_t kSkippedBeforeWarning = 20;
  static constexpr int64_t kFewStuckSteps = 3, kMostStuckSteps = 50;

  std::string inputs_not_finite() {
    NameList names;
    for (int i = 0; i < program.inputs.count; i++) {
      const TensorInfo &tensor = program.inputs.data[i].tensor;
      std::vector<char> copy(tensor.bytes);
      copy_to_host(ctx, copy.data(), memory + tensor.offset, copy.size());
      if (!detail::all_finite(tensor.type, copy.data(), copy.size()))
        names.add(tensor.name, first_place(i, copy));
    }
    return names.text();
  }
  // Looks at the data of all of a step's batches. The memory has the last one;
  // those before it are read again; what keeps one from being read tells
  // nothing.
  std::string inputs_of_step_not_finite() {
    std::string names = inputs_not_finite();
    try {
      for (int64_t back = 2;
           names.empty() && back <= program.accumulation_steps; back++) {
        deliver_again(back);
        names = inputs_not_finite();
      }
    } catch (const std::exception &) {
    }
    return names;
  }
  // Returns where the first sample of a batch lies that is not finite; empty if
  // that is not known, as of an input that is one for all samples.
  std::string first_place(int input, const std::vector<char> &batch) const {
    const TensorInfo &tensor = program.inputs.data[input].tensor;
    if (tensor.rank == 0 || tensor.shape[0] != program.batch_size)
      return "";
    const size_t bytes = batch.size() / size_t(program.batch_size);
    int64_t sample = 0;
    while (detail::all_finite(tensor.type,
                              batch.data() + size_t(sample) * bytes, bytes))
      sample++;
    return place_of(input, sample);
  }

  void tell_result(int64_t number, int64_t result) {
    if (!inputs.empty())
      fprintf(stderr,
              "%s: step %lld: the data of input %s is infinite or NaN\n",
              program.name, static_cast<long long>(number), inputs.c_str());
    fprintf(stderr,
            "%s: step %lld: '%s' is the first that is infinite or "
            "NaN\n",
            program.name, static_cast<long long>(number),
            program.checked.data[result]);
  }

  void warn_of_loss(int64_t number, double loss, const StepState &state) {
    if (inputs.empty())
      inputs = inputs_of_step_not_finite();
    fprintf(stderr,
            "%s: warning: step %lld: the loss is %g, the gradients' norm %g%s. "
            "%s\n",
            program.name, static_cast<long long>(number), loss,
            without_nan_sign(state.grad_norm),
            is_spoilt                ? ", and the weights are lost"
            : state.scaler.found_inf ? "; the step is skipped"
                                     : "; training goes on",
            advice().c_str());
  }
  std::string advice() const {
    if (!inputs.empty())
      return "The data of input " + inputs + " is infinite or NaN: mend it";
    return std::string("Try ") + kHelpAgainstDivergence +
           (program.checked.count ? ""
                                  : "; compiled with --debug-overflow, the "
                                    "trainer names the op that begins it");
  }

  void warn_of_skipping(const LossScaler &scaler) {
    std::vector<double> partials(size_t(program.partials));
    copy_to_host(ctx, partials.data(), memory + program.partials_offset,
                 partials.size() * sizeof(double));
    fprintf(stderr,
            "%s: warning: %lld steps in a row were skipped, the last one at a "
            "loss scale of %g: gradients of %s are infinite or NaN%s\n",
            program.name, static_cast<long long>(scaler.skipped_in_a_row),
            double(scaler.scale),
            overflowing_gradients(program, partials).c_str(),
            program.checked.count ? ""
                                  : "; compiled with --debug-overflow, it "
                                    "names the op that begins it");
  }

  Context &ctx;
  const Program &program;
  char *memory;
  const PlaceOf place_of;
  const DeliverAgain deliver_again;
  std::string inputs; // not finite in a batch of this step
  int results_told = 0;
  int64_t stuck_steps = 0; // in a row
  bool is_spoilt = false, has_loss = true, has_warned = false;
};

} // namespace gpuopt
