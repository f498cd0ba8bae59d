// Exceptions for what a GPU, or a manual, forbids. Neither exception leaves the
// emulation: the library's function that runs into one returns an error, and
// the library's own text of that error is the message.
#pragma once

#include <stdexcept>
#include <string>

namespace gpuopt::emulation {

// Work that had begun has failed. As on a GPU, nothing runs after it: all
// further calls return the same error.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A call was refused before anything had begun; later calls work as before.
template <class Status>
struct Refusal : std::runtime_error {
  Refusal(Status status, const std::string &message)
      : std::runtime_error(message), status(status) {}
  Status status;
};

} // namespace gpuopt::emulation
