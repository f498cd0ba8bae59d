/* Trains a program through gpuopt.h, from C. Prints the loss of each step as a
   hexadecimal number, then what calls with wrong arguments say.

   usage: call_program X LABELS STEPS SAVED */
#include "gpuopt/gpuopt.h"

#include <stdio.h>
#include <stdlib.h>

static void check(gpuopt_status status) {
  if (status == GPUOPT_OK)
    return;
  fprintf(stderr, "status %d: %s\n", (int)status, gpuopt_last_error());
  exit(1);
}

/* Reads all bytes of a file. */
static char *contents(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *data;
  if (!file || fseek(file, 0, SEEK_END) != 0)
    exit(2);
  *size = (size_t)ftell(file);
  rewind(file);
  data = malloc(*size);
  if (!data || fread(data, 1, *size, file) != *size)
    exit(2);
  fclose(file);
  return data;
}

static void tell(const char *what, gpuopt_status status) {
  printf("%s: %d %s\n", what, (int)status, gpuopt_last_error());
}

static void fail_often(gpuopt_program *program, gpuopt_tensor batch[2]) {
  gpuopt_tensor changed[2];
  gpuopt_program *none;
  gpuopt_options options;
  float number = 0;
  const gpuopt_tensor unknown = {"nothing", GPUOPT_F32, GPUOPT_HOST, &number,
                                 sizeof number};
  changed[0] = batch[0];
  changed[1] = batch[1];
  changed[0].size_in_bytes -= 4;
  tell("size", gpuopt_step(program, changed, 2, NULL));
  changed[0] = batch[0];
  changed[0].name = "nothing";
  tell("name", gpuopt_step(program, changed, 2, NULL));
  tell("state", gpuopt_read_state(program, &unknown));
  tell("file", gpuopt_load(program, "missing.safetensors"));
  tell("null", gpuopt_step(NULL, batch, 2, NULL));
  gpuopt_options_init(&options);
  options.weights = "missing.safetensors";
  tell("weights", gpuopt_create(&options, &none));
}

int main(int argc, char **argv) {
  size_t x_bytes, label_bytes, i;
  gpuopt_options options;
  gpuopt_program *program;
  gpuopt_tensor_info x_info, label_info;
  gpuopt_step_info last;
  char *x, *labels;
  const size_t steps = argc == 5 ? (size_t)atoi(argv[3]) : 0;
  char flag[64];
  const char *settings[1];
  gpuopt_tensor batch[2];
  if (argc != 5)
    return 2;
  x = contents(argv[1], &x_bytes);
  labels = contents(argv[2], &label_bytes);
  snprintf(flag, sizeof flag, "--max-steps=%d", (int)steps);
  settings[0] = flag;
  gpuopt_options_init(&options);
  options.num_threads = 1;
  options.settings = settings;
  options.setting_count = 1;
  check(gpuopt_create(&options, &program));
  check(gpuopt_find_tensor(program, GPUOPT_INPUTS, "x", &x_info));
  check(gpuopt_find_tensor(program, GPUOPT_INPUTS, "labels", &label_info));
  for (i = 0; i < steps; i++) {
    const gpuopt_tensor of_x = {"x", x_info.type, GPUOPT_HOST,
                                x + i * x_info.size_in_bytes % x_bytes,
                                x_info.size_in_bytes};
    const gpuopt_tensor of_labels = {
        "labels", label_info.type, GPUOPT_HOST,
        labels + i * label_info.size_in_bytes % label_bytes,
        label_info.size_in_bytes};
    double loss;
    batch[0] = of_labels; /* in any order */
    batch[1] = of_x;
    check(gpuopt_step(program, batch, 2, &loss));
    printf("%a\n", loss);
  }
  check(gpuopt_save_weights(program, argv[4]));
  fail_often(program, batch);
  check(gpuopt_get_step_info(program, &last)); /* those have changed nothing */
  printf("steps: %d\n", (int)last.steps);
  gpuopt_destroy(program);
  free(x);
  free(labels);
  return 0;
}
