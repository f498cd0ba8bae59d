//===- Functions.h - Functions that a model defines itself ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_FUNCTIONS_H
#define GPUOPT_LIB_IMPORT_ONNX_FUNCTIONS_H

#include "Reporter.h"

#include "onnx.pb.h"

#include <deque>
#include <map>
#include <vector>

namespace gpuopt::onnx {

/// The nodes of a graph after inlining, none of which calls a function.
struct NodeList {
  std::vector<const proto::NodeProto *> nodes;
  /// The nodes that are not the file's own. Elements of a deque do not move.
  std::deque<proto::NodeProto> owned;
};

/// Versions of operator domains; the default domain is `ai.onnx`.
using Opsets = std::map<std::string, int64_t>;

/// Returns the name of a domain: "ai.onnx" for the default domain, which a file
/// may leave empty.
std::string getDomainName(const std::string &domain);

/// Returns the domains that the imports name, each at the highest version, as
/// the specification asks.
Opsets collectOpsets(
    const google::protobuf::RepeatedPtrField<proto::OperatorSetIdProto>
        &imports);

/// Replaces each call of one of the model's own functions by the function's
/// nodes, recursively. A function may import domains that the model does not
/// import; the domains of its nodes are added to `opsets`.
mlir::FailureOr<NodeList> inlineFunctions(const proto::ModelProto &model,
                                          Opsets &opsets,
                                          const Reporter &reporter);

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_FUNCTIONS_H
