//===- Doctor.cpp - Say what of all that gpuopt uses is there -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build/BuildCache.h"
#include "Doctor/SelfTest.h"
#include "gpuopt/Driver/Driver.h"
#include "gpuopt/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

using State = Finding::State;

static void print(const Finding &finding) {
  StringRef state = finding.state == State::Found     ? "ok"
                    : finding.state == State::Missing ? "missing"
                                                      : "unfit";
  outs() << formatv("  {0,-9}{1,-15}{2}\n", state, finding.name, finding.text);
  outs().flush();
}

static void print(const Findings &findings) {
  outs() << findings.title << "\n";
  for (const Finding &finding : findings.list)
    print(finding);
}

/// Trains for each target that has all it needs, and takes those out of
/// `usable` that fail.
static void testTargets(SmallVectorImpl<const TargetInfo *> &usable) {
  outs() << "Self-test\n";
  outs().flush();
  llvm::erase_if(usable, [](const TargetInfo *target) {
    Finding finding = trainPerceptron(*target);
    print(finding);
    return finding.state != State::Found;
  });
}

int gpuopt::examineInstallation(const DoctorOptions &options) {
  outs() << "gpuopt " << kVersion << "\n";
  print(examineMachine(buildCacheFolder(".")));
  SmallVector<const TargetInfo *> usable;
  for (const TargetInfo *target : options.targets) {
    Findings findings = examineTarget(*target);
    print(findings);
    if (findings.areComplete())
      usable.push_back(target);
  }
  if (llvm::any_of(options.targets, [](const TargetInfo *target) {
        return target->runs_on_gpu;
      })) {
    print(examineProfiling());
    print(examineRanks());
  }
  print(examineData());
  if (options.trains)
    testTargets(usable);
  std::string names;
  for (const TargetInfo *target : usable)
    names += (names.empty() ? "" : ", ") + std::string(target->name);
  outs() << "Programs can be built and run for: "
         << (names.empty() ? "no target" : names) << "\n";
  bool hasAll = llvm::all_of(options.needed, [&](const TargetInfo *target) {
    return llvm::is_contained(usable, target);
  });
  return hasAll ? 0 : 1;
}
