/* The calls of a CUDA driver that has 6 GiB free of 8, for tests; nothing, with
   GPU_IS_FULL in the environment, 513 MiB with GPU_IS_BUSY, and with
   GPU_IS_BROKEN no call works. With
   GPU_IS_OLD it is of compute capability 7.9, not 8.9. Built with OLD_DRIVER it
   lacks the last one. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags) { return flags != 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = context;
  return getenv("GPU_IS_BROKEN") ? 46 : device != 0;
}
int cuDeviceGetName(char *name, int size, int device) {
  strncpy(name, "NVIDIA Fake 4090", (size_t)size);
  return device != 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
  case 16: /* multiprocessors */
    *value = 77;
    return device != 0;
  case 75: /* the compute capability, major and minor */
    *value = getenv("GPU_IS_OLD") ? 7 : 8;
    return device != 0;
  case 76:
    *value = 9;
    return device != 0;
  default:
    return 1;
  }
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  *bytes = (size_t)8 << 30;
  return device != 0;
}
int cuDriverGetVersion(int *version) {
  *version = 12080;
  return 0;
}
static int has_context;
int cuCtxSetCurrent(void *context) {
  has_context = context != 0;
  return 0;
}
#ifndef OLD_DRIVER
int cuMemGetInfo_v2(size_t *free, size_t *all) {
  *free = getenv("GPU_IS_FULL")   ? 0
          : getenv("GPU_IS_BUSY") ? (size_t)513 << 20
                                  : (size_t)6 << 30;
  *all = (size_t)8 << 30;
  return !has_context;
}
#endif
