//===- Completion.cpp - Flags for shells and for man ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Completion.h"

#include "Flags/BriefHelp.h"
#include "Flags/FlagGroups.h"
#include "Report/FlagList.h"
#include "gpuopt/Version.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace gpuopt;

/// Returns a text in single quotes of a shell, in which `doubled` replaces a
/// quote.
static std::string quoted(StringRef text, StringRef doubled) {
  std::string result = "'";
  for (char c : text)
    if (c == '\'')
      result += doubled;
    else
      result += c;
  return result + "'";
}

//===----------------------------------------------------------------------===//
// bash
//===----------------------------------------------------------------------===//

static void printBash(raw_ostream &os) {
  os << "# bash completion of gpuopt " << kVersion
     << ", printed by gpuopt completion bash\n_gpuopt() {\n"
        "  local current=${COMP_WORDS[COMP_CWORD]} "
        "previous=${COMP_WORDS[COMP_CWORD-1]} flags= values=\n"
        "  # bash takes --flag=value for three words.\n"
        "  if [[ $current == = ]]; then current=; fi\n"
        "  if [[ $previous == = ]]; then "
        "previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        "  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W \"";
  for (cl::SubCommand *command : allCommands())
    os << command->getName() << " ";
  os << "--help --version\" -- \"$current\"))\n    return\n  fi\n"
        "  case ${COMP_WORDS[1]}$previous in\n";
  for (cl::SubCommand *command : allCommands())
    for (const ListedFlag &flag : flagsOf(*command))
      if (!flag.choices.empty())
        os << "    " << command->getName() << flag.dashed() << ") values=\""
           << join(flag.choices, " ") << "\" ;;\n";
  os << "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (cl::SubCommand *command : allCommands()) {
    os << "    " << command->getName() << ") flags=\"";
    for (const ListedFlag &flag : flagsOf(*command))
      os << flag.dashed() << " ";
    os << "--help\" ;;\n";
  }
  os << "  esac\n"
        "  if [[ -n $values ]]; then\n"
        "    COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
        "  elif [[ $current == -* ]]; then\n"
        "    COMPREPLY=($(compgen -W \"$flags\" -- \"$current\"))\n"
        "  else\n"
        "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
        "  fi\n}\ncomplete -o filenames -F _gpuopt gpuopt\n";
}

//===----------------------------------------------------------------------===//
// zsh
//===----------------------------------------------------------------------===//

/// Returns a text that stands within brackets or between colons of _arguments.
static std::string zshText(StringRef text) {
  std::string result;
  for (char c : text) {
    if (StringRef("[]:\\").contains(c))
      result += '\\';
    result += c;
  }
  return result;
}

static void printZsh(raw_ostream &os) {
  os << "#compdef gpuopt\n# zsh completion of gpuopt " << kVersion
     << ", printed by gpuopt completion zsh\n_gpuopt() {\n"
        "  if ((CURRENT == 2)); then\n    local -a commands=(\n";
  for (cl::SubCommand *command : allCommands())
    os << "      "
       << quoted((command->getName() + ":" + command->getDescription()).str(),
                 "'\\''")
       << "\n";
  os << "    )\n    _describe command commands\n    return\n  fi\n"
        "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n"
        "  case $command in\n";
  for (cl::SubCommand *command : allCommands()) {
    os << "    " << command->getName() << ")\n      _arguments";
    for (const ListedFlag &flag : flagsOf(*command)) {
      std::string spec = flag.dashed() +
                         (flag.needsValue && flag.name.size() > 1 ? "=" : "") +
                         "[" + zshText(flag.help) + "]";
      if (flag.needsValue)
        spec += ":" + zshText(flag.value.empty() ? "value" : flag.value) + ":" +
                (flag.choices.empty() ? "_files"
                                      : "(" + join(flag.choices, " ") + ")");
      os << " \\\n        " << quoted(spec, "'\\''");
    }
    os << " \\\n        '*:file:_files' ;;\n";
  }
  os << "  esac\n}\n_gpuopt \"$@\"\n";
}

//===----------------------------------------------------------------------===//
// fish
//===----------------------------------------------------------------------===//

static void printFish(raw_ostream &os) {
  os << "# fish completion of gpuopt " << kVersion
     << ", printed by gpuopt completion fish\n";
  for (cl::SubCommand *command : allCommands()) {
    os << "complete -c gpuopt -n __fish_use_subcommand -f -a "
       << command->getName() << " -d "
       << quoted(command->getDescription(), "\\'") << "\n";
    for (const ListedFlag &flag : flagsOf(*command)) {
      os << "complete -c gpuopt -n '__fish_seen_subcommand_from "
         << command->getName() << "' "
         << (flag.name.size() == 1 ? "-s " : "-l ") << flag.name
         << (flag.needsValue ? " -r" : "");
      if (!flag.choices.empty())
        os << " -f -a '" << join(flag.choices, " ") << "'";
      os << " -d " << quoted(flag.help, "\\'") << "\n";
    }
  }
}

bool gpuopt::printCompletion(StringRef shell, raw_ostream &os) {
  if (shell == "bash")
    printBash(os);
  else if (shell == "zsh")
    printZsh(os);
  else if (shell == "fish")
    printFish(os);
  else
    return false;
  return true;
}

//===----------------------------------------------------------------------===//
// man
//===----------------------------------------------------------------------===//

/// Returns a text of roff: backslashes and dashes are themselves, and no line
/// begins with what is a request.
static std::string roff(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  return StringRef(result).starts_with(".") ||
                 StringRef(result).starts_with("'")
             ? "\\&" + result
             : result;
}

void gpuopt::printManual(raw_ostream &os) {
  os << ".TH GPUOPT 1 \"\" \"gpuopt " << kVersion
     << "\" \"gpuopt\"\n.SH NAME\ngpuopt \\- compiles an ONNX model into a "
        "training program\n.SH SYNOPSIS\n.B gpuopt\n.I command\n[flags]\n"
        ".SH DESCRIPTION\nA graph compiler that turns an ONNX model into a "
        "program that trains it, within a budget of memory.\n.SH COMMANDS\n";
  for (cl::SubCommand *command : allCommands())
    os << ".TP\n.B " << command->getName() << "\n"
       << roff(command->getDescription()) << "\n";
  for (cl::SubCommand *command : allCommands()) {
    std::vector<ListedFlag> flags = flagsOf(*command);
    StringRef example = exampleOf(command->getName());
    if (flags.empty() && example.empty())
      continue;
    os << ".SH GPUOPT " << command->getName().upper() << "\n"
       << roff(command->getDescription()) << "\n";
    if (!example.empty())
      os << ".PP\n.nf\n" << roff(example) << "\n.fi\n";
    std::string heading;
    for (const ListedFlag &flag : flags) {
      if (flag.heading != heading)
        os << ".SS " << roff(flag.heading) << "\n";
      heading = flag.heading;
      os << ".TP\n.B " << roff(flag.dashed());
      if (flag.needsValue)
        os << (flag.name.size() == 1 ? " " : "=")
           << roff(flag.value.empty() ? "VALUE" : flag.value);
      os << "\n" << roff(flag.help) << "\n";
    }
  }
}
