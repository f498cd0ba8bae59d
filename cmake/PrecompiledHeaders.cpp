// Exists to carry the precompiled headers; see GpuoptTargets.cmake.
