// The hashes by which weights and checkpoints tell the model that was trained,
// as "1:0123456789abcdef": a version and the digits. They are compared by the
// compiler and by the trainers alike. This file is C++17, as the compiler is.
#pragma once

#include <string>

namespace gpuopt {

// The version of the hashes that the compiler makes (ModelHash.cpp). It has to
// be raised with each change that gives an unchanged ONNX file another hash:
// a change of what is hashed, of the operators and attributes into which the
// importer turns a file, or of how MLIR prints types and attributes. Otherwise
// old weights and checkpoints would be refused. test/Driver/export.test checks
// a whole hash and fails after such a change.
constexpr char kModelHashVersion[] = "1";

struct ModelHash {
  std::string version, digits;
};

// A hash without a version is of version 1, which was first written like that.
inline ModelHash read_model_hash(const std::string &text) {
  const size_t colon = text.find(':');
  return colon == std::string::npos
             ? ModelHash{"1", text}
             : ModelHash{text.substr(0, colon), text.substr(colon + 1)};
}

// Whether two models are known to differ by their hashes, which may be empty.
inline bool are_other_models(const std::string &a, const std::string &b) {
  const ModelHash one = read_model_hash(a), other = read_model_hash(b);
  return !a.empty() && !b.empty() && one.version == other.version &&
         one.digits != other.digits;
}

// Whether there are two hashes, but they cannot be compared.
inline bool have_other_versions(const std::string &a, const std::string &b) {
  return !a.empty() && !b.empty() &&
         read_model_hash(a).version != read_model_hash(b).version;
}

} // namespace gpuopt
