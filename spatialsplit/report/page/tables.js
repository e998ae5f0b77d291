"use strict";

// A click on a column's head sorts the table by it; a second one turns the order round. What is missing stays at the end.
const MISSING = ["", "–"];

function cellValue(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.v === undefined ? cell.textContent.trim() : cell.dataset.v;
  const number = Number(text);
  return text !== "" && Number.isFinite(number) ? number : text;
}

function compare(one, other) {
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
  return one.localeCompare(other, "en", { numeric: true });
}

function order(one, other, down) {
  const missing = MISSING.includes(one) - MISSING.includes(other);
  return missing || (down ? -1 : 1) * compare(one, other);
}

function sortTable(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const down = heads[column].getAttribute("aria-sort") === "ascending";
  heads.forEach((head, i) => {
    if (i === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
  const rows = [...table.tBodies[0].rows].map((row, i) => ({ row, i, value: cellValue(row, column) }));
  rows.sort((a, b) => order(a.value, b.value, down) || a.i - b.i);
  table.tBodies[0].append(...rows.map((each) => each.row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => sortTable(table, column));
  });
}
