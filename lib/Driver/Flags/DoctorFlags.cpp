//===- DoctorFlags.cpp - The flags of gpuopt doctor -----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/CompileFlags.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::doctorCategory() {
  static cl::OptionCategory category("The examination");
  return category;
}

namespace {
Flag<std::string>
    examined("target", "auto",
             "the target to examine, which must be usable; auto: host, and "
             "cuda, which must be usable where there are a GPU and nvcc",
             cl::value_desc("TARGET"), cl::cat(doctorCategory()),
             cl::sub(doctorCommand()));
Switch quick("no-self-test",
             cl::desc("do not train a small model for each target"),
             cl::cat(doctorCategory()), cl::sub(doctorCommand()));
} // namespace

Expected<DoctorOptions> gpuopt::collectDoctor() {
  DoctorOptions options;
  options.trains = !quick;
  StringRef name = examined;
  if (name == "auto") {
    options.targets = {find_target("host"), find_target("cuda")};
    options.needed = {find_target("host")};
    if (chooseTarget().target == "cuda")
      options.needed.push_back(find_target("cuda"));
    return options;
  }
  const TargetInfo *target = find_target(name);
  if (!target)
    return createStringError(errorOf(*find_compile_setting("target"), name));
  options.targets = options.needed = {target};
  return options;
}
