set(sources calibrate.cu) # of the program that gpuopt calibrate builds
