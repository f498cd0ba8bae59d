// --name=value, --name value, --name and --no-name, by a table; some names have
// a short form, as -o.
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/settings/flag_names.h"

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
  // Where `repeats` is false, the last one of several flags counts.
  void value(const std::string &name, const std::string &help, Set set,
             bool repeats = false) {
    entries[name] = {false, std::move(set), repeats};
    list.push_back({name + " VALUE", help});
  }
  void toggle(const std::string &name, const std::string &help,
              std::function<void(bool)> set) {
    entries[name] = {true, [set](const std::string &) { set(true); }};
    entries["no-" + name] = {true, [set](const std::string &) { set(false); }};
    list.push_back({"[no-]" + name, help});
  }
  // Declares "o" as a short form of a name: -o value.
  void short_name(const std::string &letter, const std::string &name) {
    short_names["-" + letter] = "--" + name;
  }
  // Declares a flag that exists elsewhere; the error tells where.
  void elsewhere(const std::string &name, const std::string &where) {
    others[name] = where;
  }

  bool given(const std::string &name) const { return seen.count(name) > 0; }
  // What to tell of flags that were given with several values.
  const std::vector<std::string> &replaced() const { return replacements; }

  void parse_all(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
      const std::string argument = argv[i];
      if (argument == "--help" || argument == "-h")
        return print_help(argv[0]);
      const auto found = short_names.find(argument);
      i += parse(found == short_names.end() ? argument : found->second,
                 i + 1 < argc ? argv[i + 1] : nullptr);
    }
  }
  // Parses one flag; returns whether `next`, which may be null, is its value.
  bool parse(const std::string &argument, const char *next = nullptr) {
    if (argument.rfind("--", 0) != 0)
      throw Error("unexpected argument '" + argument +
                  "'; --help lists the flags");
    const size_t equals = argument.find('=');
    const std::string name = known_name(
        argument.substr(2, equals == std::string::npos ? equals : equals - 2));
    const Entry &entry = find(name);
    seen.insert(name);
    const bool has_value = equals != std::string::npos;
    if (entry.is_toggle && has_value)
      throw Error("'--" + name + "' takes no value");
    if (!entry.is_toggle && !has_value && !next)
      throw Error("'--" + name + "' needs a value");
    const std::string text = entry.is_toggle ? ""
                             : has_value     ? argument.substr(equals + 1)
                                             : next;
    if (!entry.repeats)
      note_value(name, text);
    entry.set(text);
    return !entry.is_toggle && !has_value;
  }

private:
  struct Entry {
    bool is_toggle;
    Set set;
    bool repeats = false;
  };
  // Takes down a value, and whether it replaces another one.
  void note_value(const std::string &name, const std::string &text) {
    const auto [at, is_first] = values.try_emplace(name, text);
    if (!is_first && at->second != text)
      replacements.push_back("'--" + name + "' is given as '" + at->second +
                             "' and as '" + text + "'; the last one counts");
    at->second = text;
  }
  // Returns a name with dashes for underscores, if that makes it one of a flag:
  // as --learning_rate for --learning-rate.
  std::string known_name(const std::string &name) const {
    std::string dashed = name;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    return entries.count(dashed) > 0 || others.count(dashed) > 0 ? dashed
                                                                 : name;
  }
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
    if (const std::string instead = instead_of_others(name, names);
        !instead.empty())
      return instead;
    for (const auto &[known, where] : others)
      names.push_back(known);
    const std::string meant = flag_meant_by(name, names);
    return meant.empty() ? "--help lists the flags"
                         : "did you mean --" + meant + "?";
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
  std::map<std::string, std::string> others, short_names, values;
  std::vector<std::string> replacements;
  std::vector<std::pair<std::string, std::string>> list; // no help: a section
  std::set<std::string> seen;
};

} // namespace gpuopt
