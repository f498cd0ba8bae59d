// Files of formats that are no data here, which a user may well have.
#pragma once

#include "gpuopt/data/data_path.h"
#include "gpuopt/data/mapped_file.h"
#include "gpuopt/data/torch_endings.h"

#include <cstring>

namespace gpuopt {

namespace detail {
// Returns what a file is, by its first bytes or its name, and what makes data
// of it; empty if it is nothing that is known.
inline std::string other_format(const MappedFile &file) {
  const size_t dot = file.path.rfind('.');
  std::string ending = dot == std::string::npos ? "" : file.path.substr(dot);
  for (char &c : ending)
    c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  auto begins = [&](const char *magic, size_t bytes) {
    return file.bytes >= bytes && memcmp(file.data, magic, bytes) == 0;
  };
  auto ends = [&](std::initializer_list<const char *> endings) {
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
  };
  const std::string name = file.path.substr(file.path.rfind('/') + 1);
  if (begins("\x1f\x8b", 2))
    return "is compressed by gzip; unpack it: gunzip '" + name + "'";
  if (begins("\xff\xd8", 2) || begins("\x89PNG", 4))
    return "is a single picture; give the folder of all pictures, which has a "
           "sub-folder for each class where it gives the labels, too";
  if (is_torch_ending(ending) || ends({".pkl", ".pickle"}))
    return "is a file of torch.save or pickle; save the tensor as an array: "
           "numpy.save('x.npy', x.numpy())";
  if (ends({".csv", ".tsv", ".txt"}))
    return "is a file of text; save its numbers as an array: "
           "numpy.save('x.npy', numpy.loadtxt('" +
           name + "', delimiter='" +
           (ending == ".csv"   ? ","
            : ending == ".tsv" ? "\\t"
                               : " ") +
           "', dtype='float32'))";
  return "";
}
} // namespace detail

// Throws an Error that says what a file is that is no data, and what to do.
inline void refuse_other_formats(const MappedFile &file) {
  if (const std::string what = detail::other_format(file); !what.empty())
    throw Error("'" + file.path + "' " + what +
                ". What is read: .npy and IDX files, FILE.npz:NAME, "
                "FILE.safetensors:NAME, FILE.parquet:COLUMN, folders of JPEG "
                "and PNG pictures, and members of tar files as FILE.tar:jpg");
}

} // namespace gpuopt
