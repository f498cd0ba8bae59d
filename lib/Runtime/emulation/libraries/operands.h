// Checks the operands of libraries' calls: all of them must lie in memory of
// the device, and no result may overlap an operand.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gpuopt::emulation {

class Operands {
public:
  explicit Operands(std::string call) : call(std::move(call)) {}

  // Notes an operand; `name` is for messages. Empty ranges are left out.
  void reads(const std::string &name, const void *data, size_t bytes);
  void writes(const std::string &name, const void *data, size_t bytes);

  // Fills a workspace as a library leaves it: with numbers that mean nothing.
  static void spoil(void *workspace, size_t bytes);

private:
  struct Range {
    std::string name;
    const char *begin, *end;
    bool is_written;
  };
  void add(const std::string &name, const void *data, size_t bytes,
           bool is_written);

  std::string call;
  std::vector<Range> ranges;
};

} // namespace gpuopt::emulation
