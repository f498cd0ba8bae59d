// The sources that feed a program's inputs, as the flags name them.
#pragma once

#include "gpuopt/loader.h"
#include "gpuopt/settings.h"

namespace gpuopt {

inline Type token_type_of(const std::string &name) {
  if (name == "uint8")
    return Type::U8;
  if (name == "uint16")
    return Type::U16;
  if (name == "uint32")
    return Type::U32;
  throw Error("'--token-type' must be uint8, uint16 or uint32, but is '" +
              name + "'");
}

// What numpy calls the types of inputs.
inline const char *numpy_name(Type type) {
  switch (type) {
  case Type::F64:
    return "float64";
  case Type::F32:
    return "float32";
  case Type::F16:
    return "float16";
  case Type::I64:
    return "int64";
  case Type::I32:
    return "int32";
  case Type::Bool:
    return "bool";
  default:
    return name_of(type);
  }
}

inline Loader::Sources open_sources(const Program &program,
                                    const DataFlags &data,
                                    const std::string &token_type,
                                    const std::string &prefix) {
  Loader::Sources sources;
  std::shared_ptr<TokenFile> tokens;
  if (!data.tokens.empty())
    tokens =
        std::make_shared<TokenFile>(data.tokens, token_type_of(token_type));
  for (const InputInfo &input : program.inputs) {
    const TensorInfo &tensor = input.tensor;
    const auto file = data.files.find(tensor.name);
    if (tokens && tensor.rank == 2 &&
        (input.is_label || tensor.type == Type::I64)) {
      sources.push_back(std::make_unique<TokenSource>(tokens, tensor.shape[1],
                                                      input.is_label));
    } else {
      const std::string path = input.is_label             ? data.labels
                               : file == data.files.end() ? ""
                                                          : file->second;
      if (path.empty())
        throw Error(input.is_label ? "the labels are missing: " + prefix +
                                         "labels FILE.npy"
                                   : "input '" + std::string(tensor.name) +
                                         "' is missing: " + prefix + "data " +
                                         tensor.name + "=FILE.npy");
      sources.push_back(std::make_unique<NpySource>(path, tensor));
    }
    const Source &source = *sources.back();
    if (!can_cast(source.type, tensor.type))
      throw Error("'" + source.path + "' holds " + name_of(source.type) +
                  ", but '" + tensor.name + "' needs " + name_of(tensor.type) +
                  "; save array.astype('" + numpy_name(tensor.type) + "')");
  }
  for (const auto &[name, path] : data.files) {
    bool known = name == "labels";
    for (const InputInfo &input : program.inputs)
      known |= name == input.tensor.name;
    if (!known)
      throw Error("'" + prefix + "data " + name +
                  "=...' names no input of the model");
  }
  return sources;
}

} // namespace gpuopt
