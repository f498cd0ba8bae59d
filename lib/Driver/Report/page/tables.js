// Tables that are sorted by a click, searched, and shown a part at a time.
"use strict";

const ROWS_AT_ONCE = 50;

// Each column has `name`, `of(row)`, and perhaps `text(value)` and `kind`: number, words or nobreak.
// A column that no row has is left out.
function table(parent, allColumns, rows, { sortBy = -1, label = "" } = {}) {
  const columns = allColumns.filter((column) => rows.some((row) => (column.of(row) ?? "") !== ""));
  let shown = ROWS_AT_ONCE, by = sortBy, isDown = true, wanted = "";
  const textOf = (column, row) => {
    const value = column.of(row);
    return value === undefined || value === null ? "" : column.text ? column.text(value) : String(value);
  };
  if (rows.length > 10) {
    const search = make("input", { type: "search", placeholder: `search ${rows.length.toLocaleString("en-US")} rows`,
                                   "aria-label": `search ${label}` }, parent);
    search.addEventListener("input", () => { wanted = search.value.toLowerCase(); shown = ROWS_AT_ONCE; fill(); });
  }
  const frame = make("div", { class: "scroll" }, parent);
  const grid = make("table", {}, frame);
  const head = make("tr", {}, make("thead", {}, grid));
  const heads = columns.map((column, k) => {
    const cell = make("th", { class: column.kind === "number" ? "number" : "" }, head);
    const button = make("button", { type: "button", text: column.name }, cell);
    button.addEventListener("click", () => {
      isDown = by === k ? !isDown : column.kind === "number";
      by = k;
      fill();
    });
    return cell;
  });
  const body = make("tbody", {}, grid);
  const more = make("button", { type: "button", class: "more" }, parent);
  more.addEventListener("click", () => { shown += 10 * ROWS_AT_ONCE; fill(); });

  function fill() {
    let list = wanted ? rows.filter((row) => columns.some((column) => textOf(column, row).toLowerCase().includes(wanted))) : rows;
    if (by >= 0) {
      const of = columns[by].of, sign = isDown ? -1 : 1;
      list = [...list].sort((a, b) => {
        const left = of(a) ?? "", right = of(b) ?? "";
        return left < right ? -sign : left > right ? sign : 0;
      });
    }
    heads.forEach((cell, k) => {
      if (k === by) cell.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    body.replaceChildren(...list.slice(0, shown).map((row) => {
      const line = make("tr");
      for (const column of columns) make("td", { class: column.kind || "", text: textOf(column, row) }, line);
      return line;
    }));
    more.style.display = list.length > shown ? "" : "none";
    more.textContent = `more rows (${(list.length - shown).toLocaleString("en-US")})`;
  }
  fill();
}
