# `cpack` in the build folder writes a .deb of what `cmake --install` installs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gpuopt)
set(CPACK_PACKAGE_VENDOR gpuopt)
set(CPACK_PACKAGE_CONTACT "the gpuopt developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiles an ONNX model into a training program in readable C++ and CUDA")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "zlib1g-dev, libjpeg62-turbo-dev | libjpeg-turbo8-dev, libpng-dev")
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip) # much faster than xz
# The packages of the libraries are found when a package is made.
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_SOURCE_DIR}/cmake/PackageDependencies.cmake)
include(CPack)
