// --param-group: the hyperparameters of some parameters, which differ from
// those of the others, as torch.optim's param_groups do.
//
//   --param-group '^encoder:lr=1e-5,weight_decay=0'
//
// Which parameters a group has is decided at compile time; the numbers may be
// changed when a program is run, under the same expression.
//
// This file is C++17, as the compiler is.
#pragma once

#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/settings/flag_rules.h"
#include "gpuopt/settings/settings_table.h"

#include <utility>

namespace gpuopt {

struct ParamGroupSetting {
  std::string expression; // of parameters' names
  std::vector<std::pair<const SettingInfo *, double>> values;

  // Sets the values of the group in `s`.
  void apply(TrainingSettings &s) const {
    for (const auto &[setting, value] : values)
      s.*setting->field.number = value;
  }
};

namespace detail {

// Keys are the settings' own names, "-" written as "_". torch calls the
// learning rate `lr`.
inline std::string with_dashes(std::string key) {
  for (char &c : key)
    c = c == '_' ? '-' : c;
  return key == "lr" ? "learning-rate" : key;
}

constexpr bool is_group_setting(const HyperparameterInfo &row,
                                const OptimizerInfo &optimizer) {
  return row.is_of_groups && optimizer.reads(row.name);
}

// Returns "lr", "weight_decay"...: what `optimizer` reads.
inline std::string group_keys(const OptimizerInfo &optimizer) {
  std::string keys = "lr";
  for (const HyperparameterInfo &row : kHyperparameters)
    if (is_group_setting(row, optimizer)) {
      keys += ", ";
      for (char c : row.name)
        keys += c == '-' ? '_' : c;
    }
  return keys;
}

inline const SettingInfo *find_group_setting(const std::string &key,
                                             const OptimizerInfo &optimizer) {
  const std::string name = with_dashes(key);
  bool can_set = name == "learning-rate";
  for (const HyperparameterInfo &row : kHyperparameters)
    can_set |= row.name == name && is_group_setting(row, optimizer);
  return can_set ? find_setting(name) : nullptr;
}

// Reads one "key=value" into the group. Returns what is wrong with it, or
// nothing.
inline std::string parse_group_value(const std::string &text,
                                     const OptimizerInfo &optimizer,
                                     const TrainingSettings &s,
                                     ParamGroupSetting &group) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos)
    return "needs NAME=NUMBER, but has '" + text + "'";
  const std::string key = text.substr(0, equals),
                    number = text.substr(equals + 1);
  const SettingInfo *setting = find_group_setting(key, optimizer);
  if (!setting)
    return "cannot set '" + key + "'; of " + std::string(optimizer.name) +
           " it can set " + group_keys(optimizer);
  for (const auto &[other, value] : group.values)
    if (other == setting)
      return "sets '" + key + "' twice";
  char *end = nullptr;
  const double value = read_number(number.c_str(), &end);
  if (number.empty() || *end || value != value)
    return "needs a number for '" + key + "', but has '" + number + "'";
  if (!setting->range.has(value))
    return "needs '" + key + "' to be " + range_text(*setting) + ", but has " +
           number;
  if (s.adafactor_relative_step && setting->name == "learning-rate")
    return "sets '" + key + "', which" + kNoRateBesideRelativeStep;
  for (const OptimizerState &state : optimizer.states)
    if (state.needs == setting->name && s.*setting->field.number == 0 &&
        value != 0)
      return "sets '" + key + "' to " + number +
             ", which needs a state that only --" + std::string(state.needs) +
             " above 0 keeps";
  group.values.emplace_back(setting, value);
  return "";
}

} // namespace detail

// Returns the expression of a group: what comes before the last colon.
inline std::string expression_of_group(const std::string &text) {
  const size_t colon = text.rfind(':');
  return text.substr(0, colon == std::string::npos ? 0 : colon);
}

// Parses a group for a program with an optimizer; `s` has the settings of the
// parameters of no group. Returns what is wrong, as the words after
// "--param-group 'TEXT'", or nothing.
inline std::string parse_param_group(const std::string &text,
                                     const OptimizerInfo &optimizer,
                                     const TrainingSettings &s,
                                     ParamGroupSetting &group) {
  group = {expression_of_group(text), {}};
  if (group.expression.empty())
    return "needs REGEX:NAME=NUMBER,..., as '^encoder:lr=1e-5,weight_decay=0'";
  const std::string values = text.substr(group.expression.size() + 1);
  for (size_t begin = 0; begin <= values.size();) {
    const size_t end = std::min(values.find(',', begin), values.size());
    if (std::string why = detail::parse_group_value(
            values.substr(begin, end - begin), optimizer, s, group);
        !why.empty())
      return why;
    begin = end + 1;
  }
  return "";
}

// Adds a group, or replaces the one with the same expression.
inline void set_param_group(const std::string &text,
                            std::vector<std::string> &groups) {
  for (std::string &group : groups)
    if (expression_of_group(group) == expression_of_group(text)) {
      group = text;
      return;
    }
  groups.push_back(text);
}

// Returns what is wrong with the groups of `s`, or nothing. `quote` is put
// around the flag that the text begins with.
inline std::string param_groups_error(const TrainingSettings &s,
                                      const OptimizerInfo &optimizer,
                                      const std::string &quote) {
  for (const std::string &text : s.param_groups) {
    ParamGroupSetting group;
    if (const std::string why = parse_param_group(text, optimizer, s, group);
        !why.empty())
      return quote + "--param-group" + quote + " '" + text + "' " + why;
  }
  return "";
}

// Returns the settings of the parameters of each group, with the learning rates
// that a group sets times `rates`. There is no error in them.
inline std::vector<TrainingSettings>
settings_of_groups(const TrainingSettings &s, const OptimizerInfo &optimizer,
                   double rates = 1) {
  std::vector<TrainingSettings> all;
  for (const std::string &text : s.param_groups) {
    ParamGroupSetting group;
    if (!parse_param_group(text, optimizer, s, group).empty())
      continue;
    for (auto &[setting, value] : group.values)
      if (setting->name == "learning-rate" ||
          setting->name == "muon-learning-rate")
        value *= rates;
    all.push_back(s);
    group.apply(all.back());
  }
  return all;
}

} // namespace gpuopt
