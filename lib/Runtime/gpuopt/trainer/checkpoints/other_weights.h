// Tells files of weights in other formats than safetensors, which a user may
// well have, and how to convert them.
#pragma once

#include "gpuopt/data/mapped_file.h"

#include <cstring>
#include <string>

namespace gpuopt {

namespace detail {
// What a file is, the tensors in it as an expression of Python, and what has to
// be known before that is written; empty: nothing.
struct OtherWeights {
  std::string kind, tensors, condition;
};

inline std::string python_quoted(const std::string &text) {
  std::string quoted;
  for (const char c : text)
    quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string{c};
  return "'" + quoted + "'";
}

// Tells by the first bytes and the name of a file; empty if the format is not
// known or if it is that of safetensors. The length of a safetensors header
// comes before it and may look like the first bytes of another format.
inline OtherWeights other_weights(const MappedFile &file,
                                  const std::string &ending) {
  const auto begins = [&](const char *magic, size_t bytes) {
    return file.bytes >= bytes && memcmp(file.data, magic, bytes) == 0;
  };
  if (file.bytes > 8 && file.data[8] == '{')
    return {};
  const std::string quoted = python_quoted(file.path);
  if (ending == ".onnx")
    return {"an ONNX model",
            "{tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in "
            "onnx.load(" +
                quoted + ").graph.initializer}",
            "without this flag, a program begins with the weights of its own "
            "model; for those of another model, "};
  if (begins("PK\3\4", 4) && ending == ".npz")
    return {"a file of numpy.savez", "dict(numpy.load(" + quoted + "))", ""};
  if (begins("PK\3\4", 4) || begins("\x80\2", 2))
    return {"a file of torch.save",
            "{name: tensor.detach().float().numpy() for name, tensor in "
            "torch.load(" +
                quoted + ", map_location='cpu').items()}",
            "if the file is a state_dict, "};
  if (begins("\x93NUMPY", 6))
    return {"a file of numpy.save",
            "{'NAME OF THE WEIGHT': numpy.load(" + quoted + ")}", ""};
  return {};
}
} // namespace detail

// Refuses a file for a flag, --init-from or --weights, that has weights in
// another format, and says how to write them as safetensors.
inline void refuse_other_weights(const MappedFile &file,
                                 const std::string &flag) {
  const size_t dot = file.path.find_last_of("./");
  const bool has_ending = dot != std::string::npos && file.path[dot] == '.';
  const detail::OtherWeights found =
      detail::other_weights(file, has_ending ? file.path.substr(dot) : "");
  if (!found.kind.empty())
    throw Error("'" + flag + "' '" + file.path + "' is " + found.kind +
                ", but a safetensors file is needed; " + found.condition +
                "write one in Python: gpuopt.safetensors.write(" +
                detail::python_quoted(
                    file.path.substr(0, has_ending ? dot : std::string::npos) +
                    ".safetensors") +
                ", " + found.tensors + ")");
}

} // namespace gpuopt
