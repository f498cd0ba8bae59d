// The one emulated device: its memory, its pending work, and how calls end.
#pragma once

#include "emulation/cudart/memory.h"
#include "emulation/cudart/schedule.h"
#include "emulation/machine/fault.h"

#include <mutex>
#include <string>

namespace gpuopt::emulation {

// The facts that the machine says of itself. Tests pretend to be others.
struct Machine {
  int compute_capability = 90; // 9.0
  int driver_version = 13000;  // 0: no driver is loaded
  int device_count = 1;        // 0: CUDA finds no GPU
  size_t cudnn_version = 0;    // 0: that of the headers
  bool has_engines = true;     // of cuDNN's graph interface
  int engine_failure = 0;      // the cudnnStatus_t of its heuristic, if not 0
};

struct Device {
  Machine machine;
  Memory memory;
  Schedule schedule;
  std::recursive_mutex mutex; // held by each call of a library
  std::string lost;           // why no work runs any more, or empty

  // These make the device's memory accessible to the work that they run.
  void run_until(const CompletionPtr &wanted);
  void run_all();
};
Device &device();

// The text behind the last refusal or fault, for the libraries' functions that
// turn a status into text. Null if that had another status.
const char *message_of(int library, int status);
// That text of a library, whatever the status was.
const std::string &last_message_of(int library);
void keep_message(int library, int status, const std::string &text);

// The code of a call of one of the three libraries. `Library` says which
// library, which status means success, and which one means that work failed.
template <class Library, class Body>
typename Library::Status call(Body body) {
  const std::lock_guard<std::recursive_mutex> lock(device().mutex);
  if (!device().lost.empty()) {
    keep_message(Library::kNumber, Library::kFailure, device().lost);
    return Library::kFailure;
  }
  try {
    body();
    return Library::kSuccess;
  } catch (const Refusal<typename Library::Status> &refusal) {
    keep_message(Library::kNumber, refusal.status, refusal.what());
    return refusal.status;
  } catch (const Fault &fault) {
    device().lost = fault.what();
    device().schedule.discard();
    keep_message(Library::kNumber, Library::kFailure, fault.what());
    return Library::kFailure;
  } catch (const std::exception &other) { // a refusal of another library's
    keep_message(Library::kNumber, Library::kFailure, other.what());
    return Library::kFailure;
  }
}

} // namespace gpuopt::emulation
