// Reads of mapped files that lose bytes meanwhile, because another program cuts
// them, or writes them again from their beginning. The system raises SIGBUS
// where such bytes are read, which would end the process without a word.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace gpuopt {

namespace detail {
// What learns that this thread has read bytes that are gone; null: the thread
// reads nothing that may go.
inline thread_local std::atomic<bool> *volatile mapped_bytes_are_gone = nullptr;
inline struct sigaction earlier_bus_action;
inline uintptr_t bytes_of_page = 0;

// Does what would be done without on_bus_error.
inline void do_earlier_bus_action(int signal, siginfo_t *info, void *context) {
  const struct sigaction &earlier = earlier_bus_action;
  if (earlier.sa_flags & SA_SIGINFO)
    return earlier.sa_sigaction(signal, info, context);
  if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN)
    return earlier.sa_handler(signal);
  // The access that has failed fails again; what a process has sent has to be
  // sent again.
  sigaction(SIGBUS, &earlier, nullptr);
  if (info->si_code <= 0)
    raise(signal);
}
// Puts zeros in place of the page that is gone, so that the access succeeds.
// The flag is set before, so that no thread reads these zeros without it.
inline void on_bus_error(int signal, siginfo_t *info, void *context) {
  std::atomic<bool> *const are_gone = mapped_bytes_are_gone;
  if (!are_gone || info->si_code != BUS_ADRERR)
    return do_earlier_bus_action(signal, info, context);
  are_gone->store(true);
  const int error = errno;
  const uintptr_t page =
      reinterpret_cast<uintptr_t>(info->si_addr) / bytes_of_page;
  const void *zeros =
      mmap(reinterpret_cast<void *>(page * bytes_of_page), bytes_of_page,
           PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  errno = error;
  if (zeros == MAP_FAILED)
    do_earlier_bus_action(signal, info, context);
}
inline bool note_bus_errors() {
  bytes_of_page = uintptr_t(sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGBUS, &action, &earlier_bus_action) == 0;
}
} // namespace detail

// While it lives, bytes of mapped files that are gone are zeros for its thread,
// and `are_gone` is set once it has read one. These zeros stay: another thread
// may read them after that, so that several of them have the same flag, and
// what any of them has read since counts only while the flag is not set.
class MappedReads {
public:
  explicit MappedReads(std::atomic<bool> &are_gone) {
    [[maybe_unused]] static const bool is_noted = detail::note_bus_errors();
    detail::mapped_bytes_are_gone = &are_gone;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~MappedReads() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    detail::mapped_bytes_are_gone = nullptr;
  }
  MappedReads(const MappedReads &) = delete;
  MappedReads &operator=(const MappedReads &) = delete;
};

} // namespace gpuopt
