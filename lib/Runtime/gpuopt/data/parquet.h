// Columns of Parquet files, in programs that are built with Apache Arrow.
#pragma once

#include "gpuopt/data/array.h"

namespace gpuopt {

#ifdef GPUOPT_HAS_PARQUET
// Returns a column of files of the same schema, one after the other: numbers as
// an array [rows], lists of n numbers as [rows, n]. `path` is what messages
// call it. parquet_reader.cpp defines it, since Arrow's headers need not fit
// the compiler of the rest.
Array read_parquet_column(const std::vector<std::string> &files,
                          const std::string &column, const std::string &path);
#else
inline Array read_parquet_column(const std::vector<std::string> &,
                                 const std::string &, const std::string &path) {
  throw Error("'" + path +
              "' is read through Apache Arrow, which the program is built "
              "without; build it by cmake -DGPUOPT_PARQUET=ON");
}
#endif

} // namespace gpuopt
