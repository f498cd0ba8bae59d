// A locale whose numbers have a comma, made for a test, since a machine may
// have none.
#pragma once

#include "Files.h"

#include <clocale>
#include <cstdlib>
#include <locale>

namespace gpuopt {

// As long as it lives, C functions and new streams write 1.234,5 for 1234.5,
// unless is_set is false: then localedef is missing.
class CommaLocale {
public:
  CommaLocale() {
    write_file(folder / "source", "LC_NUMERIC\ndecimal_point \",\"\n"
                                  "thousands_sep \".\"\ngrouping 3;3\n"
                                  "END LC_NUMERIC\n");
    // The status is that of its warnings: there are no other categories.
    const std::string name = "comma",
                      command = "localedef --no-archive --force -i " +
                                folder / "source" + " -f ANSI_X3.4-1968 " +
                                folder / name + " > /dev/null 2>&1";
    [[maybe_unused]] const int status = system(command.c_str());
    setenv("LOCPATH", folder.path.c_str(), 1);
    is_set = setlocale(LC_ALL, name.c_str()) != nullptr;
    if (is_set)
      std::locale::global(std::locale(name));
  }
  ~CommaLocale() {
    std::locale::global(std::locale::classic());
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
  }
  CommaLocale(const CommaLocale &) = delete;
  CommaLocale &operator=(const CommaLocale &) = delete;

  bool is_set = false;

private:
  TemporaryFolder folder;
};

} // namespace gpuopt
