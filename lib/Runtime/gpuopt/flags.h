// --name=value, --name value, --name and --no-name, by a table.
#pragma once

#include "gpuopt/device.h"
#include "gpuopt/flag_names.h"

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace gpuopt {

class Flags {
public:
  using Set = std::function<void(const std::string &)>;

  // What follows is listed under it.
  void section(const std::string &title) { list.push_back({title, ""}); }
  void value(const std::string &name, const std::string &help, Set set) {
    entries[name] = {false, std::move(set)};
    list.push_back({name + " VALUE", help});
  }
  // What is there is the default, which the help tells.
  void text(const std::string &name, const std::string &help, std::string &to) {
    value(name, with_default(help, to), [name, &to](const std::string &text) {
      if (text.empty())
        throw Error("'--" + name + "' needs a value, but got ''");
      to = text;
    });
  }
  void number(const std::string &name, const std::string &help, double &to) {
    char text[32];
    snprintf(text, sizeof text, "%g", to);
    value(name, with_default(help, text),
          [name, &to](const std::string &text) { to = parse(name, text); });
  }
  void integer(const std::string &name, const std::string &help, int64_t &to) {
    value(
        name, with_default(help, std::to_string(to)),
        [name, &to](const std::string &text) { to = parse_whole(name, text); });
  }
  void toggle(const std::string &name, const std::string &help, bool &to) {
    entries[name] = {true, [&to](const std::string &) { to = true; }};
    entries["no-" + name] = {true, [&to](const std::string &) { to = false; }};
    list.push_back({"[no-]" + name, with_default(help, to ? "on" : "off")});
  }
  // A flag that there is elsewhere: whoever gives it is told where.
  void elsewhere(const std::string &name, const std::string &where) {
    others[name] = where;
  }

  bool given(const std::string &name) const { return seen.count(name) > 0; }

  void parse_all(int argc, char **argv) {
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
      const Entry &entry = find(name);
      seen.insert(name);
      if (entry.is_toggle) {
        if (equals != std::string::npos)
          throw Error("'--" + name + "' takes no value");
        entry.set("");
      } else if (equals != std::string::npos) {
        entry.set(argument.substr(equals + 1));
      } else if (++i < argc) {
        entry.set(argv[i]);
      } else {
        throw Error("'--" + name + "' needs a value");
      }
    }
  }

private:
  struct Entry {
    bool is_toggle;
    Set set;
  };
  const Entry &find(const std::string &name) const {
    const auto found = entries.find(name);
    if (found != entries.end())
      return found->second;
    if (const auto other = others.find(name); other != others.end())
      throw Error("'--" + name + "' " + other->second);
    throw Error("unknown flag '--" + name + "'; " + hint_for(name));
  }
  std::string hint_for(const std::string &name) const {
    std::vector<std::string> names;
    for (const auto &[known, entry] : entries)
      names.push_back(known);
    for (const auto &[known, where] : others)
      names.push_back(known);
    const std::string meant = flag_meant_by(name, names);
    return meant.empty() ? "--help lists the flags"
                         : "did you mean --" + meant + "?";
  }
  static std::string with_default(const std::string &help,
                                  const std::string &value) {
    return value.empty() ? help : help + " (default " + value + ")";
  }
  static double parse(const std::string &name, const std::string &text) {
    char *end = nullptr;
    const double number = strtod(text.c_str(), &end);
    if (text.empty() || *end || number != number)
      throw Error("'--" + name + "' needs a number, but got '" + text + "'");
    return number;
  }
  static int64_t parse_whole(const std::string &name, const std::string &text) {
    char *end = nullptr;
    errno = 0;
    const long long number = strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end || errno)
      throw Error("'--" + name + "' needs a whole number, but got '" + text +
                  "'");
    return number;
  }
  void print_help(const char *program) const {
    printf("usage: %s [flags]\n", program);
    for (const auto &[name, help] : list)
      if (help.empty())
        printf("\n%s\n", name.c_str());
      else
        printf("  --%-24s %s\n", name.c_str(), help.c_str());
    exit(0);
  }
  std::map<std::string, Entry> entries;
  std::map<std::string, std::string> others;
  std::vector<std::pair<std::string, std::string>> list; // no help: a section
  std::set<std::string> seen;
};

} // namespace gpuopt
