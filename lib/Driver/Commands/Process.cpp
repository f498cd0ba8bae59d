//===- Process.cpp - How a command of gpuopt ends -------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/Process.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace gpuopt;

int gpuopt::failure(const Twine &what) {
  errs() << "gpuopt: error: " << what << "\n";
  return 1;
}

int gpuopt::failure(Error error) {
  handleAllErrors(std::move(error),
                  [](const ErrorInfoBase &one) { failure(one.message()); });
  return 1;
}

static void checkOutput() {
  outs().flush();
  std::error_code error = outs().error();
  outs().clear_error(); // which would end the process
  if (!error || error == std::errc::broken_pipe)
    return;
  failure("cannot write to the standard output: " + error.message());
  _exit(1);
}

void gpuopt::checkOutputAtExit() {
  // What is made before is destroyed afterwards.
  outs();
  errs();
  std::atexit(checkOutput);
}

static SmallVector<int, 4> ignoredSignals;

void gpuopt::noteIgnoredSignals() {
  for (int number : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM}) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) == 0 &&
        action.sa_handler == SIG_IGN)
      ignoredSignals.push_back(number);
  }
}

int gpuopt::become(ArrayRef<std::string> command) {
  outs().flush();
  for (int number : ignoredSignals)
    std::signal(number, SIG_IGN);
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  return failure("cannot run '" + command[0] + "': " + strerror(errno));
}
