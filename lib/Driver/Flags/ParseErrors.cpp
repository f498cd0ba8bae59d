//===- ParseErrors.cpp - What is wrong with a command line ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/ParseErrors.h"

#include "Flags/FlagGroups.h"
#include "gpuopt/settings/flag_names.h"
#include "gpuopt/settings/settings_table.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace gpuopt;

/// Returns the other commands that have a flag: "gpuopt compile, train and
/// plan"; nothing if none has it.
static std::string commandsWith(StringRef flag, const cl::SubCommand &command) {
  SmallVector<StringRef> names;
  for (cl::SubCommand *other : allCommands())
    if (other != &command && cl::getRegisteredOptions(*other).count(flag))
      names.push_back(other->getName());
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0                  ? "gpuopt "
             : i + 1 == names.size() ? " and "
                                     : ", ") +
            names[i].str();
  return text;
}

/// Whether the programs that `compile` writes take a flag.
static bool isOfPrograms(StringRef flag) {
  const SettingInfo *setting =
      find_setting(std::string_view(flag.data(), flag.size()));
  return setting && setting->takers & (kTrainer | kPredictor);
}

/// Returns what to do about a flag that other commands have, and this one not.
static StringRef insteadOfTaking(StringRef flag,
                                 const cl::SubCommand &command) {
  if (&command == &trainCommand() && flag == "weights")
    return "; --init-from begins with the weights of a file";
  return &command == &compileCommand() && isOfPrograms(flag)
             ? "; give it to the program that it writes, when you run that"
             : "; leave it out";
}

/// Whether a flag is one for developers of LLVM, which no user means.
static bool isOfLibraries(const cl::Option &option) {
  bool isGeneric = any_of(option.Categories, [](const cl::OptionCategory *of) {
    return of->getName() == "Generic Options";
  });
  return option.getOptionHiddenFlag() == cl::ReallyHidden ||
         (isGeneric && option.getOptionHiddenFlag() == cl::Hidden);
}

static std::string describeUnknownFlag(StringRef name,
                                       cl::SubCommand &command) {
  if (std::string others = commandsWith(name, command); !others.empty())
    return "--" + name.str() + " is a flag of " + others +
           (command.getName().empty()
                ? "; the command comes first"
                : ", but gpuopt " + command.getName().str() +
                      " does not take it" +
                      insteadOfTaking(name, command).str());
  if (isOfPrograms(name))
    return "--" + name.str() +
           " is a flag of the programs that gpuopt compile writes; give it to "
           "one of them, when you run it";
  std::vector<std::string> names;
  for (auto &[flag, option] : cl::getRegisteredOptions(command))
    if (!isOfLibraries(*option))
      names.push_back(flag.str());
  std::string meant = flag_meant_by(name, names),
              error = (name.size() == 1 ? "there is no flag -"
                                        : "there is no flag --") +
                      name.str();
  if (std::string instead = instead_of_others(name, names); !instead.empty())
    return error + "; " + instead;
  return meant.empty() ? error + "; --help-all lists all flags"
                       : error + "; did you mean --" + meant + "?";
}

/// Returns the command that a name was probably meant to be: the nearest
/// spelling or, if none is near, the one that the name is the beginning of.
static std::string commandMeantBy(StringRef name) {
  std::vector<std::string> names{"help"}, longer;
  for (cl::SubCommand *command : allCommands())
    names.push_back(command->getName().str());
  if (std::string nearest = nearest_name(std::string_view(name), names);
      !nearest.empty())
    return nearest;
  copy_if(names, std::back_inserter(longer), [&](StringRef command) {
    return name.size() > 1 && command.starts_with(name);
  });
  return longer.size() == 1 ? longer.front() : "";
}

std::string gpuopt::describeUnknownCommand(StringRef name) {
  std::string meant = commandMeantBy(name);
  return "there is no command '" + name.str() + "'" +
         (meant.empty() ? "" : "; did you mean '" + meant + "'?");
}

static bool looksAtRuns(const cl::SubCommand &command) {
  return is_contained(
      {&profileCommand(), &adviseCommand(), &reportCommand(), &watchCommand()},
      &command);
}

std::string gpuopt::describeParseErrors(StringRef errors,
                                        cl::SubCommand &command) {
  StringRef text = errors.split('\n').first;
  text.consume_front("gpuopt: ");
  text = text.split(".  Try:").first; // the help of all commands
  if (text.consume_front("Unknown command line argument '")) {
    StringRef argument = text.drop_back();
    return argument.starts_with("-")
               ? describeUnknownFlag(argument.split('=').first.ltrim('-'),
                                     command)
               : "gpuopt " + command.getName().str() +
                     " takes flags alone, but got '" + argument.str() + "'";
  }
  if (text.consume_front("Unknown subcommand "))
    return describeUnknownCommand(text.trim('\''));
  if (text.starts_with("Not enough positional") &&
      &command == &completionCommand())
    return "a shell is needed: bash, zsh or fish";
  if (text.starts_with("Not enough positional"))
    return looksAtRuns(command) ? "a run is needed: the folder of its results"
                                : "a model is needed: MODEL.onnx";
  if (text.starts_with("Too many positional"))
    return looksAtRuns(command)
               ? "one run is enough, but there are several arguments without a "
                 "flag"
               : "one model is enough, but there are several arguments without "
                 "a flag";
  return text.str();
}

template <>
StringRef gpuopt::whatIsNeeded<std::string>(StringRef text) {
  return text.empty() ? "a value" : "";
}
template <>
StringRef gpuopt::whatIsNeeded<double>(StringRef text) {
  std::string copy = text.str();
  char *end = nullptr;
  strtod(copy.c_str(), &end);
  return copy.empty() || *end ? "a number" : "";
}
template <>
StringRef gpuopt::whatIsNeeded<int64_t>(StringRef text) {
  int64_t number;
  return text.getAsInteger(10, number) ? "a whole number of 64 bits" : "";
}
template <>
StringRef gpuopt::whatIsNeeded<uint64_t>(StringRef text) {
  uint64_t number;
  return text.getAsInteger(10, number)
             ? "a whole number of 64 bits without a sign"
             : "";
}
template <>
StringRef gpuopt::whatIsNeeded<bool>(StringRef text) {
  bool isOne = StringSwitch<bool>(text)
                   .Cases({"", "1", "true", "True", "TRUE"}, true)
                   .Cases({"0", "false", "False", "FALSE"}, true)
                   .Default(false);
  return isOne ? "" : "no value, or true or false";
}

static std::string &firstValueError() {
  static std::string error;
  return error;
}

bool gpuopt::noteValueError(const std::string &error) {
  if (firstValueError().empty())
    firstValueError() = error;
  return true;
}

const std::string &gpuopt::valueError() { return firstValueError(); }

/// Returns the flag of a command that an argument gives; null if it gives none.
static const cl::Option *flagGivenBy(StringRef argument,
                                     cl::SubCommand &command) {
  if (!argument.starts_with("-"))
    return nullptr;
  auto &flags = cl::getRegisteredOptions(command);
  auto flag = flags.find(argument.split('=').first.ltrim('-'));
  return flag == flags.end() ? nullptr : flag->second;
}

static bool isKnownCommand(StringRef name) {
  return any_of(allCommands(), [&](cl::SubCommand *known) {
    return known->getName() == name;
  });
}

std::string gpuopt::keepHelpAlone(std::vector<char *> &arguments) {
  auto asksForHelp = [](StringRef word) {
    return word == "-h" || word == "-help" || word == "--help" ||
           word.starts_with("--help-");
  };
  auto end = std::find(arguments.begin(), arguments.end(), StringRef("--"));
  auto help = std::find_if(arguments.begin() + 1, end, asksForHelp);
  if (help == end)
    return "";
  std::vector<char *> kept{arguments.front()};
  auto command = arguments.begin() + 1;
  if (help == command)
    ++command; // "gpuopt --help train"
  if (command != end && isKnownCommand(*command))
    kept.push_back(*command);
  else if (command < help && !StringRef(*command).starts_with("-"))
    return describeUnknownCommand(*command);
  kept.push_back(*help);
  arguments = std::move(kept);
  return "";
}

std::string gpuopt::takeHelpCommand(std::vector<char *> &arguments) {
  if (arguments.size() < 2 || StringRef(arguments[1]) != "help")
    return "";
  arguments.erase(arguments.begin() + 1);
  static char flag[] = "--help";
  arguments.push_back(flag);
  StringRef command = arguments[1];
  return isKnownCommand(command) || command.starts_with("-")
             ? ""
             : describeUnknownCommand(command);
}

/// Whether LLVM's parser takes an argument for a group of flags of one letter:
/// --overwrite for -o and others, --half for -h, which only it knows.
static bool seemsToBeAGroup(StringRef argument, cl::SubCommand &command) {
  if (!argument.starts_with("--") || argument == "--help-all")
    return false;
  return argument.starts_with("--h") ||
         flagGivenBy(argument.substr(1, 2), command);
}

void gpuopt::acceptUnderscores(std::vector<char *> &arguments) {
  for (cl::SubCommand *command : allCommands()) {
    if (arguments.size() < 3 || arguments[1] != command->getName())
      continue;
    for (char *argument : drop_begin(arguments, 2)) {
      StringRef given = argument;
      if (!given.starts_with("--") || flagGivenBy(given, *command))
        continue;
      std::string dashed = given.split('=').first.str();
      std::replace(dashed.begin(), dashed.end(), '_', '-');
      if (flagGivenBy(dashed, *command))
        std::copy(dashed.begin(), dashed.end(), argument);
    }
  }
}

std::string gpuopt::findFlagError(int argc, char **argv) {
  if (argc > 1 && StringRef(argv[1]).starts_with("--h") &&
      !flagGivenBy(argv[1], cl::SubCommand::getTopLevel()) &&
      StringRef(argv[1]) != "--help-all")
    return describeUnknownFlag(StringRef(argv[1]).split('=').first.ltrim('-'),
                               cl::SubCommand::getTopLevel());
  for (cl::SubCommand *command : allCommands()) {
    if (argc < 3 || argv[1] != command->getName())
      continue;
    for (int i = 2; i < argc; ++i) {
      StringRef argument = argv[i];
      const cl::Option *flag = flagGivenBy(argument, *command);
      if (!flag && seemsToBeAGroup(argument, *command))
        return describeUnknownFlag(argument.split('=').first.ltrim('-'),
                                   *command);
      if (!flag || argument.contains('=') ||
          flag->getValueExpectedFlag() != cl::ValueRequired)
        continue;
      if (i + 1 == argc)
        return argument.str() + " needs a value" +
               (flag->ValueStr.empty() ? "" : ": " + flag->ValueStr.str());
      StringRef value = argv[++i];
      if (value.starts_with("--") && flagGivenBy(value, *command))
        return argument.str() + " needs a value, but the flag " +
               value.split('=').first.str() + " follows";
    }
  }
  return "";
}
