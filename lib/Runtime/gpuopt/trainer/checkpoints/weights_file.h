// Copies a program's state on the device to safetensors files, and back.
#pragma once

#include "gpuopt/trainer/averages.h"
#include "gpuopt/trainer/checkpoints/originals.h"

#include <filesystem>
#include <optional>

namespace gpuopt {

inline std::filesystem::path executable_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

// Returns the path of a file that came with the program: in the folder of the
// executable or of the library, or one folder above.
inline std::string
program_file(const std::string &name,
             const std::filesystem::path &self = executable_folder()) {
  for (const auto &folder : {self, self.parent_path()})
    if (std::filesystem::exists(folder / name))
      return (folder / name).string();
  throw Error("'" + name +
              "' lies neither beside the program nor in the folder above it; "
              "name the weights by --weights");
}

// Returns the file of the program's constants: the one that came with the
// program or, if there is none, the one beside the weights, which may be those
// of another program. `weights` is empty where they came with the program.
inline std::string
constants_file(const std::string &weights,
               const std::filesystem::path &self = executable_folder()) {
  const auto beside =
      std::filesystem::path(weights).parent_path() / kConstantsFile;
  const bool is_with_program =
      std::filesystem::exists(self / kConstantsFile) ||
      std::filesystem::exists(self.parent_path() / kConstantsFile);
  return !is_with_program && !weights.empty() && std::filesystem::exists(beside)
             ? beside.string()
             : program_file(kConstantsFile, self);
}

class WeightsFile {
public:
  // With `averages`, the file has them in place of the parameters, and loading
  // reads nothing else.
  WeightsFile(Context &ctx, const Program &program, char *memory,
              Originals &originals, const Averages *averages = nullptr)
      : ctx(ctx), program(program), memory(memory), originals(originals),
        averages(averages) {}

  using Names = std::set<std::string>;

  // Loads what the kind of file has. Returns the names of tensors that are not
  // finite. `exactly` refuses tensors that the program does not have.
  Names load(const std::string &path, StateFile kind, bool exactly = false) {
    return load(MappedFile(path), kind, exactly);
  }
  Names load(const MappedFile &file, StateFile kind, bool exactly = false) {
    const std::string &path = file.path;
    Names infinite;
    std::map<std::string, std::string> metadata;
    const auto tensors = read_safetensors(file, &metadata);
    const std::string others = others_of(tensors, kind, exactly);
    if (exactly && !others.empty())
      throw Error("'" + path + "' has " + others +
                  ", which the program does not have");
    // A file that does not fit changes nothing: all is checked first.
    for (const StateInfo &state : program.states)
      if (has_state(kind, state.kind))
        check(path, tensors, state);
    // Training needs tensors that a prediction with the same graph does not.
    const auto graph = metadata.find(kGraphEntry);
    const bool is_same_graph =
        graph != metadata.end() && graph->second == program.graph;
    if (kind == StateFile::Weights && !is_same_graph && !others.empty())
      fprintf(stderr,
              "%s: warning: '%s' has %s, which the program does not have and "
              "does not take\n",
              program.name, path.c_str(), others.c_str());
    originals.begin_loading(file);
    for (const StateInfo &state : program.states)
      if (has_state(kind, state.kind) &&
          (!averages || state.kind == StateKind::Parameter) &&
          !read(state, tensors.at(stored_name(state)), file))
        infinite.insert(state.tensor.name);
    return infinite;
  }

  // Loads once more, from a file that has been loaded, what `prepare` has
  // changed since then.
  void load_folded_in_place(const MappedFile &file) {
    const auto tensors = read_safetensors(file);
    for (const StateInfo &state : program.states)
      if (state.is_folded_in_place)
        read(state, tensors.at(stored_name(state)), file);
  }

  // Under all of a tensor's names, where weights are tied. Where training has
  // made a weight or a running statistic infinite or NaN, other than those that
  // were so at first, nothing is written: returns their names. `step` is that
  // of a run, which the file tells.
  std::string save(const std::string &path, const Names &infinite_at_first,
                   std::optional<int64_t> step = {}) {
    NameList lost;
    std::vector<std::vector<char>> copies;
    std::vector<TensorToSave> tensors;
    for (const StateInfo &state : program.states)
      if (has_state(StateFile::Weights, state.kind)) {
        const char *data = place_of(state);
        if (!kStagingIsDevice) {
          copies.push_back(on_host(state));
          data = copies.back().data();
        }
        if (is_lost(state, data, infinite_at_first))
          lost.add(state.tensor.name);
        for (const std::string &name : stored_names(state))
          tensors.push_back(originals.to_save(state, name, data));
      }
    auto metadata = metadata_of_weights(program);
    if (step)
      metadata[kStepEntry] = std::to_string(*step);
    if (lost.empty())
      write_safetensors(path, tensors, metadata);
    originals.warn_of_rounded();
    return lost.text();
  }

  // The gradient of the step's mean loss, before clipping.
  void dump_gradients(const std::string &path, double grad_weight) {
    std::vector<std::vector<char>> copies;
    std::vector<TensorToSave> tensors;
    for (const StateInfo &state : program.states)
      if (state.kind == StateKind::Gradient) {
        copies.push_back(on_host(state));
        divide(state.tensor, copies.back(), grad_weight);
        tensors.push_back(
            originals.to_save(state, stored_name(state), copies.back().data()));
      }
    write_safetensors(path, tensors);
  }

private:
  void check(const std::string &path,
             const std::map<std::string, StoredTensor> &tensors,
             const StateInfo &state) const {
    const char *name = stored_name(state);
    const auto found = tensors.find(name);
    if (found == tensors.end())
      throw Error("'" + path + "' lacks '" + name + "'");
    const StoredTensor &stored = found->second;
    const auto shape = shape_of(state.tensor);
    const char *type = safetensors_name(state.tensor.type);
    const bool is_half = rounds(stored, state);
    if (stored.shape != shape || (stored.dtype != type && !is_half))
      throw Error("'" + path + "' has '" + name + "' as " + stored.dtype + " " +
                  shape_text(stored.shape) + ", but the program needs " + type +
                  " " + shape_text(shape));
    const size_t expected =
        is_half ? size_t(state.tensor.elements()) * size_of(type_of(stored))
                : size_t(state.tensor.bytes);
    if (stored.bytes != expected)
      throw Error("'" + path + "' has " + std::to_string(stored.bytes) +
                  " bytes for '" + name + "', whose shape needs " +
                  std::to_string(expected));
  }
  static Type type_of(const StoredTensor &stored) {
    for (int type = 0; type <= int(Type::Bool); type++)
      if (stored.dtype == safetensors_name(Type(type)))
        return Type(type);
    throw Error("there is no type '" + stored.dtype + "'");
  }
  // Whether a tensor is rounded as it is read.
  bool rounds(const StoredTensor &stored, const StateInfo &to) const {
    return is_rounded(program, to) &&
           stored.dtype != safetensors_name(to.tensor.type) &&
           (stored.dtype == "F32" || stored.dtype == "F16" ||
            stored.dtype == "BF16");
  }
  // Returns the names of a file's tensors that the program does not have.
  // Without `integers`, not those that count or number something.
  std::string others_of(const std::map<std::string, StoredTensor> &tensors,
                        StateFile kind, bool integers) const {
    Names known;
    NameList others;
    for (const StateInfo &state : program.states)
      if (has_state(kind, state.kind))
        for (const std::string &name : stored_names(state))
          known.insert(name);
    for (const auto &[name, tensor] : tensors)
      if (!known.count(name) && (integers || !is_of_integers(tensor)))
        others.add(name.c_str());
    return others.text();
  }
  // By pieces, so that the weights are not in memory twice. Returns whether all
  // are finite.
  bool read(const StateInfo &to, const StoredTensor &from,
            const MappedFile &file) {
    constexpr size_t kPiece = size_t(8) << 20;
    const Type type = type_of(from);
    const bool is_half = rounds(from, to);
    originals.loaded(to, from, type);
    std::vector<uint8_t> halves(is_half ? kPiece : 0);
    bool finite = true;
    char *place = place_of(to);
    for (size_t begin = 0; begin < from.bytes; begin += kPiece) {
      const size_t count = std::min(kPiece, from.bytes - begin);
      const auto *data = reinterpret_cast<const uint8_t *>(from.data) + begin;
      const size_t elements = count / size_of(type);
      if (is_half)
        convert_elements(type, data, to.tensor.type, halves.data(), elements);
      const size_t bytes = elements * size_of(to.tensor.type);
      const bool was_finite = detail::all_finite(type, data, count),
                 is_finite = is_half ? detail::all_finite(to.tensor.type,
                                                          halves.data(), bytes)
                                     : was_finite;
      refuse_overflow(program, to, file.path, was_finite, is_finite);
      finite = finite && is_finite;
      copy_to_device(ctx, place, is_half ? halves.data() : data, bytes);
      place += bytes;
      file.release(data, count);
    }
    return finite;
  }
  std::vector<char> on_host(const StateInfo &state) {
    std::vector<char> copy(state.tensor.bytes);
    copy_to_host(ctx, copy.data(), place_of(state), copy.size());
    return copy;
  }
  char *place_of(const StateInfo &state) const {
    return averages && state.kind == StateKind::Parameter
               ? averages->place_of(state.tensor)
               : memory + state.tensor.offset;
  }
  static void divide(const TensorInfo &tensor, std::vector<char> &data,
                     double by) {
    for (int64_t i = 0; i < tensor.elements(); i++)
      if (tensor.type == Type::F64)
        reinterpret_cast<double *>(data.data())[i] /= by;
      else if (tensor.type == Type::F32)
        reinterpret_cast<float *>(data.data())[i] /= float(by);
  }

  Context &ctx;
  const Program &program;
  char *memory;
  Originals &originals;
  const Averages *averages;
};

} // namespace gpuopt
