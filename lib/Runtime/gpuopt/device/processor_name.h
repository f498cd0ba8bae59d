// How the processor calls itself. This file is C++17, as the compiler is.
#pragma once

#include <fstream>
#include <string>

namespace gpuopt {

// Returns "host" where the system does not tell.
inline std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") < line.size())
      return line.substr(line.find(": ") + 2);
  return "host";
}

} // namespace gpuopt
