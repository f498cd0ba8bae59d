// The signals at which a run ends after its step, with its work saved, and one
// that ends none.
#pragma once

#include <csignal>

namespace gpuopt {

namespace detail {
inline volatile std::sig_atomic_t interrupted = 0;
} // namespace detail

// Has a signal set `interrupted`: those of terminals, of systems that run jobs
// or containers, of a terminal that is closed, and of a pipe whose reader has
// ended. A run that nohup has begun goes on when its terminal is closed. What
// is written beyond the limit of `ulimit -f` is an error, as on a full disk.
inline void note_signals() {
  const auto note = [](int) { detail::interrupted = 1; };
  for (int signal : {SIGINT, SIGTERM, SIGPIPE})
    std::signal(signal, note);
  if (std::signal(SIGHUP, note) == SIG_IGN)
    std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

} // namespace gpuopt
