// The sources that feed a program's inputs, as the flags name them.
#pragma once

#include "gpuopt/data/dataset.h"
#include "gpuopt/data/idx.h"

#include <map>

namespace gpuopt {

struct DataFlags {
  std::map<std::string, std::string> files; // by input
  std::string labels, tokens;

  bool given() const {
    return !files.empty() || !labels.empty() || !tokens.empty();
  }

  // INPUT=FILE; "labels" means the labels.
  void add(const std::string &flag, const std::string &text) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw Error("'" + flag + "' needs INPUT=FILE, but got '" + text + "'");
    const std::string name = text.substr(0, equals),
                      file = text.substr(equals + 1);
    const auto [known, is_new] = files.try_emplace(name, file);
    if (!is_new)
      throw Error("'" + flag + "' gives '" + name + "' twice: '" +
                  known->second + "' and '" + file + "'");
  }
};

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

// Opens the source of each input; `prefix` begins the names of the flags.
class SourceOpener {
public:
  SourceOpener(Table<InputInfo> inputs, const DataFlags &data,
               std::string token_type, std::string prefix)
      : inputs(inputs), data(data), token_type(std::move(token_type)),
        prefix(std::move(prefix)) {}

  Sources open() {
    check_names();
    if (!data.tokens.empty())
      open_tokens();
    Sources sources;
    for (const InputInfo &input : inputs) {
      const TensorInfo &tensor = input.tensor;
      if (takes_tokens(input))
        sources.push_back(std::make_unique<TokenSource>(tokens, tensor.shape[1],
                                                        input.is_label));
      else
        sources.push_back(open_file(file_of(input), tensor));
      const Source &source = *sources.back();
      if (!can_cast(source.type, tensor.type))
        throw Error("'" + source.path + "' holds " + name_of(source.type) +
                    ", but '" + tensor.name + "' needs " +
                    name_of(tensor.type) + "; save array.astype('" +
                    numpy_name(tensor.type) + "')");
    }
    return sources;
  }

private:
  static std::unique_ptr<Source> open_file(const std::string &path,
                                           const TensorInfo &tensor) {
    if (begins_like_idx(MappedFile(path)))
      return std::make_unique<IdxSource>(path, tensor);
    return std::make_unique<NpySource>(path, tensor);
  }
  static bool can_take_tokens(const InputInfo &input) {
    return input.tensor.rank == 2 && input.tensor.type == Type::I64;
  }
  bool takes_tokens(const InputInfo &input) const {
    return tokens && can_take_tokens(input) &&
           !data.files.count(input.tensor.name);
  }
  static std::string quoted(const char *name) {
    return std::string("'").append(name).append("'");
  }
  // Returns "'a', 'b'" for the inputs that are no labels and fit.
  template <class Fits>
  std::string names_of(Fits fits, int *count = nullptr) const {
    std::string names;
    for (const InputInfo &input : inputs)
      if (!input.is_label && fits(input)) {
        names += (names.empty() ? "" : ", ") + quoted(input.tensor.name);
        if (count)
          ++*count;
      }
    return names;
  }

  bool takes_labels() const {
    for (const InputInfo &input : inputs)
      if (input.is_label)
        return true;
    return false;
  }

  void check_names() const {
    if (!takes_labels() && (!data.labels.empty() || data.files.count("labels")))
      throw Error("'" + prefix +
                  "labels' is given, but the program takes none: it was "
                  "compiled with --loss=none");
    if (data.files.count("labels") && !data.labels.empty())
      throw Error("the labels are given twice: " + prefix + "labels and " +
                  prefix + "data labels=");
    for (const auto &[name, path] : data.files) {
      bool known = name == "labels";
      for (const InputInfo &input : inputs)
        known |= name == input.tensor.name;
      if (!known)
        throw Error("'" + prefix + "data " + name +
                    "=...' names no input of the model; its inputs are " +
                    names_of([](const InputInfo &) { return true; }));
    }
  }

  // Tokens feed one input; all others need --data.
  void open_tokens() {
    tokens =
        std::make_shared<TokenFile>(data.tokens, token_type_of(token_type));
    int count = 0;
    const std::string names = names_of(
        [&](const InputInfo &input) { return takes_tokens(input); }, &count);
    if (count == 0)
      throw Error("'" + prefix +
                  "tokens' finds no integer input of two "
                  "dimensions that " +
                  prefix + "data does not give");
    if (count > 1)
      throw Error("'" + prefix + "tokens' could be any of " + names +
                  "; give all but one by " + prefix + "data");
    for (const InputInfo &input : inputs)
      if (input.is_label && can_take_tokens(input) &&
          (!data.labels.empty() || data.files.count("labels")))
        throw Error("with '" + prefix +
                    "tokens' the label is the next token; "
                    "leave out " +
                    prefix + "labels");
  }

  std::string file_of(const InputInfo &input) const {
    const auto file =
        data.files.find(input.is_label ? "labels" : input.tensor.name);
    if (file != data.files.end())
      return file->second;
    if (input.is_label && !data.labels.empty())
      return data.labels;
    throw Error(input.is_label
                    ? "the labels are missing: " + prefix + "labels FILE"
                    : "input '" + std::string(input.tensor.name) +
                          "' is missing: " + prefix + "data " +
                          input.tensor.name + "=FILE");
  }

  const Table<InputInfo> inputs;
  const DataFlags &data;
  const std::string token_type, prefix;
  std::shared_ptr<TokenFile> tokens;
};

} // namespace gpuopt
