// --name=value, --name value, --name and --no-name, by a table.
#pragma once

#include "gpuopt/device.h"

#include <functional>
#include <map>

namespace gpuopt {

class Flags {
public:
  using Set = std::function<void(const std::string &)>;

  void value(const std::string &name, const std::string &help, Set set) {
    entries[name] = {help, false, std::move(set)};
  }
  void text(const std::string &name, const std::string &help, std::string &to) {
    value(name, help, [&to](const std::string &text) { to = text; });
  }
  void number(const std::string &name, const std::string &help, double &to) {
    value(name, help, [name, &to](const std::string &text) {
      to = parse(name, text, false);
    });
  }
  void integer(const std::string &name, const std::string &help, int64_t &to) {
    value(name, help, [name, &to](const std::string &text) {
      to = int64_t(parse(name, text, true));
    });
  }
  void toggle(const std::string &name, const std::string &help, bool &to) {
    entries[name] = {help, true, [&to](const std::string &) { to = true; }};
    entries["no-" + name] = {"", true,
                             [&to](const std::string &) { to = false; }};
  }

  void parse_all(int argc, char **argv) const {
    for (int i = 1; i < argc; i++) {
      const std::string argument = argv[i];
      if (argument == "--help" || argument == "-h")
        return print_help(argv[0]);
      if (argument.rfind("--", 0) != 0)
        throw Error("unexpected argument '" + argument +
                    "'; --help lists the flags");
      const size_t equals = argument.find('=');
      const std::string name =
          argument.substr(2, equals == std::string::npos ? equals : equals - 2);
      const auto found = entries.find(name);
      if (found == entries.end())
        throw Error("unknown flag '--" + name + "'; --help lists the flags");
      if (found->second.is_toggle) {
        if (equals != std::string::npos)
          throw Error("'--" + name + "' takes no value");
        found->second.set("");
      } else if (equals != std::string::npos) {
        found->second.set(argument.substr(equals + 1));
      } else if (++i < argc) {
        found->second.set(argv[i]);
      } else {
        throw Error("'--" + name + "' needs a value");
      }
    }
  }

private:
  static double parse(const std::string &name, const std::string &text,
                      bool whole) {
    char *end = nullptr;
    const double number = strtod(text.c_str(), &end);
    if (text.empty() || *end || (whole && number != double(int64_t(number))))
      throw Error("'--" + name + "' needs " +
                  (whole ? "a whole number" : "a number") + ", but got '" +
                  text + "'");
    return number;
  }
  void print_help(const char *program) const {
    printf("usage: %s [flags]\n\n", program);
    for (const auto &[name, entry] : entries)
      if (!entry.help.empty())
        printf("  --%-28s %s\n",
               (name + (entry.is_toggle ? "" : " VALUE")).c_str(),
               entry.help.c_str());
    exit(0);
  }
  struct Entry {
    std::string help;
    bool is_toggle;
    Set set;
  };
  std::map<std::string, Entry> entries;
};

} // namespace gpuopt
