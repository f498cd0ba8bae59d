// The name of the file that lists the files of a checkpoint. It has this header
// of its own for the compiler, which is C++17.
#pragma once

namespace gpuopt {

constexpr char kChecksumsFile[] = "checksums.txt";

} // namespace gpuopt
