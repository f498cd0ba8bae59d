// Numbers as texts that are the same wherever a program runs: with a point, and
// without marks between thousands. Programs themselves never set a locale, but
// the process that calls their C API may have, as by setlocale(LC_ALL, "") in a
// country that writes a comma; then printf, strtod and streams follow it.
//
// std::to_chars and std::from_chars follow none, but the latter accepts less
// than strtod does: it refuses "+1" and "1e400", which flags may have.
//
// This file is C++17, as the compiler is.
#pragma once

#include <clocale>
#include <cstdlib>
#include <locale>
#include <sstream>

namespace gpuopt {

// As long as it lives, C functions of this thread follow the locale "C".
class PlainNumbers {
public:
  PlainNumbers() : before(uselocale(plain())) {}
  ~PlainNumbers() { uselocale(before); }
  PlainNumbers(const PlainNumbers &) = delete;
  PlainNumbers &operator=(const PlainNumbers &) = delete;

private:
  static locale_t plain() {
    static const locale_t locale = newlocale(LC_ALL_MASK, "C", locale_t());
    return locale;
  }
  const locale_t before;
};

// Reads a number as strtod does.
inline double read_number(const char *text, char **end) {
  const PlainNumbers plain;
  return strtod(text, end);
}

// A text that is written like a stream.
struct PlainStream : std::ostringstream {
  PlainStream() { imbue(std::locale::classic()); }
};

} // namespace gpuopt
