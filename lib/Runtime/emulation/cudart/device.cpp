#include "emulation/cudart/device.h"

#include <map>

namespace gpuopt::emulation {

Device &device() {
  // The device is never destroyed, because destructors of the program call it.
  static Device &the_device = *new Device;
  return the_device;
}

namespace {
struct OpenMemory {
  OpenMemory() { device().memory.open(); }
  ~OpenMemory() { device().memory.close(); }
};
} // namespace

void Device::run_until(const CompletionPtr &wanted) {
  if (!wanted || wanted->is_done)
    return;
  const OpenMemory open;
  schedule.run_until(wanted);
}

void Device::run_all() {
  if (schedule.is_empty())
    return;
  const OpenMemory open;
  schedule.run_all();
}

namespace {
struct Message {
  int status = 0;
  std::string text;
};
std::map<int, Message> messages; // by library
} // namespace

const char *message_of(int library, int status) {
  const Message &message = messages[library];
  return message.status == status && !message.text.empty()
             ? message.text.c_str()
             : nullptr;
}

const std::string &last_message_of(int library) {
  return messages[library].text;
}

void keep_message(int library, int status, const std::string &text) {
  messages[library] = {status, text};
}

} // namespace gpuopt::emulation
