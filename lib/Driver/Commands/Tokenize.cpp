//===- Tokenize.cpp - Tokens of text files --------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The Python package does the work, through Hugging Face's tokenizers.

#include "Commands/Process.h"
#include "gpuopt/Driver/Driver.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace gpuopt;

static constexpr char kScript[] = R"(import signal, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
# Modules of the folder that gpuopt runs in are not Python's own.
sys.path = [path for path in sys.path if path]
try:
    from gpuopt.tokenizing import main
except ImportError as error:
    sys.exit("gpuopt: error: tokenize needs gpuopt's Python package: " +
             str(error) + "; install it by 'pip install ./python' in "
             "gpuopt's sources")
try:
    sys.exit(main(sys.argv[1:]))
except KeyboardInterrupt:  # the unfinished file is removed
    sys.exit(130)
)";

int gpuopt::tokenizeText(ArrayRef<std::string> arguments) {
  auto python = sys::findProgramByName("python3");
  if (!python)
    return failure("tokenize needs python3, which is not on the PATH");
  std::vector<std::string> command{*python, "-c", kScript};
  command.insert(command.end(), arguments.begin(), arguments.end());
  // It has few flags, and --help lists all of them.
  std::replace(command.begin(), command.end(), std::string("--help-all"),
               std::string("--help"));
  return become(command);
}
