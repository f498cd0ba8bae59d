# find_package(gpuopt) for programs that embed the compiler: `cmake --install`
# puts its libraries, headers and CMake targets where that finds them.

include(CMakePackageConfigHelpers)

# Adds a library of ours and those that it links to `libraries`.
function(gpuopt_collect_libraries name)
  get_property(found GLOBAL PROPERTY GPUOPT_EXPORTED)
  if(name IN_LIST found)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY GPUOPT_EXPORTED ${name})
  get_target_property(linked ${name} INTERFACE_LINK_LIBRARIES)
  foreach(each IN LISTS linked)
    if(each MATCHES "^Gpuopt")
      gpuopt_collect_libraries(${each})
    endif()
  endforeach()
endfunction()
foreach(name GpuoptOnnxImport GpuoptPipelines GpuoptTargetCxx)
  gpuopt_collect_libraries(${name})
endforeach()
get_property(libraries GLOBAL PROPERTY GPUOPT_EXPORTED)

install(TARGETS ${libraries} EXPORT gpuoptTargets
  ARCHIVE DESTINATION lib/gpuopt
  INCLUDES DESTINATION include share/gpuopt/runtime)
install(EXPORT gpuoptTargets NAMESPACE gpuopt:: DESTINATION lib/cmake/gpuopt)
install(DIRECTORY include/gpuopt ${CMAKE_BINARY_DIR}/include/gpuopt DESTINATION include
  FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "*.def" PATTERN "*.td" PATTERN CMakeFiles EXCLUDE)
set(GPUOPT_INSTALLED_RUNTIME share/gpuopt/runtime)
configure_package_config_file(cmake/gpuoptConfig.cmake.in ${CMAKE_BINARY_DIR}/gpuoptConfig.cmake
  INSTALL_DESTINATION lib/cmake/gpuopt PATH_VARS GPUOPT_INSTALLED_RUNTIME)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/gpuoptConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/gpuoptConfig.cmake ${CMAKE_BINARY_DIR}/gpuoptConfigVersion.cmake
  DESTINATION lib/cmake/gpuopt)
