// Whether the folder of results lies in a folder of data, where the results
// would be read as a part of the data.
#pragma once

#include "gpuopt/data/data_path.h"
#include "gpuopt/data/whole_path.h"

namespace gpuopt {

namespace detail {
// Whether a folder of data is read as far as a folder below it: folders whose
// names begin with a dot are left out.
inline bool is_read_in(const std::filesystem::path &below,
                       const std::filesystem::path &folder) {
  for (const auto &part : below.lexically_relative(folder))
    if (part.string().rfind('.', 0) == 0 && part != ".")
      return false;
  return true;
}
} // namespace detail

// Returns why results may not be written to a folder where a flag names folders
// of data, or nothing: the results would be read as data.
inline std::string why_not_in_data(const std::string &folder,
                                   const std::string &flag,
                                   const std::string &value) {
  const std::filesystem::path results = detail::whole_path(folder);
  for (const std::string &file : files_of(value))
    if (const std::filesystem::path data = detail::whole_path(file);
        is_folder(file) && is_inside(folder, file) &&
        detail::is_read_in(results, data))
      return flag + ": the output folder '" + folder +
             "' lies in the folder of data '" + file +
             "', and would be read as a part of it; choose another folder";
  return "";
}

} // namespace gpuopt
