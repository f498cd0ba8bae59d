//===- NextSteps.cpp - How to build and run a program ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/NextSteps.h"

#include "Files/CommandText.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

using namespace mlir;
using namespace gpuopt;

/// Prints "x.npy: f32 [samples, 8]".
static void printFile(device::BufferOp buffer, llvm::raw_ostream &os) {
  auto type = cast<RankedTensorType>(buffer.getType());
  os << "  " << *buffer.getExternalName() << ".npy: " << type.getElementType()
     << " [samples";
  for (int64_t size : type.getShape().drop_front(type.getRank() > 0))
    os << ", " << size;
  os << "]\n";
}

void gpuopt::printNextSteps(const DriverOptions &options, ModuleOp module,
                            llvm::raw_ostream &os) {
  const std::string &folder = options.outputDir;
  std::string build = shellWord(folder + "/build");
  StringRef executable = options.pipeline.step.inference ? kPredictorExecutable
                                                         : kTrainerExecutable;
  os << "the program is in '" << folder << "'; build it: cmake -S "
     << shellWord(folder) << " -B " << build << " && cmake --build " << build
     << " --parallel\nrun it: "
     << shellWord((folder + "/build/" + executable).str());
  SmallVector<device::BufferOp> files;
  for (device::BufferOp buffer : module.getOps<device::BufferOp>()) {
    bool isLabels = buffer.getKind() == device::BufferKind::Labels;
    if (!isLabels && buffer.getKind() != device::BufferKind::Input)
      continue;
    StringRef name = *buffer.getExternalName();
    if (isLabels)
      os << " --labels " << shellWord((name + ".npy").str());
    else
      os << " --data " << shellWord((name + "=" + name + ".npy").str());
    files.push_back(buffer);
  }
  os << "\n";
  // A script knows what its files hold; a person at a terminal is told.
  if (!os.is_displayed())
    return;
  os << "with\n";
  for (device::BufferOp buffer : files)
    printFile(buffer, os);
}
