// The names of the files of a profile, below the folder of a run. The compiler
// reads them, too.
#pragma once

namespace gpuopt {

constexpr char kProfileFolder[] = "profile";
constexpr char kTraceFile[] = "trace.json";     // for Perfetto and TensorBoard
constexpr char kTableFile[] = "table.txt";      // for people
constexpr char kProfileFile[] = "profile.json"; // the same, for programs

constexpr char kProfileFormat[] = "gpuopt profile";
constexpr int kProfileVersion = 1;

} // namespace gpuopt
