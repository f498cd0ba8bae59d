/* The functions of cuBLASLt and cuDNN that tell their versions, for tests. */
#include <stddef.h>
#include <stdlib.h>

static size_t version(const char *variable) {
  const char *text = getenv(variable);
  return text ? (size_t)atoi(text) : 0;
}
size_t cublasLtGetVersion(void) { return version("CUBLASLT_VERSION"); }
size_t cudnnGetVersion(void) { return version("CUDNN_VERSION"); }
