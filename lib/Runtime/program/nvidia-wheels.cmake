# Sets nvidia_wheels to the folders of NVIDIA's wheels, which have the headers and
# libraries of cuBLASLt and cuDNN where the CUDA toolkit lacks them.
set(NVIDIA_WHEELS "$ENV{NVIDIA_WHEELS}" CACHE STRING "site-packages/nvidia; empty: ask python3")
string(REPLACE " " ";" nvidia_wheels "${NVIDIA_WHEELS}")
if(NOT nvidia_wheels)
  execute_process(COMMAND python3 -c "import nvidia;print(*nvidia.__path__,sep=';',end='')"
    OUTPUT_VARIABLE nvidia_wheels ERROR_QUIET)
endif()
