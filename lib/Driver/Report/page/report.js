// Puts the page together from its data.
"use strict";

const report = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main"), menu = document.getElementById("menu");
const colour = (k) => "c" + (k % 6);

function section(parent, title, id) {
  const part = make("section", { id }, parent);
  make("h2", { text: title }, part);
  return part;
}
function fact(parent, value, what) {
  const box = make("div", {}, parent);
  make("b", { text: value }, box);
  make("span", { text: what }, box);
}

//===--- Curves of all runs -----------------------------------------------===//

// The curves of a metric, one of each run; `change` makes other numbers of them.
function curvesOf(metric, change = (value) => value) {
  return report.runs.map((run, k) => {
    const lists = run.curves[metric];
    if (!lists) return { name: run.name, class: colour(k), x: [], mean: [] };
    const [low, mean, high] = ["low", "mean", "high"].map((name) => lists[name].map((value) => (value === null ? null : change(value, run))));
    const isFlipped = low.some((value, i) => value > high[i]);
    return { name: run.name, class: colour(k), x: run.curves.x, mean, low: isFlipped ? high : low, high: isFlipped ? low : high };
  });
}
const hasValues = (series) => series.some((one) => one.mean.some((value) => value !== null));
const varies = (series) => series.some((one) => one.mean.some((value) => value !== null && value !== one.mean[0]));

function showCurves() {
  const part = section(main, "Curves", "curves");
  const grid = make("div", { class: "charts" }, part);
  const chart = (title, yLabel, series, more) => {
    if (hasValues(series)) lineChart(grid, { title, yLabel, xLabel: "step", series, ...more });
  };
  const loss = curvesOf("loss");
  report.runs.forEach((run, k) => {
    if (run.evaluations.x.length)
      loss.push({ name: report.runs.length > 1 ? `${run.name}, validation` : "validation",
                  class: report.runs.length > 1 ? colour(k) : "c1", dots: true, dashed: true,
                  x: run.evaluations.x, mean: run.evaluations.mean });
  });
  if (report.runs.length === 1) loss[0].name = "training";
  chart("Loss", "loss", loss, { canBeLog: true });
  const metrics = new Set(report.runs.flatMap((run) => Object.keys(run.eval_metrics)));
  for (const name of [...metrics].sort())
    chart(`Validation: ${name.replace(/_/g, " ")}`, name.replace(/_/g, " "),
          report.runs.flatMap((run, k) => run.eval_metrics[name]
            ? [{ name: run.name, class: colour(k), dots: true, ...run.eval_metrics[name] }] : []), {});
  chart("Learning rate", "learning rate", curvesOf("learning_rate"), { fromZero: true });
  chart("Norm of the gradient, before clipping", "norm", curvesOf("grad_norm"), { canBeLog: true });
  const scale = curvesOf("loss_scale");
  if (varies(scale)) chart("Loss scale", "scale", scale, { canBeLog: true });
  const skipped = curvesOf("skipped_steps");
  if (varies(skipped)) chart("Skipped steps, so far", "steps", skipped, { fromZero: true });
  chart("Throughput", "samples per second",
        curvesOf("step_ms", (ms, run) => (ms > 0 ? (1000 * run.samples_per_step) / ms : null)), { fromZero: true });
  chart("Time of a step", "ms", curvesOf("step_ms"), { fromZero: true });
  chart("Wait for data, of a step", "ms", curvesOf("data_wait_ms"), { fromZero: true });
  if (!grid.children.length) make("p", { text: "There is no step in metrics.jsonl yet." }, part);
  else if (report.runs.some((run) => run.is_in_buckets))
    make("p", { text: "A line is the mean of neighbouring steps, the band around it their least and greatest." }, part);
}

//===--- One run ----------------------------------------------------------===//

function showFacts(parent, run) {
  const facts = make("div", { class: "facts" }, parent), figures = run.figures;
  if (figures.last_step !== undefined) fact(facts, numberText(figures.last_step), "steps");
  if (figures.loss !== undefined) fact(facts, numberText(figures.loss), "loss of the last step");
  if (figures.best_evaluation !== undefined) fact(facts, numberText(figures.best_evaluation), `least validation loss, step ${numberText(figures.best_step)}`);
  for (const [name, values] of Object.entries(run.eval_metrics)) {
    const last = values.mean.findLastIndex((value) => value !== null);
    if (last >= 0) fact(facts, numberText(values.mean[last]), `${name.replace(/_/g, " ")} of validation, step ${numberText(values.x[last])}`);
  }
  if (figures.step_ms) {
    fact(facts, timeText(figures.step_ms), "a step, without the first");
    fact(facts, numberText((1000 * run.samples_per_step) / figures.step_ms), "samples per second");
    fact(facts, `${((100 * figures.data_wait_ms) / figures.step_ms).toFixed(1)} %`, "of a step waits for data");
  }
  if (figures.total_ms) fact(facts, timeText(figures.total_ms), "in all steps together");
  if (run.memory.peak_bytes) fact(facts, bytesText(run.memory.peak_bytes), "peak memory");
  if (run.plan) fact(facts, bytesText(run.plan.total_bytes), "planned");
}

// What each phase of the run has taken.
function showPhases(parent, memory) {
  const phases = ["load", "forward", "backward", "update", "validation", "checkpoint"].filter((name) => memory[`${name}_peak_bytes`]);
  if (!phases.length) return;
  table(parent, [{ name: "phase", of: (name) => name },
                 { name: "peak that was measured", of: (name) => memory[`${name}_peak_bytes`], text: bytesText, kind: "number" },
                 { name: "planned to be alive", of: (name) => memory[`${name}_planned_bytes`], text: bytesText, kind: "number" }], phases);
}

function showMemory(parent, run) {
  const plan = run.plan, tensors = tensorsOf(plan);
  const part = section(parent, "Memory", "memory");
  const rows = new Map();
  for (const tensor of tensors) {
    const name = tensor.step < 0 ? tensor.kind.replace(/_/g, " ") : "tensors of the steps (the arena)";
    rows.set(name, tensor.step < 0 ? (rows.get(name) || 0) + tensor.bytes : plan.arena_bytes);
  }
  const list = [...rows].map(([name, bytes]) => ({ name, bytes }));
  const rest = plan.total_bytes - list.reduce((sum, row) => sum + row.bytes, 0);
  if (rest > 0) list.push({ name: "padding", bytes: rest });
  list.push({ name: "planned in total", bytes: plan.total_bytes });
  if (plan.host_bytes) list.push({ name: "on the host, for offloaded tensors", bytes: plan.host_bytes });
  if (run.memory.peak_bytes) {
    list.push({ name: "peak that was measured", bytes: run.memory.peak_bytes, isMeasured: true });
    list.push({ name: "of it beside the plan: the program, its libraries, data", bytes: run.memory.beside_plan_bytes, isMeasured: true });
  }
  showPhases(part, run.memory);
  table(part, [{ name: "what", of: (row) => row.name, kind: "words" },
               { name: "bytes", of: (row) => row.bytes, text: bytesText, kind: "number" },
               { name: "of the plan", of: (row) => (row.isMeasured ? -1 : row.bytes / plan.total_bytes), kind: "number",
                 text: (share) => (share < 0 ? "" : `${(100 * share).toFixed(1)} %`) }], list);
  const charts = make("div", {}, part);
  const show = (step) => {
    charts.replaceChildren();
    memoryOverStep(charts, plan, tensors, step);
    arenaMap(charts, plan, tensors, step);
  };
  const used = plan.steps.map((name, step) => step).filter((step) => tensors.some((tensor) => tensor.step === step));
  if (used.length > 1) {
    const choice = make("p", { text: "Step: " });
    part.insertBefore(choice, charts);
    const select = make("select", { "aria-label": "step" }, choice);
    for (const step of used) make("option", { value: step, text: plan.steps[step] }, select);
    select.addEventListener("change", () => show(+select.value));
  }
  if (used.length) show(used[0]);
}

function showBudget(parent, run) {
  const schedules = Object.entries(run.plan.schedules || {});
  const curve = run.curve;
  if (!schedules.length && curve.length < 2) return;
  const part = section(parent, "What a budget costs", "budget");
  if (schedules.length)
    table(part, [
      { name: "step", of: ([name]) => name },
      { name: "arena", of: ([, one]) => one.arena_bytes, text: bytesText, kind: "number" },
      { name: "without a budget", of: ([, one]) => one.plain_arena_bytes, text: bytesText, kind: "number" },
      { name: "added time", of: ([, one]) => one.added_percent, text: (value) => `${value.toFixed(2)} %`, kind: "number" },
      { name: "for what is computed again", of: ([, one]) => one.recompute_percent, text: (value) => `${value.toFixed(2)} %`, kind: "number" },
      { name: "of that at least, proven", of: ([, one]) => one.lower_bound_percent, text: (value) => `${value.toFixed(2)} %`, kind: "number" },
      { name: "copied to and from the host", of: ([, one]) => one.transfer_bytes, text: bytesText, kind: "number" },
    ], schedules);
  if (curve.length < 2) return;
  const unit = byteUnit(curve[0].budget_bytes), points = [...curve].reverse();
  const x = points.map((point) => point.budget_bytes / unit.size);
  lineChart(part, {
    title: "Added time by budget", xLabel: `memory budget, ${unit.name}`, yLabel: "added time per step, %", fromZero: true,
    height: 300, wide: true, mark: { x: run.plan.total_bytes / unit.size, label: `this plan, ${bytesText(run.plan.total_bytes)}` },
    series: [{ name: "the plan", class: "c0", x, mean: points.map((point) => point.added_percent), dots: true },
             { name: "proven lower bound", class: "c1", x, mean: points.map((point) => point.lower_bound_percent), dashed: true, dots: true }],
    hint: (one, i) => `${one.name}: ${one.mean[i].toFixed(2)} %` });
}

function showTensors(parent, run) {
  const rows = run.plan.tensors || [];
  if (!rows.length) return;
  const part = section(parent, "What the backward reads of the forward", "tensors");
  const sums = new Map();
  for (const row of rows) {
    const [count, bytes] = sums.get(row.decision) || [0, 0];
    sums.set(row.decision, [count + 1, bytes + row.bytes]);
  }
  make("p", { text: [...sums].map(([fate, [count, bytes]]) => `${fate}: ${count} tensors, ${bytesText(bytes)}`).join("; ") + "." }, part);
  const name = (row) => row.origin + (row.result === undefined ? "" : `#${row.result}`) + (row.which ? ` (${row.which})` : "");
  table(part, [{ name: "tensor", of: name, kind: "words" }, { name: "type", of: (row) => row.type, kind: "nobreak" },
               { name: "bytes", of: (row) => row.bytes, text: bytesText, kind: "number" },
               { name: "is", of: (row) => row.decision }, { name: "why", of: (row) => row.reason, kind: "words" }],
        rows, { label: "tensors" });
}

function showPrecision(parent, run) {
  const part = section(parent, "Precision", "precision");
  make("p", { text: run.plan.precision ? run.plan.precision + "." : "All tensors are in full precision: the program was compiled without --precision." }, part);
  if (run.plan.precisions)
    table(part, [{ name: "node", of: (row) => row.origin, kind: "words" }, { name: "operator", of: (row) => row.op },
                 { name: "stored in", of: (row) => row.type }, { name: "factors in", of: (row) => row.computed_in },
                 { name: "why", of: (row) => row.reason, kind: "words" }], run.plan.precisions, { label: "nodes" });
}

function showProfile(parent, run) {
  const part = section(parent, "Profile", "profile"), profile = run.profile;
  const total = profile.rows.reduce((sum, row) => sum + row.ns, 0) || 1;
  const above = profile.rows.some((row) => row.limit_ns > row.ns)
    ? "; above 100 %, data comes from caches, or these rates are lower than this machine's, which 'gpuopt calibrate' measures" : "";
  make("p", { text: `${profile.steps} steps on ${profile.device}, ${timeText(profile.step_ns / 1e6 / profile.steps)} a step; ` +
                    `the share of the limit is by the rates of '${profile.limits_device}'${above}.` }, part);
  table(part, [
    { name: "name", of: (row) => row.name, kind: "words" },
    { name: "time, %", of: (row) => (100 * row.ns) / total, text: (value) => value.toFixed(2), kind: "number" },
    { name: "ms a step", of: (row) => row.ns / 1e6 / profile.steps, text: (value) => value.toFixed(3), kind: "number" },
    { name: "calls a step", of: (row) => row.calls / profile.steps, text: numberText, kind: "number" },
    { name: "GB/s", of: (row) => row.bytes / row.ns, text: (value) => value.toFixed(2), kind: "number" },
    { name: "GFLOP/s", of: (row) => row.flops / row.ns, text: (value) => value.toFixed(1), kind: "number" },
    { name: "of limit, %", of: (row) => (100 * row.limit_ns) / row.ns, text: (value) => value.toFixed(1), kind: "number" },
    { name: "section", of: (row) => row.section }, { name: "step.cu", of: (row) => row.line, kind: "number" },
    { name: "nodes", of: (row) => row.nodes, kind: "words" },
  ], profile.rows, { label: "calls", sortBy: 1 });
}

function showOrigin(parent, run) {
  const part = section(parent, "Versions and command lines", "origin");
  const traits = run.traits;
  const rows = [["folder", run.folder], ["model", run.plan && run.plan.model], ["gpuopt that compiled", run.plan && run.plan.gpuopt],
                ["gpuopt that wrote this page", report.gpuopt], ["target", traits && traits.target],
                ["batch", traits && `${traits.accumulation_steps} x ${traits.batch_size} samples`],
                ["loader threads", traits && traits.num_workers], ["started in", run.started_in]].filter(([, value]) => value);
  table(part, [{ name: "what", of: ([name]) => name, kind: "nobreak" }, { name: "is", of: ([, value]) => value, kind: "words" }], rows);
  for (const [title, text] of [["compiled by", run.plan && run.plan.command], ["run by", run.command]])
    if (text) { make("p", { text: title }, part); make("pre", { text }, part); }
}

function showRun(parent, run) {
  parent.replaceChildren();
  showFacts(parent, run);
  for (const note of run.notes) make("p", { class: "note", text: note }, parent);
  if (run.verdict) make("p", { class: "verdict", text: run.verdict }, parent);
  const details = make("div", {}, parent);
  if (run.plan && run.plan.buffers) {
    showMemory(details, run);
    showBudget(details, run);
    showTensors(details, run);
    showPrecision(details, run);
  }
  if (run.profile) showProfile(details, run);
  showOrigin(details, run);
}

function showMenu() {
  menu.replaceChildren();
  for (const part of document.querySelectorAll("section"))
    make("a", { href: "#" + part.id, text: part.querySelector("h2").textContent }, menu);
}

showCurves();
const one = make("div", { id: "run" }, main);
if (report.runs.length > 1) {
  const choice = make("p", { text: "Details of " });
  main.insertBefore(choice, one);
  const select = make("select", { "aria-label": "run", id: "which" }, choice);
  report.runs.forEach((run, k) => make("option", { value: k, text: run.name }, select));
  select.addEventListener("change", () => { showRun(one, report.runs[+select.value]); showMenu(); });
} else {
  // The facts of the only run come first.
  main.insertBefore(make("div", { id: "facts" }), main.firstChild);
}
showRun(one, report.runs[0]);
if (report.runs.length === 1)
  while (one.firstChild && one.children.length > 1) document.getElementById("facts").appendChild(one.firstChild);
showMenu();
