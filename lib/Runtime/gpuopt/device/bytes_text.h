// Amounts of memory as people read them. The compiler includes this file as
// well, so that a plan and the run of its program tell the same amounts; it is
// C++17.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

namespace gpuopt {

// Returns text such as "611.3 MiB": three to four digits and a binary unit.
// Below 10 KiB it has all bytes. It is rounded up, so that an amount that is
// called enough is enough.
inline std::string human_bytes(double bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  char text[32];
  if (bytes < 10 * 1024) {
    snprintf(text, sizeof text, "%.0f B", bytes);
    return text;
  }
  int unit = 0;
  for (; bytes >= 1000 && unit < 4; unit++)
    bytes /= 1024;
  const double digits = bytes < 10 ? 100 : 10;
  snprintf(text, sizeof text, bytes < 10 ? "%.2f %s" : "%.1f %s",
           std::ceil(bytes * digits) / digits, units[unit]);
  return text;
}

} // namespace gpuopt
