// How C++ errors become a gpuopt_status with a message.
#pragma once

#include "gpuopt/device/error.h"
#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/gpuopt.h"

#include <exception>

namespace gpuopt::api {

// An error that the caller can avoid, which has changed nothing.
struct Refusal : Error {
  Refusal(gpuopt_status status, const std::string &text)
      : Error(text), status(status) {}
  gpuopt_status status;
};

inline Refusal invalid(const std::string &text) {
  return {GPUOPT_INVALID_ARGUMENT, text};
}
inline Refusal unsupported(const std::string &text) {
  return {GPUOPT_UNSUPPORTED, text};
}

inline void refuse_null(const void *pointer, const char *name) {
  if (!pointer)
    throw invalid("'" + std::string(name) + "' must not be null");
}

// The message of the thread's last error. It is an array because keeping a
// message must not fail.
inline char (&last_error())[4096] {
  static thread_local char text[4096] = "";
  return text;
}

inline gpuopt_status report(gpuopt_status status, const char *text) {
  snprintf(last_error(), sizeof last_error(), "%s", text);
  return status;
}

// Runs f; no exception leaves it. What it reads and says has a point in
// numbers, whatever the caller's locale.
template <class F>
gpuopt_status guarded(F f) noexcept {
  const PlainNumbers plain;
  try {
    f();
    return GPUOPT_OK;
  } catch (const Refusal &refusal) {
    return report(refusal.status, refusal.what());
  } catch (const std::exception &error) {
    return report(GPUOPT_FAILED, error_text(error));
  } catch (...) {
    return report(GPUOPT_FAILED, "an exception that is none of std::exception");
  }
}

} // namespace gpuopt::api
