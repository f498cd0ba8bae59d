// The signals at which a run ends after its step, with its work saved.
#pragma once

#include <csignal>

namespace gpuopt {

namespace detail {
inline volatile std::sig_atomic_t interrupted = 0;
} // namespace detail

// Has a signal set `interrupted`: those of terminals, of systems that run jobs
// or containers, of a terminal that is closed, and of a pipe whose reader has
// ended. A run that nohup has begun goes on when its terminal is closed.
inline void note_signals() {
  const auto note = [](int) { detail::interrupted = 1; };
  for (int signal : {SIGINT, SIGTERM, SIGPIPE})
    std::signal(signal, note);
  if (std::signal(SIGHUP, note) == SIG_IGN)
    std::signal(SIGHUP, SIG_IGN);
}

} // namespace gpuopt
