// The sources that feed a program's inputs, as the flags name them.
#pragma once

#include "gpuopt/data/array.h"
#include "gpuopt/data/data_path.h"
#include "gpuopt/data/eval_transform.h"
#include "gpuopt/data/idx.h"
#include "gpuopt/data/image_source.h"
#include "gpuopt/data/indices.h"
#include "gpuopt/data/member_source.h"
#include "gpuopt/data/other_formats.h"
#include "gpuopt/data/parquet.h"
#include "gpuopt/device/list_text.h"

#include <map>
#include <numeric>

namespace gpuopt {

struct DataFlags {
  std::map<std::string, std::string> files; // by input
  std::string labels, tokens;
  std::string transform; // of pictures
  // What training does to pictures. The transform of data to validate on
  // follows from it if none is given.
  std::string training_transform;
  // The transform that later predictions take. It is only checked, in training
  // without validations.
  std::string eval_transform;

  bool given() const {
    return !files.empty() || !labels.empty() || !tokens.empty();
  }

  // INPUT=FILE; "labels" means the labels, and "labels.OUTPUT" those of one of
  // several outputs.
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
  static constexpr std::string_view kNames[] = {"uint8", "uint16", "uint32"};
  static constexpr Type kTypes[] = {Type::U8, Type::U16, Type::U32};
  for (size_t i = 0; i < std::size(kNames); i++)
    if (name == kNames[i])
      return kTypes[i];
  throw Error("'--token-type' must be " +
              wrong_choice(name, kNames, std::size(kNames)));
}

// Returns the name that numpy has for a type of inputs.
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

  DataSources open() {
    check_names();
    if (data.files.empty() &&
        !(data.transform.empty() && data.eval_transform.empty()))
      throw Error("'" + (data.transform.empty() ? "--eval-" : prefix) +
                  "transform' is for pictures, which " + prefix +
                  "data names, but it is not given");
    if (!data.tokens.empty())
      open_tokens();
    DataSources sources;
    for (const InputInfo &input : inputs) {
      const TensorInfo &tensor = input.tensor;
      if (takes_tokens(input))
        sources.push_back(std::make_unique<TokenSource>(tokens, tensor.shape[1],
                                                        input.is_label));
      else
        sources.push_back(open_file(file_of(input), input));
      const DataSource &source = *sources.back();
      const Type needed = source.gives_classes ? Type::I64 : tensor.type;
      if (!can_cast(source.type, needed))
        throw Error("'" + source.path + "' holds " + name_of(source.type) +
                    ", but '" + tensor.name + "' needs " + name_of(needed) +
                    "; save array.astype('" + numpy_name(needed) + "')");
    }
    check_transforms();
    check_pairs(sources);
    return sources;
  }

private:
  // Refuses a transform that has no effect because there are no pictures, and
  // one that cannot be read.
  void check_transforms() const {
    for (const auto &[flag, transform] :
         {std::pair(prefix + "transform", data.transform),
          std::pair(std::string("--eval-transform"), data.eval_transform)}) {
      if (transform.empty())
        continue;
      if (pictures.empty())
        throw Error("'" + flag + "' is for pictures, but " + prefix +
                    "data names none: it names '" + data.files.begin()->second +
                    "'; leave out " + flag +
                    ", or give a folder of pictures, or members of tar files, "
                    "as train.tar:jpg");
      for (const ImageSource *source : pictures)
        source->check_transform(transform, flag);
    }
  }
  // Samples are paired by their numbers, so that the files of a folder and
  // those of its labels must have the same names. Those of several folders of
  // pictures, as of a left and a right one, have names of their own.
  void check_pairs(const DataSources &sources) const {
    std::map<std::string, const DataSource *> pictures;
    for (const auto &source : sources)
      if (!source->class_names() && is_folder(source->path))
        pictures.emplace(source->path, source.get());
    if (pictures.size() != 1)
      return;
    const auto &[path, data] = *pictures.begin();
    for (const auto &labels : sources)
      if (labels->class_names() && labels->path != path)
        check_pair(*data, *labels);
  }
  void check_pair(const DataSource &data, const DataSource &labels) const {
    const std::vector<std::string> names = data.names(),
                                   label_names = labels.names();
    for (size_t i = 0; i < std::min(names.size(), label_names.size()); i++) {
      const std::filesystem::path name = names[i], other = label_names[i];
      const bool is_flat = !name.has_parent_path(); // a folder without classes
      if (name.stem() != other.stem() ||
          (!is_flat && name.parent_path() != other.parent_path()))
        throw Error("'" + labels.path + "' has labels of other files than '" +
                    data.path + "': sample " + std::to_string(i) + " is '" +
                    label_names[i] + "' there and '" + names[i] +
                    "' here; give " + prefix +
                    "labels the folder of the data, or one whose files have "
                    "the same names");
    }
  }
  std::unique_ptr<DataSource> open_file(const std::string &text,
                                        const InputInfo &input) {
    const DataPath path = parse_data_path(text);
    const TensorInfo &tensor = input.tensor;
    if (path.extension == ".npz")
      return open_array(read_npz(path.file, path.member), input);
    if (path.extension == ".safetensors")
      return open_array(read_safetensors_column(path.file, path.member), input);
    if (path.extension == ".parquet")
      return open_array(
          read_parquet_column(expand_shards(path.file), path.member, text),
          input);
    if (path.extension == ".tar")
      return open_members(path, input);
    if (is_folder(text))
      return open_folder(text, input);
    const MappedFile file(text);
    if (begins_like_idx(file))
      return file.data[3] == 1 && takes_classes(input)
                 ? giving_classes(std::make_unique<IdxSource>(
                       text, classes_of(input).tensor))
                 : std::make_unique<IdxSource>(text, tensor);
    if (!begins_like_npy(file))
      refuse_other_formats(file);
    return open_array(read_npy(text), input);
  }
  // Fractions are no classes, whatever their shape is, and neither are vectors
  // of which one element is 1.
  static void check_classes(const Array &array, const InputInfo &input) {
    const TensorInfo &tensor = input.tensor;
    const std::vector<int64_t> sample = detail::sample_shape(tensor);
    const bool has_vectors = array.shape.size() == sample.size() + 2;
    if (!input.is_label || is_fraction(tensor.type) ||
        !(is_fraction(array.type) || (has_vectors && sample.empty())))
      return;
    const std::string classes = numpy_name(tensor.type);
    throw Error("'" + array.content.path + "' holds " + numpy_name(array.type) +
                " " + shape_text(array.shape) +
                ", but the loss takes classes for '" + tensor.name + "', " +
                classes + " [samples" + (sample.empty() ? "" : ", ") +
                shape_text(sample).substr(1) +
                "; save the number of each class by array." +
                (has_vectors ? "argmax(1)" : "astype('" + classes + "')") +
                ", or choose another loss: --loss mse for numbers, "
                "soft_cross_entropy for probabilities of the classes");
  }
  // An array of integers with one dimension has classes.
  static std::unique_ptr<DataSource> open_array(Array array,
                                                const InputInfo &input) {
    check_classes(array, input);
    if (takes_classes(input) && array.shape.size() == 1 &&
        !is_fraction(array.type))
      return giving_classes(std::make_unique<ArraySource>(
          std::move(array), classes_of(input).tensor));
    return std::make_unique<ArraySource>(std::move(array), input.tensor);
  }
  static std::unique_ptr<DataSource>
  giving_classes(std::unique_ptr<DataSource> source) {
    source->gives_classes = true;
    return source;
  }
  std::unique_ptr<DataSource>
  open_pictures(std::shared_ptr<const Records> records,
                const InputInfo &input) {
    auto source = std::make_unique<ImageSource>(
        std::move(records), input.tensor,
        eval_transform_of(data.training_transform, data.transform),
        prefix + "transform");
    pictures.push_back(source.get());
    return source;
  }
  // Refuses a folder with more classes than the labels may have: the number of
  // a class is that of an element of the model's output.
  static void check_class_count(const ImageFolder &folder,
                                const InputInfo &fed) {
    const InputInfo input = takes_classes(fed) ? classes_of(fed) : fed;
    if (is_fraction(input.tensor.type)) // a number, of which there is no count
      return;
    const auto count = int64_t(folder.classes.size());
    std::vector<int64_t> numbers(folder.classes.size());
    std::iota(numbers.begin(), numbers.end(), int64_t(0));
    const int64_t first =
        first_outside(input, Type::I64,
                      reinterpret_cast<const uint8_t *>(numbers.data()), count);
    if (first < 0)
      return;
    throw Error("'" + folder.path + "' has " + std::to_string(count) +
                " classes, which are its sub-folders, but the model's output "
                "has " +
                std::to_string(input.index_limit) + ": '" +
                folder.classes[size_t(first)] + "' would be " +
                std::to_string(first) + " for '" + input.tensor.name +
                "'; remove sub-folders, or take a model with " +
                std::to_string(count) + " outputs");
  }
  // Pictures for an input, and their classes for the labels.
  std::unique_ptr<DataSource> open_folder(const std::string &path,
                                          const InputInfo &input) {
    std::shared_ptr<ImageFolder> &folder = folders[path];
    if (!folder)
      folder = std::make_shared<ImageFolder>(path);
    if (!input.is_label)
      return open_pictures(folder, input);
    if (folder->classes.empty())
      throw Error("'" + path +
                  "' has no sub-folders, but the sub-folders "
                  "of a folder of pictures are its classes");
    check_class_count(*folder, input);
    if (takes_classes(input))
      return giving_classes(std::make_unique<ClassSource>(folder));
    if (const int64_t size =
            detail::product(detail::sample_shape(input.tensor));
        size != 1)
      throw Error("the classes of '" + path +
                  "' are one number for each "
                  "sample, but '" +
                  input.tensor.name + "' needs " + std::to_string(size));
    return std::make_unique<ClassSource>(folder);
  }
  // What the members of tar files hold follows from their extension: "jpg;png"
  // is the first of both that a sample has, "json:label" a field.
  std::unique_ptr<DataSource> open_members(const DataPath &path,
                                           const InputInfo &input) {
    const size_t colon = path.member.find(':');
    const std::string field =
        colon == std::string::npos ? "" : path.member.substr(colon + 1);
    const std::vector<std::string> extensions =
        split_outside_braces(path.member.substr(0, colon), ';');
    auto ends = [&](std::initializer_list<std::string_view> kinds) {
      const std::string &name = extensions[0];
      const std::string_view last =
          std::string_view(name).substr(name.rfind('.') + 1);
      return std::find(kinds.begin(), kinds.end(), last) != kinds.end();
    };
    const bool is_image = ends({"jpg", "jpeg", "png"}), is_npy = ends({"npy"}),
               is_json = ends({"json"});
    if (!is_image && !is_npy && (!is_json || field.empty()) &&
        !ends({"cls", "cls2", "class", "count", "index", "inx", "id"}))
      throw Error("'" + path.file + ":" + path.member +
                  "' names no members that can be read; name some as " +
                  path.file + ":jpg, or png, cls, npy or json:FIELD");
    std::shared_ptr<TarShards> &opened = shards[path.file];
    if (!opened)
      opened = std::make_shared<TarShards>(expand_shards(path.file));
    auto records = std::make_shared<TarRecords>(
        opened, path.file + ":" + path.member, extensions);
    if (is_image)
      return open_pictures(records, input);
    if (is_npy)
      return std::make_unique<NpyMemberSource>(records, input.tensor);
    if (!is_json && takes_classes(input))
      return giving_classes(std::make_unique<NumberSource>(
          records, classes_of(input).tensor, field));
    return std::make_unique<NumberSource>(records, input.tensor, field);
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

  int count_labels() const {
    int count = 0;
    for (const InputInfo &input : inputs)
      count += input.is_label;
    return count;
  }
  // Returns "--data labels.logits=FILE --data labels.aux=FILE".
  std::string flags_of_labels() const {
    std::string flags;
    for (const InputInfo &input : inputs)
      if (input.is_label)
        flags += (flags.empty() ? "" : " ") + prefix + "data " +
                 input.tensor.name + "=FILE";
    return flags;
  }

  void check_names() const {
    const bool gives_labels =
        !data.labels.empty() || data.files.count("labels");
    if (gives_labels && count_labels() > 1)
      throw Error("'" + prefix +
                  "labels' is given, but the losses of several outputs have "
                  "labels of their own: " +
                  flags_of_labels());
    if (gives_labels && count_labels() == 0)
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
                    names_of([](const InputInfo &) { return true; }) +
                    (count_labels() > 1
                         ? "; its labels are given by " + flags_of_labels()
                         : ""));
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
    const auto file = data.files.find(input.tensor.name);
    if (file != data.files.end())
      return file->second;
    if (input.is_label && !data.labels.empty())
      return data.labels;
    if (input.is_label && count_labels() > 1)
      throw Error("labels are missing: " + prefix + "data " +
                  input.tensor.name + "=FILE");
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
  std::vector<const ImageSource *> pictures; // of what is being opened
  // The sources that several inputs read, by what the flags name.
  std::map<std::string, std::shared_ptr<ImageFolder>> folders;
  std::map<std::string, std::shared_ptr<TarShards>> shards;
};

} // namespace gpuopt
