// Charts of lines and of stacked areas over two axes.
"use strict";

const MARGIN = { left: 58, right: 12, top: 14, bottom: 40 };

// Draws axes with their grid; returns how numbers become places.
function axes(svg, width, height, { x, y, isLog, xLabel, yLabel, yText }) {
  const left = MARGIN.left, right = width - MARGIN.right, top = MARGIN.top + 12, bottom = height - MARGIN.bottom;
  const scale = (value) => (isLog ? Math.log10(value) : value);
  const [low, high] = [scale(y[0]), scale(y[1])];
  const xAt = (value) => left + ((value - x[0]) / (x[1] - x[0] || 1)) * (right - left);
  const yAt = (value) => bottom - ((scale(value) - low) / (high - low || 1)) * (bottom - top);
  for (const value of isLog ? logTicks(y[0], y[1]) : ticks(y[0], y[1], height / 50)) {
    draw("line", { class: "grid", x1: left, x2: right, y1: yAt(value), y2: yAt(value) }, svg);
    draw("text", { x: left - 7, y: yAt(value) + 4, "text-anchor": "end", text: (yText || numberText)(value) }, svg);
  }
  for (const value of ticks(x[0], x[1], width / 75)) {
    draw("line", { class: "axis", x1: xAt(value), x2: xAt(value), y1: bottom, y2: bottom + 4 }, svg);
    draw("text", { x: xAt(value), y: bottom + 17, "text-anchor": "middle", text: numberText(value) }, svg);
  }
  draw("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }, svg);
  draw("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle", text: xLabel }, svg);
  draw("text", { x: 4, y: MARGIN.top, text: yLabel }, svg);
  return { xAt, yAt, left, right, top, bottom, xOf: (place) => x[0] + ((place - left) / (right - left)) * (x[1] - x[0]) };
}

const isShown = (value, isLog) => value !== null && isFinite(value) && (!isLog || value > 0);

// The range of all values, a little wider; from 0 if `fromZero`.
function rangeOf(series, isLog, fromZero) {
  let low = Infinity, high = -Infinity;
  for (const one of series)
    for (const list of [one.low, one.high, one.mean])
      for (const value of list || [])
        if (isShown(value, isLog)) { low = Math.min(low, value); high = Math.max(high, value); }
  if (low > high) return isLog ? [0.1, 1] : [0, 1];
  if (isLog) return low === high ? [low / 2, high * 2] : [low / 1.1, high * 1.1];
  if (fromZero) return [0, high > 0 ? high * 1.05 : 1];
  const pad = low === high ? Math.abs(low) / 10 || 1 : (high - low) * 0.05;
  return [low - pad, high + pad];
}

// The path of a line; it is torn where a number is not finite.
function linePath(at, xs, ys, isLog) {
  let path = "", isDown = false;
  for (let i = 0; i < xs.length; i++) {
    if (!isShown(ys[i], isLog)) { isDown = false; continue; }
    path += `${isDown ? "L" : "M"}${at.xAt(xs[i]).toFixed(1)},${at.yAt(ys[i]).toFixed(1)}`;
    isDown = true;
  }
  return path;
}
function bandPath(at, xs, low, high, isLog) {
  let path = "";
  for (let i = 0; i < xs.length; ) {
    let end = i;
    while (end < xs.length && isShown(low[end], isLog) && isShown(high[end], isLog)) end++;
    const point = (k, list) => `${at.xAt(xs[k]).toFixed(1)},${at.yAt(list[k]).toFixed(1)}`;
    const there = [], back = [];
    for (let k = i; k < end; k++) { there.push(point(k, high)); back.unshift(point(k, low)); }
    if (there.length > 1) path += `M${there.join("L")}L${back.join("L")}Z`;
    i = end + 1;
  }
  return path;
}

// A chart of lines. Each series has `name`, `class`, `x`, `mean` and perhaps `low` and `high`; one with `dots` is
// drawn as points. `mark` is a vertical line. A chart that `canBeLog` has a switch for it.
function lineChart(parent, { title, xLabel, yLabel, series, fromZero, canBeLog, mark, hint, height = 240, wide }) {
  let isLog = false;
  const all = series.filter((one) => one.x.length);
  const legend = series.length > 1 ? series.map((one) => [one.class, one.name]) : [];
  const xs = all.flatMap((one) => [one.x[0], one.x[one.x.length - 1]]).concat(mark ? [mark.x] : []);
  let x = [Math.min(...xs), Math.max(...xs)];
  if (x[0] === x[1]) x = [x[0] - 0.5, x[1] + 0.5];
  const chart = figure(parent, { title, legend, height, wide }, (svg, width) => {
    const at = axes(svg, width, height, { x, y: rangeOf(all, isLog, fromZero && !isLog), isLog, xLabel, yLabel });
    for (const one of all)
      if (one.low && one.low.some((value, i) => value !== one.high[i]))
        draw("path", { class: `band of ${one.class}`, d: bandPath(at, one.x, one.low, one.high, isLog) }, svg);
    for (const one of all) {
      if (!one.dots || one.x.length > 1)
        draw("path", { class: `line of ${one.class} ${one.dashed ? "dashed" : ""}`, d: linePath(at, one.x, one.mean, isLog) }, svg);
      if (one.dots || one.x.length === 1)
        one.x.forEach((value, i) => {
          if (isShown(one.mean[i], isLog))
            draw("circle", { class: `dot of ${one.class}`, cx: at.xAt(value), cy: at.yAt(one.mean[i]), r: 3 }, svg);
        });
    }
    if (mark) {
      draw("line", { class: "mark", x1: at.xAt(mark.x), x2: at.xAt(mark.x), y1: at.top, y2: at.bottom }, svg);
      const isRight = at.xAt(mark.x) > (at.left + at.right) / 2;
      draw("text", { x: at.xAt(mark.x) + (isRight ? -6 : 6), y: at.top + 12, "text-anchor": isRight ? "end" : "start",
                     text: mark.label }, svg);
    }
    follow(svg, at, all, hint || ((one, i) => valueText(one, i)), xLabel);
  });
  if (canBeLog) {
    const button = make("button", { type: "button", "aria-pressed": "false", text: "log scale" }, chart.tools);
    button.addEventListener("click", () => {
      isLog = !isLog;
      button.setAttribute("aria-pressed", isLog);
      button.textContent = isLog ? "linear scale" : "log scale";
      chart.repaint();
    });
  }
}

function valueText(one, i) {
  const range = one.low && one.low[i] !== one.high[i] ? ` (${numberText(one.low[i])} to ${numberText(one.high[i])})` : "";
  return `${one.name}: ${numberText(one.mean[i])}${range}`;
}

// Shows the values that are nearest to the mouse.
function follow(svg, at, series, textOf, xLabel) {
  const cross = draw("line", { class: "cross", y1: at.top, y2: at.bottom, visibility: "hidden" }, svg);
  const field = draw("rect", { x: at.left, y: at.top, width: Math.max(0, at.right - at.left), height: at.bottom - at.top,
                               fill: "transparent" }, svg);
  const hide = () => { cross.setAttribute("visibility", "hidden"); hideTip(); };
  field.addEventListener("pointerleave", hide);
  field.addEventListener("pointermove", (event) => {
    const wanted = at.xOf(event.clientX - svg.getBoundingClientRect().left);
    const near = series.map((one) => nearest(one.x, wanted));
    let first = 0;
    series.forEach((one, k) => {
      if (Math.abs(one.x[near[k]] - wanted) < Math.abs(series[first].x[near[first]] - wanted)) first = k;
    });
    const x = series[first].x[near[first]];
    cross.setAttribute("x1", at.xAt(x));
    cross.setAttribute("x2", at.xAt(x));
    cross.setAttribute("visibility", "visible");
    showTip(event, `${xLabel} ${numberText(x)}\n` + series.map((one, k) => textOf(one, near[k])).join("\n"));
  });
}
