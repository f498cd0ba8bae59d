// Defines the functions of gpuopt/gpuopt.h around the program that step.h
// declares. One source file of a library includes it.
#pragma once

#include "gpuopt/api/instance.h"

#include <string_view>
#include <unistd.h>

const gpuopt::Program &program();

struct gpuopt_program : gpuopt::api::Instance {
  using Instance::Instance;

  const pid_t process = getpid(); // the one that has made the program
};

namespace gpuopt::api {

// A fork takes neither threads nor a GPU's context along, and a call that
// waits for them would never return.
inline void refuse_after_fork(const gpuopt_program &program) {
  const bool needs_none = std::string_view(kTargetName) == "host" &&
                          program.context().num_threads == 1;
  if (program.process != getpid() && !needs_none)
    throw invalid("the program was made in process " +
                  std::to_string(program.process) +
                  ", from which this one was forked without its threads: make "
                  "the program after the fork, or with num_threads 1 on the "
                  "host");
}

// Runs f on a program, on the calling thread.
template <class P, class F>
gpuopt_status on(P *program, F f) noexcept {
  return guarded([&] {
    refuse_null(program, "program");
    refuse_after_fork(*program);
    const CallerScope scope(program->context());
    f(*program);
  });
}

} // namespace gpuopt::api

extern "C" {

int gpuopt_api_version(void) { return GPUOPT_API_VERSION; }

const char *gpuopt_last_error(void) { return gpuopt::api::last_error(); }

void gpuopt_options_init(gpuopt_options *options) {
  if (options)
    *options = gpuopt_options();
}

gpuopt_status gpuopt_create(const gpuopt_options *options,
                            gpuopt_program **created) {
  return gpuopt::api::guarded([&] {
    gpuopt::api::refuse_null(created, "program");
    *created = nullptr;
    const gpuopt::CallerScope scope;
    *created =
        new gpuopt_program(program(), options ? *options : gpuopt_options());
  });
}

void gpuopt_destroy(gpuopt_program *program) {
  if (program)
    gpuopt::api::on(program, [](gpuopt_program &p) { delete &p; });
}

gpuopt_status gpuopt_get_program_info(const gpuopt_program *program,
                                      gpuopt_program_info *info) {
  return gpuopt::api::on(program, [&](const gpuopt_program &p) {
    gpuopt::api::refuse_null(info, "info");
    *info = p.info();
  });
}

size_t gpuopt_tensor_count(const gpuopt_program *program, gpuopt_group group) {
  size_t count = 0;
  gpuopt::api::on(program, [&](const gpuopt_program &p) {
    count = p.tensors.group(group).entries.size();
  });
  return count;
}

gpuopt_status gpuopt_get_tensor_info(const gpuopt_program *program,
                                     gpuopt_group group, size_t index,
                                     gpuopt_tensor_info *info) {
  return gpuopt::api::on(program, [&](const gpuopt_program &p) {
    gpuopt::api::refuse_null(info, "info");
    *info = p.info(p.tensors.group(group).at(index));
  });
}

gpuopt_status gpuopt_find_tensor(const gpuopt_program *program,
                                 gpuopt_group group, const char *name,
                                 gpuopt_tensor_info *info) {
  return gpuopt::api::on(program, [&](const gpuopt_program &p) {
    gpuopt::api::refuse_null(name, "name");
    gpuopt::api::refuse_null(info, "info");
    *info = p.info(p.tensors.group(group).find(name));
  });
}

gpuopt_status gpuopt_step(gpuopt_program *program, const gpuopt_tensor *inputs,
                          size_t count, double *loss) {
  return gpuopt::api::on(
      program, [&](gpuopt_program &p) { p.step(inputs, count, loss); });
}

gpuopt_status gpuopt_evaluate(gpuopt_program *program,
                              const gpuopt_tensor *inputs, size_t count,
                              double *loss, double *weight) {
  return gpuopt::api::on(program, [&](gpuopt_program &p) {
    p.evaluate(inputs, count, loss, weight);
  });
}

gpuopt_status gpuopt_forward(gpuopt_program *program,
                             const gpuopt_tensor *inputs, size_t input_count,
                             const gpuopt_tensor *outputs,
                             size_t output_count) {
  return gpuopt::api::on(program, [&](gpuopt_program &p) {
    p.forward(inputs, input_count, outputs, output_count);
  });
}

gpuopt_status gpuopt_get_step_info(gpuopt_program *program,
                                   gpuopt_step_info *info) {
  return gpuopt::api::on(program, [&](gpuopt_program &p) {
    gpuopt::api::refuse_null(info, "info");
    *info = p.step_info();
  });
}

gpuopt_status gpuopt_set_learning_rate(gpuopt_program *program,
                                       double learning_rate) {
  return gpuopt::api::on(
      program, [&](gpuopt_program &p) { p.set_learning_rate(learning_rate); });
}

gpuopt_status gpuopt_synchronize(gpuopt_program *program) {
  return gpuopt::api::on(
      program, [](gpuopt_program &p) { gpuopt::synchronize(p.context()); });
}

void *gpuopt_stream(const gpuopt_program *program) {
  return program ? gpuopt::native_stream(program->context()) : nullptr;
}

gpuopt_status gpuopt_read_state(gpuopt_program *program,
                                const gpuopt_tensor *to) {
  return gpuopt::api::on(program, [&](gpuopt_program &p) {
    gpuopt::api::refuse_null(to, "to");
    p.read_state(*to);
  });
}

gpuopt_status gpuopt_write_state(gpuopt_program *program,
                                 const gpuopt_tensor *from) {
  return gpuopt::api::on(program, [&](gpuopt_program &p) {
    gpuopt::api::refuse_null(from, "from");
    p.write_state(*from);
  });
}

gpuopt_status gpuopt_weights_changed(gpuopt_program *program) {
  return gpuopt::api::on(program,
                         [](gpuopt_program &p) { p.weights_changed(); });
}

gpuopt_status gpuopt_load(gpuopt_program *program, const char *path) {
  return gpuopt::api::on(program, [&](gpuopt_program &p) {
    gpuopt::api::refuse_null(path, "path");
    p.load(path);
  });
}

gpuopt_status gpuopt_save_weights(gpuopt_program *program, const char *file) {
  return gpuopt::api::on(program, [&](gpuopt_program &p) {
    gpuopt::api::refuse_null(file, "file");
    p.save_weights(file);
  });
}

gpuopt_status gpuopt_save_checkpoint(gpuopt_program *program,
                                     const char *folder) {
  return gpuopt::api::on(program, [&](gpuopt_program &p) {
    gpuopt::api::refuse_null(folder, "folder");
    p.save_checkpoint(folder);
  });
}

} // extern "C"
