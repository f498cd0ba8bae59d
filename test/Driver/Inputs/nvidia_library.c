/* The functions of cuBLASLt, cuDNN, NCCL and MPI that tell their versions, for
   tests. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static size_t version(const char *variable) {
  const char *text = getenv(variable);
  return text ? (size_t)atoi(text) : 0;
}
size_t cublasLtGetVersion(void) { return version("CUBLASLT_VERSION"); }
size_t cudnnGetVersion(void) { return version("CUDNN_VERSION"); }
/* Of the CUDA that they are for; 0: not told. */
size_t cublasLtGetCudartVersion(void) { return version("CUBLASLT_CUDA"); }
size_t cudnnGetCudartVersion(void) { return version("CUDNN_CUDA"); }
int ncclGetVersion(int *number) {
  *number = (int)version("NCCL_VERSION");
  return 0;
}
int MPI_Get_library_version(char *text, int *length) {
  strcpy(text, "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4");
  *length = (int)strlen(text);
  return 0;
}
