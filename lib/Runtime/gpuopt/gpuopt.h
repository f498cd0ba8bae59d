/*
 * The C API of a program that gpuopt has compiled: its training step, its
 * evaluation, its forward, and its state, for a program of one's own to call.
 * This one file is all that a caller includes. It is C99, and C++ as well.
 *
 *   cmake -S DIR -B DIR/build -DBUILD_SHARED_LIBS=ON
 *   cmake --build DIR/build          # writes DIR/build/libprogram.so
 *
 *   gpuopt_options options;
 *   gpuopt_program *program;
 *   double loss;
 *   gpuopt_options_init(&options);
 *   if (gpuopt_create(&options, &program) != GPUOPT_OK)
 *     die(gpuopt_last_error());
 *   gpuopt_tensor batch[2] = {
 *       {"x", GPUOPT_F32, GPUOPT_HOST, x, sizeof x},
 *       {"labels", GPUOPT_I64, GPUOPT_HOST, labels, sizeof labels}};
 *   while (next_batch(x, labels))
 *     if (gpuopt_step(program, batch, 2, &loss) != GPUOPT_OK)
 *       die(gpuopt_last_error());
 *   gpuopt_save_weights(program, "trained.safetensors");
 *   gpuopt_destroy(program);
 *
 * Errors. Every function that can fail returns a gpuopt_status, and
 * gpuopt_last_error says what was expected and what came. A call that fails
 * because of its arguments has changed nothing. No function ends the process
 * or lets a C++ exception out, and none prints, but for a warning where the
 * file of the algorithms that were chosen by time cannot be written.
 *
 * Threads. A gpuopt_program is used by one thread at a time, which need not be
 * the one that created it; different programs may be used by different threads
 * at the same time. A call leaves the calling thread's CUDA device and number
 * of OpenMP threads as they were.
 * A process that is forked has none of the threads and no GPU: its calls of a
 * program that was made before are refused, but for one of target host with one
 * thread.
 *
 * Several programs. One library can create several gpuopt_programs, each with
 * memory of its own. Several libraries can be loaded into one process by
 * dlopen(path, RTLD_NOW | RTLD_LOCAL): each has its own functions, and shows no
 * other symbols than those of this file.
 *
 * Pointers to names, shapes and memory that functions return are valid until
 * gpuopt_destroy.
 */
#ifndef GPUOPT_GPUOPT_H
#define GPUOPT_GPUOPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__
#define GPUOPT_API __attribute__((visibility("default")))
#else
#define GPUOPT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this file, and that of the library that is called. */
#define GPUOPT_API_VERSION 1
GPUOPT_API int gpuopt_api_version(void);

/* ---- Errors ------------------------------------------------------------ */

typedef enum gpuopt_status {
  GPUOPT_OK = 0,
  /* An argument is null, is of the wrong type or size, or names what the
     program does not have. */
  GPUOPT_INVALID_ARGUMENT = 1,
  /* The program was compiled without what is asked for. */
  GPUOPT_UNSUPPORTED = 2,
  /* A file, the device or its memory failed, or the step itself did. */
  GPUOPT_FAILED = 3
} gpuopt_status;

/* Returns what the last call of this thread that failed has to say: one or
   more clauses without a newline, valid until the next call that fails. */
GPUOPT_API const char *gpuopt_last_error(void);

/* ---- Tensors ----------------------------------------------------------- */

/* The types of elements. No type is 0, so that one that was forgotten is
   noticed. A boolean is a byte that is 0 or 1. */
typedef enum gpuopt_type {
  GPUOPT_F64 = 1,
  GPUOPT_F32,
  GPUOPT_F16,
  GPUOPT_BF16,
  GPUOPT_I64,
  GPUOPT_I32,
  GPUOPT_I16,
  GPUOPT_I8,
  GPUOPT_U64,
  GPUOPT_U32,
  GPUOPT_U16,
  GPUOPT_U8,
  GPUOPT_BOOL
} gpuopt_type;

/* Where memory lies. A program of target host has no memory of the device. */
typedef enum gpuopt_memory { GPUOPT_HOST = 1, GPUOPT_DEVICE } gpuopt_memory;

/* Elements of the caller: dense, in row-major order. Functions read or write
   them before they return, and keep no pointer. Memory of the device is that of
   the program's GPU; work of the caller's on it has been done before the call,
   or gpuopt_stream waits for it. */
typedef struct gpuopt_tensor {
  /* May be null for inputs and outputs: the tensor at this place is meant. */
  const char *name;
  gpuopt_type type;
  gpuopt_memory memory;
  void *data; /* which inputs only read */
  size_t size_in_bytes;
} gpuopt_tensor;

/* The roles of a program's tensors. */
typedef enum gpuopt_role {
  GPUOPT_INPUT = 1,
  GPUOPT_LABELS,          /* an input that the loss is computed with */
  GPUOPT_OUTPUT,          /* of the forward */
  GPUOPT_PARAMETER,       /* a weight that is trained */
  GPUOPT_FROZEN,          /* a weight that is not, maybe in half precision */
  GPUOPT_BUFFER,          /* a running statistic */
  GPUOPT_OPTIMIZER_STATE, /* what the optimizer keeps for a parameter */
  GPUOPT_LOSS_SCALE       /* the factor of the next step's loss */
} gpuopt_role;

typedef enum gpuopt_group {
  GPUOPT_INPUTS = 1,
  GPUOPT_OUTPUTS,
  GPUOPT_STATES /* what lives from step to step */
} gpuopt_group;

/* A tensor of a program. The first dimension of an input is the batch. */
typedef struct gpuopt_tensor_info {
  const char *name;
  const char *const *names; /* all names, where weights are tied; name first */
  size_t name_count;
  gpuopt_role role;
  gpuopt_type type;
  size_t rank;
  const int64_t *shape;
  size_t size_in_bytes;
  /* Where it lies in the memory of the device. A write to a weight there needs
     a call of gpuopt_weights_changed after it. NULL for a weight into which a
     program of the forward alone has folded running statistics:
     gpuopt_read_state and gpuopt_write_state read and write its values as they
     are in the file. */
  void *device_data;
} gpuopt_tensor_info;

/* ---- Programs ---------------------------------------------------------- */

typedef struct gpuopt_program gpuopt_program;

typedef struct gpuopt_options {
  int device;      /* the number of the GPU; programs of target host have 0 */
  int num_threads; /* of target host; 0: as many as there are cores */
  /* The weights to begin with; null: the model.safetensors that came with the
     program, beside the library or in the folder above it. */
  const char *weights;
  /* Flags of the trainer that concern its step, as "--learning-rate=1e-3" or
     "--seed=7"; docs/settings.md lists them. Without them, the program has the
     values that it was compiled with. */
  const char *const *settings;
  size_t setting_count;
} gpuopt_options;

/* Sets all options to their defaults. */
GPUOPT_API void gpuopt_options_init(gpuopt_options *options);

/* Allocates a program's memory, loads its weights and makes it ready for its
   first step. Null options are the defaults. The learning rate follows the
   schedule of the settings; one that needs to know the number of steps (linear,
   cosine, ...) does so where --max-steps is given, and otherwise the rate stays
   as it is after the warm-up. *program is null if the call fails. */
GPUOPT_API gpuopt_status gpuopt_create(const gpuopt_options *options,
                                       gpuopt_program **program);
/* Waits until the program is done and frees it; null is allowed. */
GPUOPT_API void gpuopt_destroy(gpuopt_program *program);

typedef struct gpuopt_program_info {
  const char *name;      /* of the model */
  const char *target;    /* "host" or "cuda" */
  const char *optimizer; /* null if the program only computes the forward */
  int64_t batch_size;
  /* A step takes this many batches, one after the other: the first dimension of
     its inputs is batch_size * accumulation_steps. */
  int64_t accumulation_steps;
  int has_step, has_evaluate, has_forward;
  size_t device_bytes; /* that are allocated */
  size_t host_bytes;   /* for tensors that wait in the host's memory */
} gpuopt_program_info;

GPUOPT_API gpuopt_status gpuopt_get_program_info(const gpuopt_program *program,
                                                 gpuopt_program_info *info);

/* Returns how many tensors a group has; 0 if there is no such group. */
GPUOPT_API size_t gpuopt_tensor_count(const gpuopt_program *program,
                                      gpuopt_group group);
/* Describe a tensor by its place, or by any of its names. */
GPUOPT_API gpuopt_status gpuopt_get_tensor_info(const gpuopt_program *program,
                                                gpuopt_group group,
                                                size_t index,
                                                gpuopt_tensor_info *info);
GPUOPT_API gpuopt_status gpuopt_find_tensor(const gpuopt_program *program,
                                            gpuopt_group group,
                                            const char *name,
                                            gpuopt_tensor_info *info);

/* ---- Steps ------------------------------------------------------------- */

/* Trains on one step's samples: forward, backward, and the update. The inputs
   are all of the program's, labels too, in any order if they have names.
   Integers that pick rows or classes are checked. *loss becomes the mean loss
   before the update. With a null loss the call returns while a GPU still works
   on the step. A step fails if an index that it has computed itself is out of
   range; the weights are useless then. */
GPUOPT_API gpuopt_status gpuopt_step(gpuopt_program *program,
                                     const gpuopt_tensor *inputs, size_t count,
                                     double *loss);

/* Computes the mean loss of one batch and changes nothing. *weight, unless it
   is null, becomes the number of targets that count, with which the mean of
   several batches is weighted. */
GPUOPT_API gpuopt_status gpuopt_evaluate(gpuopt_program *program,
                                         const gpuopt_tensor *inputs,
                                         size_t count, double *loss,
                                         double *weight);

/* Computes the outputs of one batch, in a program that was compiled with
   --inference, and copies those that are given. */
GPUOPT_API gpuopt_status gpuopt_forward(gpuopt_program *program,
                                        const gpuopt_tensor *inputs,
                                        size_t input_count,
                                        const gpuopt_tensor *outputs,
                                        size_t output_count);

typedef struct gpuopt_step_info {
  int64_t steps;         /* attempted so far, skipped ones among them */
  int64_t skipped_steps; /* whose gradients overflowed under the loss scale */
  /* These describe the last step: */
  double loss, learning_rate;
  double grad_norm;  /* before clipping; not finite if the step was skipped */
  double loss_scale; /* 1 if the program has none */
} gpuopt_step_info;

/* Waits until the last step is done and describes it. */
GPUOPT_API gpuopt_status gpuopt_get_step_info(gpuopt_program *program,
                                              gpuopt_step_info *info);

/* Sets the learning rate of all steps from now on: the schedule of the settings
   ends. A rate of muon's own changes by the same factor. */
GPUOPT_API gpuopt_status gpuopt_set_learning_rate(gpuopt_program *program,
                                                  double learning_rate);

/* Waits until the device has done all that it was given. */
GPUOPT_API gpuopt_status gpuopt_synchronize(gpuopt_program *program);
/* Returns the cudaStream_t that steps run on; null on target host. */
GPUOPT_API void *gpuopt_stream(const gpuopt_program *program);

/* ---- State ------------------------------------------------------------- */

/* Copies a state to or from memory of the caller, by name. The number of steps
   is not among the states, though Adam's correction of its means and the
   rate's schedule depend on it: only gpuopt_save_checkpoint and gpuopt_load
   hand a training on to another program. */
GPUOPT_API gpuopt_status gpuopt_read_state(gpuopt_program *program,
                                           const gpuopt_tensor *to);
GPUOPT_API gpuopt_status gpuopt_write_state(gpuopt_program *program,
                                            const gpuopt_tensor *from);
/* Tells that the caller has written weights at their device_data. */
GPUOPT_API gpuopt_status gpuopt_weights_changed(gpuopt_program *program);

/* Loads a safetensors file of weights, the folder that a training run has
   written, or a checkpoint. A checkpoint also has the state of the optimizer
   and the number of steps, and training goes on from it. */
GPUOPT_API gpuopt_status gpuopt_load(gpuopt_program *program, const char *path);

/* Writes weights and running statistics as a safetensors file, which appears
   whole or not at all. Weights that training has made infinite or NaN are not
   written. */
GPUOPT_API gpuopt_status gpuopt_save_weights(gpuopt_program *program,
                                             const char *file);
/* Writes a checkpoint, from which gpuopt_load and the trainer's --resume go on.
   The folder is replaced if it is a checkpoint already. */
GPUOPT_API gpuopt_status gpuopt_save_checkpoint(gpuopt_program *program,
                                                const char *folder);

#ifdef __cplusplus
}
#endif

#endif
