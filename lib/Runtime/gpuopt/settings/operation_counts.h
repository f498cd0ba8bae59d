// How the work of kernels is counted: by the compiler, which estimates times
// from the counts, and by what measures how many a device does in a second.
// This file is C++17, as the compiler is.
#pragma once

namespace gpuopt {

// How many additions an exponential, a division or a root counts as. On every
// device they are sequences of about this many instructions.
constexpr double kOperationsOfElementaryFunction = 16;

} // namespace gpuopt
