#include "emulation/cudart/schedule.h"

#include "emulation/machine/random.h"

#include <algorithm>
#include <cassert>

namespace gpuopt::emulation {

static void remove_done(Completions &completions) {
  std::erase_if(completions,
                [](const CompletionPtr &c) { return !c || c->is_done; });
}

CompletionPtr Schedule::add(Work work, const Completions &after, int stream) {
  auto completion = std::make_shared<Completion>();
  pending.push_back({std::move(work), after, completion, stream});
  remove_done(pending.back().after);
  return completion;
}

// Pending work only waits for earlier work, so the first is always ready.
size_t Schedule::pick() {
  ready.clear();
  for (size_t i = 0; i < pending.size(); i++) {
    remove_done(pending[i].after);
    if (pending[i].after.empty())
      ready.push_back(i);
  }
  if (machine_random().below(2) > 0)
    for (size_t i : ready)
      if (pending[i].stream == last_stream)
        return i;
  assert(!ready.empty());
  return ready[machine_random().below(ready.size())];
}

void Schedule::run_one() {
  const size_t at = pick();
  const Item item = pending[at];
  pending.erase(pending.begin() + ptrdiff_t(at));
  last_stream = item.stream;
  item.completion->is_done = true; // also where the work throws
  if (item.work)
    (*item.work)();
  item.completion->time = std::chrono::steady_clock::now();
}

// Streams remember the completions, so that later work does not wait for them.
void Schedule::discard() {
  for (const Item &item : pending)
    item.completion->is_done = true;
  pending.clear();
}

void Schedule::run_until(const CompletionPtr &wanted) {
  while (wanted && !wanted->is_done)
    run_one();
}

void Schedule::run_all() {
  while (!pending.empty())
    run_one();
}

} // namespace gpuopt::emulation
