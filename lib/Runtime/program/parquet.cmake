# Columns of Parquet files, by Apache Arrow 19 or later: where CMake finds Arrow, or
# from the wheel pyarrow, which has the headers and the libraries.
option(GPUOPT_PARQUET "whether the program reads Parquet files" OFF)
if(GPUOPT_PARQUET)
  find_package(Parquet QUIET)
  if(TARGET Parquet::parquet_shared)
    set(arrow Parquet::parquet_shared Arrow::arrow_shared)
  else()
    set(PYARROW "$ENV{PYARROW}" CACHE STRING "the folder of pyarrow; empty: ask python3")
    set(pyarrow ${PYARROW})
    if(NOT pyarrow)
      execute_process(COMMAND python3 -c "import importlib.util as u;print(u.find_spec('pyarrow').submodule_search_locations[0],end='')"
        OUTPUT_VARIABLE pyarrow ERROR_QUIET)
    endif()
    file(GLOB arrow ${pyarrow}/libarrow.so.* ${pyarrow}/libparquet.so.*)
    list(LENGTH arrow found)
    if(NOT pyarrow OR NOT found EQUAL 2)
      message(FATAL_ERROR "Parquet files are read through Apache Arrow, which is not found: "
        "pip install pyarrow, or set PYARROW to its folder")
    endif()
  endif()
  # A file of its own, as C++20 for Arrow's headers also where nvcc compiles the rest.
  add_library(gpuopt_parquet STATIC ${CMAKE_CURRENT_LIST_DIR}/parquet_reader.cpp)
  set_target_properties(gpuopt_parquet PROPERTIES LANGUAGE CXX CXX_STANDARD 20
    POSITION_INDEPENDENT_CODE ON)
  target_include_directories(gpuopt_parquet PRIVATE ${CMAKE_CURRENT_LIST_DIR})
  if(pyarrow)
    target_include_directories(gpuopt_parquet SYSTEM PRIVATE ${pyarrow}/include)
  endif()
  target_compile_definitions(gpuopt_parquet PUBLIC GPUOPT_HAS_PARQUET)
  target_link_libraries(gpuopt_parquet PUBLIC ${arrow})
  target_link_libraries(gpuopt_data_libraries INTERFACE gpuopt_parquet)
endif()
