//===- InitialWeights.cpp - The weights that a run begins with ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/InitialWeights.h"

#include "Files/ParseType.h"
#include "gpuopt/trainer/checkpoints/init_weights.h"
#include "gpuopt/trainer/class_names.h"

using namespace gpuopt;

/// Describes a tensor as a program does; returns false if that cannot be done.
/// `names` is what the description refers to.
static bool describe(const WeightShape &weight, StateInfo &state,
                     std::vector<const char *> &names) {
  TensorInfo &tensor = state.tensor;
  state.kind = StateKind::Parameter;
  tensor.name = weight.name.c_str();
  tensor.rank = int(weight.shape.size());
  if (weight.shape.size() > size_t(kMaxDims) ||
      !parseType(weight.type, tensor.type))
    return false;
  std::copy(weight.shape.begin(), weight.shape.end(), tensor.shape);
  tensor.bytes = size_t(tensor.elements()) * size_of(tensor.type);
  for (const std::string &name : weight.savedAs)
    names.push_back(name.c_str());
  if (!names.empty()) {
    names.push_back(nullptr);
    state.saved_as = names.data();
  }
  return true;
}

/// Says that a file is not compared with a program, of which a tensor cannot be
/// described. The trainer, to which the whole table of tensors is known, says
/// nothing of what does not fit if gpuopt has started it.
static std::string describeUnknown(const std::string &path,
                                   const WeightShape &weight) {
  return "'--init-from' '" + path +
         "': it is not known before the run which tensors fit, because the "
         "program has '" +
         weight.name + "' with elements of " + weight.type + " and " +
         std::to_string(weight.shape.size()) +
         " dimensions; --init-strict has the run refuse a file that does not "
         "fit";
}

std::string gpuopt::whyNoWeightsIn(const std::string &path,
                                   const std::string &flag) {
  try {
    const MappedFile file(path);
    refuse_other_weights(file, flag);
    read_safetensors(file);
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

StartFindings gpuopt::lookAtStart(const std::string &path,
                                  const std::vector<WeightShape> &weights,
                                  bool isStrict,
                                  const std::string &classNames) {
  if (path.empty())
    return {};
  const std::string others = describe_other_classes(path, classNames);
  std::vector<StateInfo> described(weights.size());
  std::vector<std::vector<const char *>> names(weights.size());
  const WeightShape *unknown = nullptr;
  for (size_t i = 0; i < weights.size(); ++i)
    if (!describe(weights[i], described[i], names[i]))
      unknown = &weights[i];
  Table<StateInfo> states;
  states.data = described.data();
  states.count = int(described.size());
  StartFindings findings;
  try {
    if (unknown && !isStrict)
      findings.warnings.push_back(describeUnknown(path, *unknown));
    if (!unknown)
      if (InitWeights found =
              match_init_weights(MappedFile(path), states, isStrict);
          !found.is_whole)
        findings.warnings.push_back(found.text);
  } catch (const std::exception &error) {
    return {error.what(), {}};
  }
  if (isStrict)
    findings.problem = others;
  else if (!others.empty())
    findings.warnings.push_back(others + kBeginsAllTheSame);
  return findings;
}
