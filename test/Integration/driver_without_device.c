/* A libcuda.so.1 for machines that have no driver: it says that there is no
   device, but takes the kernels that cuDNN has compiled for a described one, so
   that cuDNN can make plans. Nothing can be computed with it. */

enum { SUCCESS = 0, NO_DEVICE = 100 };

static char handles[8];

#define SAYS(name, result)                                                     \
  int name(void);                                                              \
  int name(void) { return result; }

SAYS(cuInit, NO_DEVICE)
SAYS(cuCtxGetCurrent, NO_DEVICE)
SAYS(cuCtxGetLimit, NO_DEVICE)
SAYS(cuCtxPopCurrent, NO_DEVICE)
SAYS(cuCtxPushCurrent, NO_DEVICE)
SAYS(cuDeviceGet, NO_DEVICE)
SAYS(cuDeviceGetCount, NO_DEVICE)
SAYS(cuGetErrorName, NO_DEVICE)
SAYS(cuGetErrorString, NO_DEVICE)
SAYS(cuGetProcAddress_v2, NO_DEVICE)
SAYS(cuLaunchCooperativeKernel, NO_DEVICE)
SAYS(cuLaunchKernel, NO_DEVICE)
SAYS(cuLaunchKernelEx, NO_DEVICE)
SAYS(cuLibraryLoadFromFile, NO_DEVICE)
SAYS(cuLinkAddData, NO_DEVICE)
SAYS(cuLinkComplete, NO_DEVICE)
SAYS(cuLinkCreate, NO_DEVICE)
SAYS(cuLinkDestroy, NO_DEVICE)
SAYS(cuStreamGetCtx, NO_DEVICE)
SAYS(cuTensorMapEncodeIm2col, NO_DEVICE)
SAYS(cuTensorMapEncodeTiled, NO_DEVICE)

SAYS(cuFuncSetAttribute, SUCCESS)
SAYS(cuKernelSetAttribute, SUCCESS)
SAYS(cuLibraryUnload, SUCCESS)
SAYS(cuModuleUnload, SUCCESS)

/* These write their result to where the first argument points. */
#define GIVES(name, type, value)                                               \
  int name(type *result);                                                      \
  int name(type *result) {                                                     \
    *result = value;                                                           \
    return SUCCESS;                                                            \
  }

GIVES(cuDriverGetVersion, int, 13000)
GIVES(cuFuncGetAttribute, int, 0)
GIVES(cuKernelGetAttribute, int, 0)
GIVES(cuOccupancyMaxActiveBlocksPerMultiprocessor, int, 1)
GIVES(cuOccupancyMaxActiveClusters, int, 66)
GIVES(cuOccupancyMaxPotentialClusterSize, int, 8)
GIVES(cuKernelGetFunction, void *, handles)
GIVES(cuLibraryGetKernel, void *, handles)
GIVES(cuLibraryLoadData, void *, handles)
GIVES(cuModuleGetFunction, void *, handles)
GIVES(cuModuleLoadData, void *, handles)
