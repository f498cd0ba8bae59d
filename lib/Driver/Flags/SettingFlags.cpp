//===- SettingFlags.cpp - The flags of the runtime's table ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/SettingFlags.h"

#include "Flags/FlagGroups.h"

using namespace llvm;
using namespace gpuopt;

namespace {

/// A row of the table and the options of the command line that set it.
struct SettingFlag {
  const SettingInfo *setting;
  std::vector<std::unique_ptr<cl::Option>> options;
  std::function<void(TrainingSettings &)> read; // from the options

  bool isGiven() const {
    return any_of(options, [](const std::unique_ptr<cl::Option> &option) {
      return option->getNumOccurrences() > 0;
    });
  }
};

} // namespace

static std::vector<SettingFlag> &settingFlags() {
  static std::vector<SettingFlag> flags;
  return flags;
}

static cl::OptionCategory &categoryOf(Section section) {
  switch (section) {
  case Section::Optimizer:
    return optimizerCategory();
  case Section::LossScale:
    return precisionCategory();
  default:
    return runCategory();
  }
}

/// Copies a text of help, which lives until the process ends, as the flags do.
static StringRef lasting(const Twine &text) {
  static BumpPtrAllocator allocator;
  return StringSaver(allocator).save(text);
}

/// Returns the help of a row, with the names that can be chosen, and what holds
/// without the flag.
static StringRef helpOf(const SettingInfo &setting) {
  std::string help(setting.help);
  if (setting.field.choice)
    help += ": " + choices_text(setting.field);
  if (!setting.short_name.empty())
    help = "or --" + std::string(setting.name) + ": " + help;
  if (!setting.otherwise.empty())
    help += " (default: " + std::string(setting.otherwise) + ")";
  return lasting(help);
}

FromSetting::FromSetting(StringRef name)
    : setting(*find_setting(std::string_view(name.data(), name.size()))) {}

void FromSetting::apply(cl::Option &option) const {
  option.setArgStr(setting.short_name.empty() ? setting.name
                                              : setting.short_name);
  option.setDescription(helpOf(setting));
  if (!setting.value.empty())
    option.setValueStr(setting.value);
  TakenBy{setting.takers}.apply(option);
}

/// Declares an option of the commands that take the setting; returns it.
template <typename OptionT, typename... Modifiers>
static OptionT *declare(SettingFlag &flag, const Modifiers &...modifiers) {
  cl::cat category(categoryOf(flag.setting->section));
  cl::value_desc value(flag.setting->value);
  auto *option =
      new OptionT(modifiers..., value, category, TakenBy{flag.setting->takers});
  flag.options.emplace_back(option);
  return option;
}

/// Declares a flag with a value of type T, which is converted to the type of
/// the field.
template <typename T, typename FieldT>
static void declareValue(SettingFlag &flag, SettingMember<FieldT> field) {
  const SettingInfo &setting = *flag.setting;
  T value = TrainingSettings().*field;
  auto *option = declare<Flag<T>>(flag, StringRef(setting.name), value,
                                  StringRef(setting.help));
  flag.read = [option, field](TrainingSettings &settings) {
    settings.*field = FieldT(option->getValue());
  };
}

/// Declares --shuffle and --no-shuffle; the last one on the command line
/// counts.
static void declareToggle(SettingFlag &flag, SettingMember<bool> field) {
  const SettingInfo &setting = *flag.setting;
  bool isOn = TrainingSettings().*field;
  StringRef help = lasting(StringRef(setting.help) + " (default " +
                           (isOn ? "on" : "off") + ")");
  auto *on = declare<Switch>(flag, StringRef(setting.name), cl::desc(help),
                             cl::init(isOn));
  auto *off =
      declare<Switch>(flag, lasting("no-" + StringRef(setting.name)),
                      cl::desc(lasting("not " + StringRef(setting.help))));
  flag.read = [=](TrainingSettings &settings) {
    settings.*field = off->getPosition() > on->getPosition() ? !*off : *on;
  };
}

namespace {
/// A flag that takes an integer, or a word that stands for one.
class IntegerOrWord : public Flag<std::string> {
public:
  template <class... Modifiers>
  IntegerOrWord(StringRef word, const Modifiers &...modifiers)
      : Flag<std::string>(modifiers...), word(word) {}

  bool addOccurrence(unsigned position, StringRef name, StringRef text,
                     bool isMulti) override {
    if (text != word)
      if (StringRef needed = whatIsNeeded<int64_t>(text); !needed.empty())
        return noteValueError(("--" + name + " needs " + word + " or " +
                               needed + ", but is '" + text + "'")
                                  .str());
    return Flag<std::string>::addOccurrence(position, name, text, isMulti);
  }

private:
  StringRef word;
};
} // namespace

static void declareIntegerOrWord(SettingFlag &flag) {
  const SettingInfo &setting = *flag.setting;
  auto *option = declare<IntegerOrWord>(
      flag, StringRef(setting.field.word), StringRef(setting.name),
      value_text(setting, TrainingSettings()), StringRef(setting.help));
  flag.read = [option, field = setting.field](TrainingSettings &settings) {
    StringRef text = option->getValue();
    if (text == StringRef(field.word))
      settings.*field.integer = field.value_of_word;
    else
      text.getAsInteger(10, settings.*field.integer);
  };
}

static void declareText(SettingFlag &flag, SettingMember<std::string> field) {
  if (!(TrainingSettings().*field).empty())
    return declareValue<std::string>(flag, field);
  const SettingInfo &setting = *flag.setting;
  auto *option = declare<CheckedOpt<std::string>>(flag, StringRef(setting.name),
                                                  cl::desc(setting.help));
  flag.read = [=](TrainingSettings &settings) { settings.*field = *option; };
}

/// Declares a flag that may be given several times.
static void declareTexts(SettingFlag &flag,
                         SettingMember<std::vector<std::string>> field) {
  const SettingInfo &setting = *flag.setting;
  auto *list = declare<cl::list<std::string>>(flag, StringRef(setting.name),
                                              cl::desc(setting.help));
  flag.read = [=](TrainingSettings &settings) {
    settings.*field = std::vector<std::string>(list->begin(), list->end());
  };
}

/// Declares a flag that takes one of several names. An unknown name becomes a
/// number that stands for no choice, which readSettingFlags reports.
static void declareChoice(SettingFlag &flag) {
  const SettingInfo &setting = *flag.setting;
  auto *option = declare<Flag<std::string>>(
      flag, StringRef(setting.name), value_text(setting, TrainingSettings()),
      helpOf(setting));
  flag.read = [option, field = setting.field](TrainingSettings &settings) {
    settings.*field.choice = choice_number(field, option->getValue());
  };
}

void gpuopt::declareSettingFlags() {
  for (const SettingInfo &setting : kSettings) {
    const Field &field = setting.field;
    SettingFlag flag{&setting, {}, nullptr};
    if (!(setting.takers & (kCompiling | kPredict)) ||
        !setting.short_name.empty())
      continue;
    if (field.number)
      declareValue<double>(flag, field.number);
    else if (!field.word.empty())
      declareIntegerOrWord(flag);
    else if (field.integer)
      declareValue<int64_t>(flag, field.integer);
    else if (field.natural)
      declareValue<uint64_t>(flag, field.natural);
    else if (field.toggle)
      declareToggle(flag, field.toggle);
    else if (field.text)
      declareText(flag, field.text);
    else if (field.texts)
      declareTexts(flag, field.texts);
    else if (field.choice)
      declareChoice(flag);
    if (flag.read)
      settingFlags().push_back(std::move(flag));
  }
}

bool gpuopt::isGiven(StringRef name) {
  return any_of(settingFlags(), [&](const SettingFlag &flag) {
    return StringRef(flag.setting->name) == name && flag.isGiven();
  });
}

bool gpuopt::asksFor(StringRef name) {
  for (const SettingFlag &flag : settingFlags())
    if (StringRef(flag.setting->name) == name && flag.isGiven()) {
      TrainingSettings settings;
      SettingMember<bool> toggle = flag.setting->field.toggle;
      if (toggle)
        flag.read(settings);
      return !toggle || settings.*toggle || TrainingSettings().*toggle;
    }
  return false;
}

static Error choiceError(const SettingFlag &flag) {
  auto *option = static_cast<Flag<std::string> *>(flag.options[0].get());
  const Field &field = flag.setting->field;
  return createStringError(
      "--" + option->ArgStr + " must be " +
      wrong_choice(option->getValue(), field.names, size_t(field.count)));
}

Error gpuopt::readSettingFlags(TrainingSettings &settings) {
  for (const SettingFlag &flag : settingFlags()) {
    flag.read(settings);
    if (const Field &field = flag.setting->field;
        field.choice && settings.*field.choice == field.count)
      return choiceError(flag);
    if (std::string error = range_error(*flag.setting, settings);
        !error.empty())
      return createStringError("--" + StringRef(flag.setting->name) + " " +
                               error);
  }
  return Error::success();
}

std::vector<std::string> gpuopt::givenRunFlags(Takers command) {
  TrainingSettings settings;
  std::vector<std::string> flags;
  for (const SettingFlag &flag : settingFlags()) {
    const SettingInfo &setting = *flag.setting;
    // What a compilation takes as well is a default of the trainer.
    bool isDefault = command != kPredict && setting.takers & kCompile;
    if (!(setting.takers & command) || isDefault || !flag.isGiven())
      continue;
    flag.read(settings);
    std::string name = "--" + std::string(setting.name);
    if (!setting.field.toggle)
      flags.push_back(name + "=" + value_text(setting, settings));
    else if (bool isOn = settings.*setting.field.toggle;
             isOn != TrainingSettings().*setting.field.toggle)
      flags.push_back((isOn ? "--" : "--no-") + std::string(setting.name));
  }
  return flags;
}
