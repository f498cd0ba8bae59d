/* A stand-in for the part of cuDNN that describes a GPU, to be loaded before
   the library: what it describes is in the file that DESCRIPTION names. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static char text[4096];
static int64_t length;
static int object;

int cudnnCreate(void **handle) {
  FILE *file = fopen(getenv("DESCRIPTION"), "r");
  if (!file)
    return 1000; /* CUDNN_STATUS_NOT_INITIALIZED */
  length = (int64_t)fread(text, 1, sizeof text, file);
  fclose(file);
  *handle = &object;
  return 0;
}
int cudnnDestroy(void *handle) { return handle != &object; }

int cudnnBackendCreateDescriptor(int type, void **descriptor) {
  (void)type;
  *descriptor = &object;
  return 0;
}
int cudnnBackendDestroyDescriptor(void *descriptor) {
  return descriptor != &object;
}
int cudnnBackendSetAttribute(void *descriptor, int name, int type,
                             int64_t count, const void *values) {
  (void)name, (void)type, (void)count, (void)values;
  return descriptor != &object;
}
int cudnnBackendFinalize(void *descriptor) { return descriptor != &object; }

/* Tells how many elements there are, and gives as many as are asked for. */
int cudnnBackendGetAttribute(void *descriptor, int name, int type,
                             int64_t wanted, int64_t *count, char *values) {
  (void)descriptor, (void)name, (void)type;
  *count = length;
  for (int64_t i = 0; i < wanted && i < length; i++)
    values[i] = text[i];
  return 0;
}
