// The memory of a step: what is alive at each op, and the arena as a map of offset by time.
"use strict";

const FATES = [
  ["state", "lives from step to step"], ["saved", "saved for the backward"], ["recomputed", "computed again"],
  ["gradient", "gradients"], ["temporary", "other tensors of the step"],
];

// Turns the columns of a plan into tensors, each with the fate that its colour tells.
function tensorsOf(plan) {
  const columns = plan.buffers, decisions = new Map();
  const key = (origin, result) => `${origin}#${result ?? -1}`;
  for (const row of plan.tensors || []) {
    const name = key(row.origin, row.result);
    decisions.set(name, [...(decisions.get(name) || []), row]);
  }
  const tensors = columns.name.map((name, i) => ({
    name, origin: columns.origin[i], kind: columns.kind[i], type: columns.type[i], offset: columns.offset[i],
    bytes: columns.bytes[i], from: columns.from[i], to: columns.to[i], step: columns.step[i],
    result: columns.result[i],
  }));
  const first = new Set();
  for (const tensor of tensors) {
    if (tensor.step < 0) { tensor.fate = "state"; continue; }
    const name = key(tensor.origin, tensor.result), found = decisions.get(name) || [];
    const again = found.find((row) => row.decision === "recomputed"), kept = found.find((row) => row.decision === "saved");
    // The first tensor of its name is that of the forward; one of the same name later is computed again.
    const isRepeat = first.has(name);
    first.add(name);
    tensor.fate = tensor.origin.startsWith("d ") ? "gradient"
      : again && isRepeat ? "recomputed" : kept && !isRepeat ? "saved" : "temporary";
    const row = tensor.fate === "recomputed" ? again : tensor.fate === "saved" ? kept : found[0];
    tensor.why = row ? `${row.decision}: ${row.reason}` : "";
  }
  return tensors;
}

function tensorText(tensor) {
  return [tensor.origin || tensor.name, `${tensor.type}, ${bytesText(tensor.bytes)}`,
    `at offset ${bytesText(tensor.offset)}` + (tensor.step < 0 ? "" : `, ops ${tensor.from} to ${tensor.to - 1}`),
    tensor.why || (FATES.find(([fate]) => fate === tensor.fate) || [])[1], tensor.name === tensor.origin ? "" : tensor.name,
  ].filter(Boolean).join("\n");
}

// The bytes of each fate that are alive at each op of a step, as sums from below.
function stackOf(tensors, step, persistent) {
  const mine = tensors.filter((tensor) => tensor.step === step);
  const ops = mine.reduce((most, tensor) => Math.max(most, tensor.to), 0);
  const bytes = FATES.map(([fate]) => new Array(ops).fill(fate === "state" ? persistent : 0));
  FATES.forEach(([fate], k) => {
    const change = new Array(ops + 1).fill(0);
    for (const tensor of mine) if (tensor.fate === fate) { change[tensor.from] += tensor.bytes; change[tensor.to] -= tensor.bytes; }
    let alive = 0;
    for (let op = 0; op < ops; op++) { alive += change[op]; bytes[k][op] += alive; }
  });
  for (let k = 1; k < bytes.length; k++) for (let op = 0; op < ops; op++) bytes[k][op] += bytes[k - 1][op];
  return { mine, ops, sums: bytes };
}

function memoryOverStep(parent, plan, tensors, step) {
  const { mine, ops, sums } = stackOf(tensors, step, plan.persistent_bytes);
  if (!ops) return;
  const top = Math.max(...sums[sums.length - 1], 1), unit = byteUnit(top), height = 300;
  const byOp = [...mine].sort((a, b) => b.bytes - a.bytes);
  const legend = FATES.filter(([fate]) => fate === "state" || mine.some((tensor) => tensor.fate === fate));
  figure(parent, { title: "Memory over the step", legend, height, wide: true }, (svg, width) => {
    const at = axes(svg, width, height, { x: [0, ops], y: [0, (top * 1.05) / unit.size], xLabel: "op of the step", yLabel: `${unit.name} alive` });
    // No more points than pixels: of the ops of a pixel, the one with the most bytes is drawn.
    const every = Math.max(1, Math.ceil(ops / Math.max(1, width)));
    for (let k = sums.length - 1; k >= 0; k--) {
      let path = `M${at.left},${at.bottom}`;
      for (let op = 0; op < ops; op += every) {
        let most = 0;
        for (let i = op; i < Math.min(ops, op + every); i++) most = Math.max(most, sums[k][i]);
        const y = at.yAt(most / unit.size).toFixed(1);
        path += `L${at.xAt(op).toFixed(1)},${y}L${at.xAt(Math.min(ops, op + every)).toFixed(1)},${y}`;
      }
      draw("path", { class: `area of ${FATES[k][0]}`, d: `${path}L${at.xAt(ops).toFixed(1)},${at.bottom}Z` }, svg);
    }
    const cross = draw("line", { class: "cross", y1: at.top, y2: at.bottom, visibility: "hidden" }, svg);
    const field = draw("rect", { id: "step-memory", x: at.left, y: at.top, width: Math.max(0, at.right - at.left),
                                 height: at.bottom - at.top, fill: "transparent" }, svg);
    field.addEventListener("pointerleave", () => { cross.setAttribute("visibility", "hidden"); hideTip(); });
    field.addEventListener("pointermove", (event) => {
      const op = Math.max(0, Math.min(ops - 1, Math.floor(at.xOf(event.clientX - svg.getBoundingClientRect().left))));
      for (const name of ["x1", "x2"]) cross.setAttribute(name, at.xAt(op + 0.5));
      cross.setAttribute("visibility", "visible");
      const alive = byOp.filter((tensor) => tensor.from <= op && op < tensor.to), rest = alive.length - 8;
      const made = mine.filter((tensor) => tensor.from === op).map((tensor) => tensor.origin || tensor.name);
      showTip(event, `op ${op}${made.length ? ": " + made.join(", ") : ""}\n${bytesText(sums[sums.length - 1][op])} alive\n` +
        alive.slice(0, 8).map((tensor) => `${bytesText(tensor.bytes).padStart(12)}  ${tensor.origin || tensor.name}`).join("\n") +
        (rest > 0 ? `\n${rest} smaller ones` : ""));
    });
  });
}

// The arena as rectangles: an op is a column, an offset a row. Dragging over a part zooms in.
function arenaMap(parent, plan, tensors, step) {
  const mine = tensors.filter((tensor) => tensor.step === step && tensor.bytes > 0);
  if (!mine.length) return;
  const whole = {
    x0: 0, x1: mine.reduce((most, tensor) => Math.max(most, tensor.to), 1),
    y0: mine.reduce((least, tensor) => Math.min(least, tensor.offset), Infinity),
    y1: mine.reduce((most, tensor) => Math.max(most, tensor.offset + tensor.bytes), 0),
  };
  let view = { ...whole };
  const height = 460;
  const legend = FATES.filter(([fate]) => mine.some((tensor) => tensor.fate === fate));
  const map = figure(parent, { title: "The arena: each tensor by time and offset", legend, height, wide: true }, (svg, width) => {
    const unit = byteUnit(view.y1);
    const at = axes(svg, width, height, { x: [view.x0, view.x1], y: [view.y0 / unit.size, view.y1 / unit.size],
                                          xLabel: "op of the step", yLabel: `offset, ${unit.name}` });
    const clip = `clip-${step}`;
    const box = { x: at.left, y: at.top, width: Math.max(0, at.right - at.left), height: at.bottom - at.top };
    draw("rect", box, draw("clipPath", { id: clip }, svg));
    const inside = draw("g", { "clip-path": `url(#${clip})` }, svg);
    const seen = mine.filter((t) => t.to > view.x0 && t.from < view.x1 && t.offset + t.bytes > view.y0 && t.offset < view.y1);
    const paths = new Map(), labels = [];
    seen.forEach((tensor, i) => {
      const left = at.xAt(tensor.from), right = at.xAt(tensor.to);
      const top = at.yAt((tensor.offset + tensor.bytes) / unit.size), bottom = at.yAt(tensor.offset / unit.size);
      const name = `${tensor.fate}${i % 2 ? " odd" : ""}`;
      paths.set(name, (paths.get(name) || "") + `M${left.toFixed(1)},${top.toFixed(1)}H${right.toFixed(1)}V${bottom.toFixed(1)}H${left.toFixed(1)}Z`);
      if (right - left > 70 && bottom - top > 15) labels.push([tensor, Math.max(left, at.left), Math.min(right, at.right), (top + bottom) / 2]);
    });
    for (const [name, path] of paths) draw("path", { class: `tensor of ${name}`, d: path }, inside);
    for (const [tensor, left, right, middle] of labels.slice(0, 60)) {
      const room = Math.floor((right - left - 8) / 6.4), text = tensor.origin || tensor.name;
      if (room > 5) draw("text", { class: "label", x: left + 4, y: middle + 4,
                                   text: text.length > room ? "…" + text.slice(1 - room) : text }, inside);
    }
    listen(svg, inside, at, box, unit);
  });

  function listen(svg, inside, at, box, unit) {
    const hit = draw("rect", { class: "hit", visibility: "hidden" }, inside);
    const field = draw("rect", { ...box, id: "arena", fill: "transparent" }, svg);
    const chosen = draw("rect", { class: "selection", visibility: "hidden" }, svg);
    const yOf = (place) => view.y0 + ((at.bottom - place) / (at.bottom - at.top)) * (view.y1 - view.y0);
    let from = null;
    const place = (event) => {
      const frame = svg.getBoundingClientRect();
      return { x: Math.max(at.left, Math.min(at.right, event.clientX - frame.left)),
               y: Math.max(at.top, Math.min(at.bottom, event.clientY - frame.top)) };
    };
    const edges = (a, b) => ({ x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y) });
    field.addEventListener("pointerdown", (event) => { from = place(event); field.setPointerCapture(event.pointerId); });
    field.addEventListener("pointerleave", () => { hit.setAttribute("visibility", "hidden"); hideTip(); });
    field.addEventListener("pointermove", (event) => {
      const now = place(event);
      if (from) {
        for (const [name, value] of Object.entries(edges(from, now))) chosen.setAttribute(name, value);
        chosen.setAttribute("visibility", "visible");
      }
      const op = at.xOf(now.x), offset = yOf(now.y);
      const tensor = mine.find((t) => t.from <= op && op < t.to && t.offset <= offset && offset < t.offset + t.bytes);
      hit.setAttribute("visibility", tensor ? "visible" : "hidden");
      if (!tensor) return hideTip();
      const top = at.yAt((tensor.offset + tensor.bytes) / unit.size);
      for (const [name, value] of Object.entries({ x: at.xAt(tensor.from), y: top, width: at.xAt(tensor.to) - at.xAt(tensor.from),
                                                   height: at.yAt(tensor.offset / unit.size) - top })) hit.setAttribute(name, value);
      showTip(event, tensorText(tensor));
    });
    field.addEventListener("pointerup", (event) => {
      const area = from && edges(from, place(event));
      from = null;
      chosen.setAttribute("visibility", "hidden");
      if (!area || area.width < 5 || area.height < 5) return;
      view = { x0: at.xOf(area.x), x1: at.xOf(area.x + area.width), y0: yOf(area.y + area.height), y1: yOf(area.y) };
      map.repaint();
    });
    field.addEventListener("dblclick", () => { view = { ...whole }; map.repaint(); });
  }
  const zoom = (factor) => {
    const middle = [(view.x0 + view.x1) / 2, (view.y0 + view.y1) / 2];
    const half = [((view.x1 - view.x0) / 2) * factor, ((view.y1 - view.y0) / 2) * factor];
    view = { x0: Math.max(whole.x0, middle[0] - half[0]), x1: Math.min(whole.x1, middle[0] + half[0]),
             y0: Math.max(whole.y0, middle[1] - half[1]), y1: Math.min(whole.y1, middle[1] + half[1]) };
    map.repaint();
  };
  const button = (text, label, act) =>
    make("button", { type: "button", text, "aria-label": label, title: label }, map.tools).addEventListener("click", act);
  button("+", "zoom in", () => zoom(0.5));
  button("−", "zoom out", () => zoom(2));
  button("whole", "show the whole arena", () => { view = { ...whole }; map.repaint(); });
  make("p", { text: "Drag over a part of the map to see it larger; a double click shows the whole again." }, map.frame);
}
