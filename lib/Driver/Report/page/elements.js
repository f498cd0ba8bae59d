// Elements of the page, numbers as texts, and the box that follows the mouse.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

// Creates an element. `attributes` may have `text`; names of classes are text.
function make(tag, attributes, parent, isSvg) {
  const element = isSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (name === "text") element.textContent = value;
    else if (value !== undefined) element.setAttribute(name, value);
  if (parent) parent.appendChild(element);
  return element;
}
const draw = (tag, attributes, parent) => make(tag, attributes, parent, true);

// Returns a number with three or four digits that count, as 1.234, 0.00012 or 12,345.
function numberText(value) {
  if (value === null || value === undefined || !isFinite(value)) return "not finite";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e7 || size < 1e-4) return value.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(+value.toPrecision(4));
}
function bytesText(bytes) {
  for (const [unit, name] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]])
    if (bytes >= unit) return (bytes / unit).toFixed(2) + " " + name;
  return bytes + " bytes";
}
// Returns the unit in which an axis up to `most` bytes reads well.
function byteUnit(most) {
  for (const [unit, name] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]])
    if (most >= 2 * unit) return { size: unit, name };
  return { size: 1, name: "bytes" };
}
function timeText(milliseconds) {
  const seconds = milliseconds / 1000;
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.round(seconds / 60) % 60} min`;
  if (seconds >= 120) return `${Math.floor(seconds / 60)} min ${Math.round(seconds) % 60} s`;
  return seconds >= 1 ? `${numberText(seconds)} s` : `${milliseconds.toFixed(milliseconds < 1 ? 2 : 1)} ms`;
}

// The ticks of an axis from `low` to `high`: at most about `count`, but two at least, at 1, 2 or 5 times a power of ten.
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(+(i * step).toPrecision(12));
  return found.length < 2 ? ticks(low, high, 2 * Math.max(1, count)) : found;
}
// The ticks of a logarithmic axis: powers of ten or, where there are few, 1, 2 and 5 times these.
function logTicks(low, high) {
  const found = [];
  const few = Math.log10(high / low) < 2;
  const every = Math.max(1, Math.ceil(Math.log10(high / low) / 6));
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high) + 1e-9; power++)
    for (const factor of few ? [1, 2, 5] : [1]) {
      const value = factor * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001 && (few || power % every === 0)) found.push(value);
    }
  return found.length ? found : [low];
}

// The index in ascending numbers that is nearest to `value`.
function nearest(sorted, value) {
  let low = 0, high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low > 0 && value - sorted[low - 1] < sorted[low] - value ? low - 1 : low;
}

const tip = make("div", { id: "tip", role: "status" }, document.body);
function showTip(event, text) {
  tip.textContent = text;
  tip.style.display = "block";
  const { width, height } = tip.getBoundingClientRect();
  const left = event.clientX + 14 + width > innerWidth ? event.clientX - 14 - width : event.clientX + 14;
  const top = event.clientY + 14 + height > innerHeight ? event.clientY - 14 - height : event.clientY + 14;
  tip.style.left = Math.max(4, Math.min(left, innerWidth - width - 4)) + "px";
  tip.style.top = Math.max(4, top) + "px";
}
const hideTip = () => { tip.style.display = "none"; };

// Makes a figure with a title, a place for buttons, and a legend of [class, text] pairs. `paint(svg, width)` draws
// it anew whenever its width changes.
function figure(parent, { title, legend, height, wide }, paint) {
  const frame = make("figure", { class: wide ? "wide" : "" }, parent);
  const caption = make("figcaption", {}, frame);
  make("span", { text: title }, caption);
  const tools = make("span", { class: "tools" });
  if (legend && legend.length) {
    const list = make("span", { class: "legend" }, caption);
    for (const [name, text] of legend) {
      const entry = make("span", {}, list);
      make("span", { class: `swatch of ${name}` }, entry);
      entry.append(text);
    }
  }
  caption.appendChild(tools);
  const svg = draw("svg", { role: "img", "aria-label": title, height }, frame);
  const repaint = () => {
    const width = Math.floor(svg.getBoundingClientRect().width);
    if (width < 1) return;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    paint(svg, width);
  };
  let seen = 0;
  new ResizeObserver((entries) => {
    const width = Math.floor(entries[0].contentRect.width);
    if (width !== seen) { seen = width; requestAnimationFrame(repaint); }
  }).observe(svg);
  return { frame, tools, svg, repaint };
}
