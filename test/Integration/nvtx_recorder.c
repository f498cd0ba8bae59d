// Stands in for Nsight: NVTX loads this library by NVTX_INJECTION64_PATH and calls its functions for each range. It
// writes the names of ranges to the file that NVTX_RECORD names, one a line, with a space for each range around it.

#include <nvtx3/nvToolsExt.h>

#include <stdio.h>
#include <stdlib.h>

static FILE *record;
static int depth;

static int NVTX_API push(const char *name) {
  fprintf(record, "%*s%s\n", depth, "", name);
  return depth++;
}
static int NVTX_API pop(void) {
  if (depth == 0)
    fprintf(record, "a range ends that has not begun\n");
  fflush(record);
  return --depth;
}

int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable functions;
  unsigned size = 0;
  record = fopen(getenv("NVTX_RECORD"), "w");
  if (!record || !callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &functions, &size))
    return 0;
  *functions[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
  *functions[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
  return 1;
}
