// The work of all streams that has not run yet. Work runs when somebody waits
// for it, no earlier, in any random order that streams and events allow. So a
// program that relies on an order that nothing enforces soon sees another one.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace gpuopt::emulation {

using Work = std::shared_ptr<const std::function<void()>>;
inline Work make_work(std::function<void()> function) {
  return std::make_shared<const std::function<void()>>(std::move(function));
}

// Tells whether a piece of work has run, and when.
struct Completion {
  bool is_done = false;
  std::chrono::steady_clock::time_point time;
};
using CompletionPtr = std::shared_ptr<Completion>;
using Completions = std::vector<CompletionPtr>;

class Schedule {
public:
  // Adds work that runs after all of `after`; null work does nothing. Work of
  // one stream tends to run in a row, so that the others fall far behind.
  CompletionPtr add(Work work, const Completions &after, int stream);

  void run_until(const CompletionPtr &wanted);
  void run_all();
  void discard();
  bool is_empty() const { return pending.empty(); }

private:
  struct Item {
    Work work;
    Completions after;
    CompletionPtr completion;
    int stream;
  };
  void run_one();
  size_t pick();

  std::vector<Item> pending; // in the order in which it was added
  std::vector<size_t> ready;
  int last_stream = -1;
};

} // namespace gpuopt::emulation
