// Times the calls of a program's functions, one by one: what --profile and
// --profile-costs-to have in common. The rows of calls.h say what the calls
// are.
#pragma once

#include "gpuopt/device/call_records.h"
#include "gpuopt/device/call_timing.h"
#include "gpuopt/program/program.h"

#include <deque>

namespace gpuopt {

// A function of a program whose calls can be timed.
struct TimedFunction {
  const char *name; // that of the field of Program
  void (*run)(Context &, char *memory);
  Table<CallInfo> calls;
  Table<CallWork> work; // of the same rows, or none
};

inline TimedFunction timed_micro_step(const Program &program) {
  return {"micro_step", program.micro_step, program.micro_step_calls,
          program.micro_step_work};
}
inline TimedFunction timed_update(const Program &program) {
  return {"update", program.update, program.update_calls, program.update_work};
}

// One run of a function, and when its calls ran.
struct TimedRun {
  TimedFunction function;
  std::vector<TimedCall> calls;
  bool has_records = false; // the calls have what the device did for them
};

class StepTimer {
public:
  // Runs a function call by call; on CUDA, in no graph.
  void run(Context &ctx, char *memory, const TimedFunction &function) {
    if (functions.empty())
      has_records = records.begin();
    functions.push_back(function);
    if (has_records) {
      records.begin_function();
      const ObserverScope scope(ctx, records);
      function.run(ctx, memory);
      records.end_function();
      return;
    }
    if (timestamps.size() < functions.size())
      timestamps.emplace_back();
    Timestamps &own = timestamps[functions.size() - 1];
    const ObserverScope scope(ctx, own);
    function.run(ctx, memory);
    own.add(ctx);
  }
  // Returns what has run since the last call. The device is done with it.
  std::vector<TimedRun> take() {
    std::vector<std::vector<TimedCall>> calls;
    if (has_records && !functions.empty())
      calls = records.take();
    std::vector<TimedRun> runs;
    for (size_t i = 0; i < functions.size(); i++)
      runs.push_back(
          {functions[i],
           has_records ? std::move(calls[i]) : timestamps[i].take_calls(),
           has_records});
    functions.clear();
    return runs;
  }
  // Returns what the device has done beside the calls, as far as it is known.
  std::vector<DeviceWork> take_others() { return records.take_others(); }
  // Ends recording until the next run.
  void rest() { records.end(); }

  // Returns what told the times so far, in a few words, or nothing on the host.
  std::string source() const {
    if (kStagingIsDevice)
      return "";
    if (!has_records)
      return "events, not CUPTI: " + records.why_not();
    return "CUPTI" + (records.dropped()
                          ? ", which had no room for " +
                                std::to_string(records.dropped()) + " records"
                          : std::string());
  }

private:
  CallRecords records;
  bool has_records = false;          // of the functions below
  std::deque<Timestamps> timestamps; // one for each function of a step
  std::vector<TimedFunction> functions;
};

// A row of calls.h in one run of its function.
struct TimedRow {
  int index;          // in the function's tables
  int count;          // of calls; 0 if the row shares the call of one before
  size_t first;       // the first of these calls
  double nanoseconds; // of these calls or, of a shared one, the row's share
};

// Goes through the rows of a function in the order in which their calls run:
// through those of a loop once for each iteration.
class RowCursor {
public:
  explicit RowCursor(const Table<CallInfo> &calls) : calls(calls) { enter(); }

  bool is_at_end() const { return index >= calls.count; }
  int row() const { return index; }
  const CallInfo &operator*() const { return calls.data[index]; }
  void next() {
    index++;
    if (left && index == end)
      index = --left ? begin : end;
    if (!left)
      enter();
  }

private:
  void enter() {
    if (is_at_end() || calls.data[index].rows == 0)
      return;
    begin = index;
    end = index + calls.data[index].rows;
    left = calls.data[index].iterations;
  }

  Table<CallInfo> calls;
  int index = 0;
  int begin = 0, end = 0,
      left = 0; // of the loop, and the iterations that are left
};

// Goes through the calls of a function one by one.
class CallCursor {
public:
  explicit CallCursor(const Table<CallInfo> &calls) : cursor(calls) {}

  // Goes to the next call. Returns the row that makes it, or -1 where there is
  // none.
  int next() {
    while (!cursor.is_at_end() && done == (*cursor).count)
      cursor.next(), done = 0;
    done++;
    return cursor.is_at_end() ? -1 : cursor.row();
  }

private:
  RowCursor cursor; // at the row of the call
  int done = 0;     // calls of it
};

// Returns "gemm kGemm128x512x1024_tn: d h.0.mlp.c_fc.weight".
inline std::string name_of_call(const TimedFunction &function, int row) {
  const CallInfo &call = function.calls.data[row];
  const char *work =
      row < function.work.count ? function.work.data[row].name : nullptr;
  const std::string origin = call.origin ? call.origin : "";
  return (work ? work : call.work) + (origin.empty() ? "" : ": " + origin);
}

// Visits the rows in order, those of a loop in each iteration. Ops that share a
// call divide its time by their elements.
template <class Visit>
void for_each_row(const Program &program, const TimedRun &run, Visit visit) {
  const CallInfo *rows = run.function.calls.begin();
  size_t next = 0;
  for (RowCursor cursor(run.function.calls); !cursor.is_at_end();) {
    const size_t first = next, end = next + size_t((*cursor).count);
    if (end > run.calls.size())
      break;
    double time = 0;
    for (; next < end; next++)
      time += run.calls[next].duration;
    std::vector<int> shared; // the ops that share the time
    int64_t elements = 0;
    do {
      shared.push_back(cursor.row());
      elements += (*cursor).elements;
      cursor.next();
    } while (!cursor.is_at_end() && (*cursor).count == 0);
    for (int row : shared) {
      const double share =
          elements ? double(rows[row].elements) / double(elements) : 1;
      visit(TimedRow{row, rows[row].count, first, time * share});
    }
  }
  if (next != run.calls.size())
    throw Error("the calls of '" + std::string(program.name) +
                "' are not those of its calls.h");
}

} // namespace gpuopt
