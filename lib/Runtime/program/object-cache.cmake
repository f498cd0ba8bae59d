# Objects that programs share. main.cpp takes the compiler longer than most steps do,
# and is the same in all trainers: where gpuopt sets GPUOPT_OBJECT_CACHE, a machine
# compiles it once. An object's name is a hash of all that it is made of, so an object
# that is there never has to be replaced.
if(CMAKE_SCRIPT_MODE_FILE)
  # cmake -DOBJECT=FILE -DKEPT=FILE -P object-cache.cmake: keeps an object. It is renamed
  # to its place when it is whole, since another build may keep the same one. A folder that
  # cannot be written is no error: the object is compiled again the next time.
  if(NOT EXISTS ${KEPT})
    get_filename_component(folder ${KEPT} DIRECTORY)
    string(RANDOM LENGTH 16 name)
    set(unfinished ${folder}/${name}.unfinished)
    execute_process(COMMAND ${CMAKE_COMMAND} -E make_directory ${folder} ERROR_QUIET)
    execute_process(COMMAND ${CMAKE_COMMAND} -E copy ${OBJECT} ${unfinished} ERROR_QUIET RESULT_VARIABLE failed)
    if(failed)
      execute_process(COMMAND ${CMAKE_COMMAND} -E rm -f ${unfinished} ERROR_QUIET)
    else()
      execute_process(COMMAND ${CMAKE_COMMAND} -E rename ${unfinished} ${KEPT} ERROR_QUIET)
    endif()
  endif()
  return()
endif()
set(GPUOPT_OBJECT_CACHE "" CACHE PATH "folder of the objects that programs share; if it is empty, none are shared")

# Describes what objects are made of, beside their own source: the runtime's headers, the
# build's files, the compiler with what it takes this processor to be, flags and libraries.
function(describe_objects result)
  # Sources and default targets are those of one program.
  file(GLOB_RECURSE files RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/gpuopt/*.h)
  file(GLOB builds RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*.cmake)
  list(REMOVE_ITEM builds sources.cmake target.cmake)
  set(text "")
  foreach(file IN LISTS files builds ITEMS step.h CMakeLists.txt)
    file(SHA256 ${CMAKE_CURRENT_SOURCE_DIR}/${file} hash)
    # The name is another one as soon as one of them changes.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    string(APPEND text "${file} ${hash}\n")
  endforeach()
  if(GPUOPT_TARGET STREQUAL cuda)
    set(language CUDA)
    set(machine "${CMAKE_CUDA_ARCHITECTURES} ${CMAKE_CUDA_HOST_COMPILER}")
    foreach(variable NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS CUDAHOSTCXX)
      string(APPEND machine " $ENV{${variable}}")
    endforeach()
  else()
    set(language CXX)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -### -E -x c++ /dev/null
      WORKING_DIRECTORY / OUTPUT_VARIABLE machine ERROR_VARIABLE machine)
    get_filename_component(onednn ${DNNL} REALPATH)
  endif()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  foreach(variable COMPILER COMPILER_ARG1 COMPILER_VERSION COMPILER_TARGET COMPILER_LAUNCHER FLAGS FLAGS_${type})
    # nvcc compiles with the compiler of C++.
    string(APPEND text "${variable} ${CMAKE_${language}_${variable}} ${CMAKE_CXX_${variable}}\n")
  endforeach()
  string(APPEND text "${CMAKE_SYSROOT} ${CMAKE_INTERPROCEDURAL_OPTIMIZATION} $ENV{CPATH} $ENV{CPLUS_INCLUDE_PATH}\n")
  foreach(library gpuopt_options gpuopt_data_libraries gpuopt_parquet nvidia::cublasLt nvidia::cudnn)
    foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES SYSTEM_INCLUDE_DIRECTORIES LINK_LIBRARIES)
      if(TARGET ${library})
        get_target_property(value ${library} INTERFACE_${property})
        string(REPLACE "${CMAKE_CURRENT_SOURCE_DIR}" "" value "${value}")
        string(APPEND text "${library} ${property} ${value}\n")
      endif()
    endforeach()
  endforeach()
  string(APPEND text "${GPUOPT_TARGET} ${CMAKE_POSITION_INDEPENDENT_CODE} ${machine}\n"
    "${onednn} ${ZLIB_VERSION_STRING} ${JPEG_VERSION} ${PNG_VERSION_STRING} ${Parquet_VERSION} ${CUDAToolkit_VERSION}\n")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Links the object of `source`, which the object library `library` compiles, into `target`:
# the one that is kept, or else the library's, which is kept from then on.
function(link_object target library source)
  # The emulation, which only tests use, has headers and flags of its own.
  if(GPUOPT_OBJECT_CACHE AND NOT GPUOPT_TARGET STREQUAL emulated)
    describe_objects(made_of)
    file(SHA256 ${CMAKE_CURRENT_SOURCE_DIR}/${source} hash)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    string(SHA256 key "${source} ${hash}\n${made_of}")
    set(kept ${GPUOPT_OBJECT_CACHE}/${key}.o)
    if(EXISTS ${kept})
      # gpuopt removes what has not been used for the longest time.
      file(TOUCH_NOCREATE ${kept})
      target_sources(${target} PRIVATE ${kept})
      set_source_files_properties(${kept} PROPERTIES EXTERNAL_OBJECT ON)
      return()
    endif()
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
      COMMAND ${CMAKE_COMMAND} -DOBJECT=$<TARGET_OBJECTS:${library}> -DKEPT=${kept}
        -P ${CMAKE_CURRENT_SOURCE_DIR}/object-cache.cmake)
  endif()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${library}>)
endfunction()
