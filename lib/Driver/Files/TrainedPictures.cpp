//===- TrainedPictures.cpp - How a run has seen its pictures --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/TrainedPictures.h"

#include "Files/JoinPath.h"
#include "Files/RunFiles.h"
#include "Files/TrainerFlags.h"
#include "gpuopt/data/eval_transform.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

/// Returns the folder that has a file: that of a run, or for a checkpoint also
/// the one above, which is that of its run. Empty if none has. What lies above
/// the folder of a run is not of the run.
static std::string folderWith(StringRef folder, StringRef file) {
  SmallString<256> path(folder);
  if (sys::fs::make_absolute(path))
    return "";
  sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  if (hasFile(path, file))
    return path.str().str();
  StringRef above = sys::path::parent_path(path);
  bool isCheckpoint = step_in_name(sys::path::filename(path).str()) >= 0;
  return isCheckpoint && hasFile(above, file) ? above.str() : "";
}

/// Returns the last value of a flag in a command; empty if it is not given.
static std::string valueIn(const RunCommand &command, StringRef flag) {
  return valueOf(flag, command.arguments).value_or("");
}

static Expected<std::string>
withoutAugmentations(StringRef folder, const std::string &transform) {
  try {
    return without_augmentations(
        transform, "'" + folder.str() +
                       "' is of a run that trained on random crops (" +
                       transform +
                       ") and had no --eval-transform; say what is done to "
                       "pictures here by --transform");
  } catch (const std::exception &error) {
    return createStringError(error.what());
  }
}

Expected<std::string> gpuopt::transformOfRun(StringRef folder) {
  std::string run = folderWith(folder, kRunTraitsFile);
  Expected<RunDescription> description =
      readRunDescription(run.empty() ? folder : StringRef(run));
  if (!description) {
    errs() << "gpuopt: warning: pictures are seen as they are, because it is "
              "not known what the run has done to them: "
           << toString(description.takeError()) << "; say it by --transform\n";
    return "";
  }
  if (std::string text = valueIn(description->command, "--eval-transform");
      !text.empty())
    return text;
  return withoutAugmentations(folder,
                              valueIn(description->command, "--transform"));
}

std::string gpuopt::classNamesOfRun(StringRef folder) {
  std::string run = folderWith(folder, kClassNamesFile);
  return run.empty() ? "" : joinPath(run, kClassNamesFile);
}
