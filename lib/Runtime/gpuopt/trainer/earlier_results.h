// --overwrite-output-dir: what an earlier run has left is set aside when the
// new run begins its first step, and removed once that has saved something of
// its own. If the new run ends without, the earlier results are put back, and
// what the new one has left moves to the folder failed-run. Whoever holds the
// lock of the output folder next can tell by its hidden folders what a killed
// run has left:
//
//   .gpuopt-next          an overwriting run has begun, and has not set the
//                         earlier results aside
//   .gpuopt-earlier.part  some of the earlier results are there and the others
//                         in their places; nothing is in the place of another
//   .gpuopt-earlier       all of them are there, and those of the new run are
//                         written to their places
//   .gpuopt-earlier.older what an interrupt had kept before: it is set aside
//                         again if the new run saves nothing, and else removed
//
// The earlier results are put back then as well. By --resume=auto, the killed
// run starts anew and sets them aside again (recover_results).
#pragma once

#include "gpuopt/trainer/output_folder.h"
#include "gpuopt/trainer/run_results.h"
#include "gpuopt/trainer/signals.h"

namespace gpuopt {

// What is left of a run that was to replace another one and saved nothing.
constexpr char kFailedRunFolder[] = "failed-run";

namespace detail {
inline std::string earlier_folder(const std::string &output_dir) {
  return output_dir + "/" + kEarlierFolder;
}
inline bool exists(const std::string &path) {
  std::error_code code;
  return std::filesystem::exists(path, code);
}

// Where what was set aside before waits for what becomes of a new run.
inline std::string older_folder(const std::string &output_dir) {
  return earlier_folder(output_dir) + ".older";
}

// Moves what is set aside back to its place.
inline void move_back(const std::string &output_dir) {
  const std::string part = earlier_folder(output_dir) + kPartSuffix;
  move_results(all_results_in(part), part, output_dir);
  remove_results(part);
  sync_folder(output_dir);
}

// Returns the folder for what is left of a failed run, which is not there yet:
// the one before makes way, but for files of others.
inline std::string free_failed_folder(const std::string &output_dir) {
  for (int number = 1;; number++) {
    const std::string folder = output_dir + "/" + kFailedRunFolder +
                               (number > 1 ? "-" + std::to_string(number) : "");
    if (exists(folder + "/" + kResultsMark) && !has_saved(folder)) {
      for (const std::string &name : results_in(folder, /*has_program=*/true))
        remove_results(folder + "/" + name);
      remove_empty_folders(folder);
      remove_results(folder + "/" + kResultsMark);
      rmdir(folder.c_str()); // unless it has files of others
    }
    if (!exists(folder))
      return folder;
  }
}
// Moves what the run has left for which results are set aside to a folder of
// its own, and returns that; empty if there is nothing. A kill in between
// leaves some of it in a folder with another name, from which this goes on.
inline std::string move_failed_run(const std::string &output_dir) {
  const std::string part = output_dir + "/." + kFailedRunFolder + kPartSuffix;
  const bool has_program =
      exists(earlier_folder(output_dir) + "/" + kProgramFolder);
  const auto left = results_in(output_dir, has_program);
  if (left.empty() && !exists(part))
    return "";
  for (const std::string &name : left)
    remove_results(part + "/" + name); // of a run that was killed before
  copy_mark(output_dir, part);
  move_results(left, output_dir, part);
  const std::string folder = free_failed_folder(output_dir);
  rename_result(part, folder);
  sync_folder(output_dir);
  return folder;
}

// Removes what a kill, or an error, has left of what was to be removed.
inline void remove_removed(const std::string &output_dir) {
  std::error_code code;
  std::filesystem::remove_all(output_dir + "/" + kRemovedFolder, code);
}

// Renames a folder of results: what then cannot be removed is not in the way of
// a later run. Returns the new path; empty if there is no such folder.
inline std::string retire(const std::string &results,
                          const std::string &output_dir) {
  if (!exists(results))
    return "";
  const std::string folder = output_dir + "/" + kRemovedFolder;
  remove_removed(output_dir);
  create_folder(folder);
  std::string target;
  for (int number = 1; target.empty() || exists(target); number++)
    target = folder + "/" + std::to_string(number);
  rename_result(results, target);
  sync_folder(output_dir);
  return target;
}
// Removes all of it that can be. Returns what is to be said of the rest.
inline std::string remove_retired(const std::string &target) {
  if (target.empty())
    return "";
  std::error_code code;
  for (const std::string &name : names_in(target))
    std::filesystem::remove_all(target + "/" + name, code);
  std::filesystem::remove_all(target, code);
  if (code)
    return "the results of the earlier run cannot all be removed: what is left "
           "of them is in '" +
           target + "' (" + code.message() + "); remove it yourself";
  rmdir(folder_above(target).c_str()); // unless more is left there
  return "";
}
inline std::string remove_aside(const std::string &results,
                                const std::string &output_dir) {
  return remove_retired(retire(results, output_dir));
}

// What an interrupt had kept is again what is set aside, if nothing else is.
inline void keep_older(const std::string &output_dir) {
  const std::string older = older_folder(output_dir),
                    folder = earlier_folder(output_dir);
  if (!exists(older) || exists(folder) || exists(folder + kPartSuffix))
    return;
  rename_result(older, folder);
  sync_folder(output_dir);
}
} // namespace detail

// Sets aside what an earlier run has left, with its program if that of this run
// waits to take its place, which then takes it. Returns what is to be said of
// results that were set aside before and cannot be removed; empty: nothing.
inline std::string set_earlier_results_aside(const std::string &output_dir) {
  const std::string folder = detail::earlier_folder(output_dir),
                    part = folder + kPartSuffix,
                    next = detail::next_folder(output_dir);
  const bool has_program = detail::exists(next + "/" + kProgramFolder);
  const auto results = results_in(output_dir, has_program);
  std::string warning;
  if (!results.empty()) {
    copy_mark(output_dir, part);
    if (has_program) // tells that the program in its place is of this run
      detail::create_folder(part + "/" + kProgramFolder);
    move_results(results, output_dir, part);
    if (detail::exists(folder)) { // an interrupt had kept it
      const std::string older = detail::older_folder(output_dir);
      warning = detail::remove_aside(older, output_dir);
      detail::rename_result(folder, older);
    }
    detail::rename_result(part, folder);
    sync_folder(output_dir);
  }
  if (has_program)
    move_results(all_results_in(next), next, output_dir);
  const std::string left = detail::remove_aside(next, output_dir);
  return warning.empty() ? left : warning;
}

// What became of results that were set aside.
struct PutBack {
  bool is_done = false;
  std::string failed; // the folder of what the other run has left, or empty
};

// Puts back what is set aside if the run has saved nothing for which that was
// done. Whoever calls this holds the lock of the folder.
inline PutBack put_back_unless_saved(const std::string &output_dir) {
  const std::string folder = detail::earlier_folder(output_dir),
                    part = folder + kPartSuffix;
  PutBack put_back;
  if (!detail::exists(part)) {
    if (!detail::exists(folder))
      detail::keep_older(output_dir); // a kill has come before this
    if (!detail::exists(folder) || has_saved(output_dir))
      return put_back;
    put_back.failed = detail::move_failed_run(output_dir);
    detail::rename_result(folder, part);
    sync_folder(output_dir);
  }
  detail::move_back(output_dir);
  detail::keep_older(output_dir);
  put_back.is_done = true;
  return put_back;
}

// Says that this was done. `run` is the one that has saved nothing.
inline std::string describe_put_back(const std::string &output_dir,
                                     const PutBack &put_back, const char *run) {
  return "the results of the earlier run are put back in '" + output_dir +
         "', because " + run + " has saved nothing" +
         (put_back.failed.empty()
              ? ""
              : "; what that has left is in '" + put_back.failed + "'");
}

// What a run finds in its output folder.
struct Recovery {
  bool restarts = false; // whether it starts an overwriting run anew
  std::string text;      // what is to be said of it; empty: nothing
};

// Puts right what an overwriting run has left that was killed before it saved
// anything: puts back what it had set aside. By --resume=auto, the next run
// starts it anew; the folder tells so until that one has begun its first step.
// Whoever calls this holds the lock of the folder.
inline Recovery recover_results(const std::string &output_dir,
                                const std::string &resume) {
  Recovery recovery;
  detail::remove_removed(output_dir);
  recovery.restarts =
      resume == "auto" && has_killed_overwriting_run(output_dir);
  const std::string next = detail::next_folder(output_dir);
  if (recovery.restarts) {
    detail::create_folder(next);
    sync_folder(output_dir);
  }
  const PutBack put_back = put_back_unless_saved(output_dir);
  if (recovery.restarts)
    recovery.text =
        "the last run in '" + output_dir +
        "' was to replace the results of the earlier one and was killed before "
        "it saved anything; --resume=auto starts it anew from step 0, and the "
        "earlier results are removed once it has saved something" +
        (put_back.failed.empty() ? ""
                                 : "; what the killed run has left is in '" +
                                       put_back.failed + "'");
  else if (put_back.is_done)
    recovery.text = describe_put_back(output_dir, put_back,
                                      "the run that was to replace them");
  for (const std::string &name : detail::names_in(next))
    detail::remove_results(next + "/" + name);
  if (!recovery.restarts)
    rmdir(next.c_str());
  return recovery;
}

// The results of an earlier run, for one that takes their place.
class EarlierResults {
public:
  // `weights` tells whether `gpuopt train` has begun the run: the program then
  // waits to take its place.
  EarlierResults(const std::string &output_dir, const std::string &weights,
                 const std::string &resume, const char *program)
      : output_dir(output_dir), resume(resume), program(program),
        is_begun(waits_in_next_folder(weights, output_dir)),
        removes_next(is_begun && resume != "auto") {
    if (is_begun) // an interrupt is no kill, after which the run starts anew
      note_signals();
  }
  // A run that an error ends before its first step has changed nothing. One
  // that starts a killed run anew leaves that for the next try.
  ~EarlierResults() {
    std::error_code code;
    if (removes_next && is_locked)
      std::filesystem::remove_all(detail::next_folder(output_dir), code);
    else if (removes_next)
      remove_next_folder(output_dir);
  }
  EarlierResults(const EarlierResults &) = delete;
  EarlierResults &operator=(const EarlierResults &) = delete;

  // Puts right what a killed run has left, and says so. Returns whether this
  // run starts that one anew. From here on, whoever calls these functions holds
  // the lock of the folder.
  bool recover() {
    is_locked = true;
    Recovery recovery;
    if (is_begun) // gpuopt train has done so
      recovery.restarts = resume == "auto";
    else
      recovery = recover_results(output_dir, resume);
    if (!recovery.text.empty())
      fprintf(stderr, "%s: %s\n", program, recovery.text.c_str());
    are_aside = detail::exists(detail::earlier_folder(output_dir));
    return recovery.restarts;
  }
  // Notes that an overwriting run has begun.
  void begin(bool restarts) {
    is_locked = true;
    removes_next = !restarts;
    detail::create_folder(detail::next_folder(output_dir));
    sync_folder(output_dir);
  }
  void set_aside() {
    are_aside = true; // or some of them
    const std::string warning = set_earlier_results_aside(output_dir);
    removes_next = false;
    if (!warning.empty())
      tell("warning: " + warning);
  }
  // This run has saved something: what is set aside is removed. After an
  // interrupt it is not: the folder may have been the wrong one. A run goes on
  // if this fails.
  void saved(bool is_interrupted) {
    if (!are_aside)
      return;
    are_aside = false;
    remove(detail::older_folder(output_dir));
    if (is_interrupted)
      return tell("because of the interrupt, the results of the earlier run "
                  "stay set aside in '" +
                  detail::earlier_folder(output_dir) +
                  "' until a next run in '" + output_dir +
                  "' saves its own; move that folder to another place to have "
                  "the earlier run back");
    remove(detail::earlier_folder(output_dir));
  }
  // This run ends: what is set aside is put back if nothing has been saved. No
  // checkpoint is being written.
  void ended() {
    if (!are_aside)
      return;
    are_aside = false;
    attempt([&] {
      if (const PutBack done = put_back_unless_saved(output_dir); done.is_done)
        tell(describe_put_back(output_dir, done, "this run"));
    });
  }

private:
  void remove(const std::string &results) const {
    attempt([&] {
      const std::string warning = detail::remove_aside(results, output_dir);
      if (!warning.empty())
        tell("warning: " + warning);
    });
  }
  template <class F>
  void attempt(F f) const {
    try {
      f();
    } catch (const std::exception &error) {
      tell(std::string("warning: ") + error_text(error));
    }
  }
  void tell(const std::string &text) const {
    fprintf(stderr, "%s: %s\n", program, text.c_str());
  }

  const std::string output_dir, resume;
  const char *const program; // its name
  const bool is_begun;       // by gpuopt train
  bool removes_next;         // unless this run sets the results aside
  bool is_locked = false;    // the output folder, by this process
  bool are_aside = false;
};

} // namespace gpuopt
