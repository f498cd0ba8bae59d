# Of the program that gpuopt calibrate builds.
set(executable calibrate)
set(sources calibrate.cu)
