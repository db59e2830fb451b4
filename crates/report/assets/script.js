"use strict";
// Filter, sort, copy, and live updates. Everything else on these pages works without this file.
// No text is ever made into HTML here: fresh parts of a page come from the server as they would on a reload.

const table = () => document.getElementById("findings");
const controls = () => document.getElementById("controls");
let sorted = null; // {column, down}

function cellText(row, column) { return row.cells[column].textContent.trim(); }

function columnOf(name) {
  return [...table().tHead.rows[0].cells].findIndex((cell) => cell.dataset.column === name);
}

function applyFilter() {
  const form = controls();
  if (!form || !table()) return;
  const words = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const faces = document.getElementById("faces");
  const chosen = [...form.querySelectorAll("select")].filter((list) => list.value)
    .map((list) => [columnOf(list.dataset.column), list.value]);
  let shown = 0;
  const rows = table().tBodies[0].rows;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    const fits = words.every((word) => text.includes(word)) &&
      chosen.every(([column, value]) => cellText(row, column) === value) &&
      (!row.classList.contains("face") || !faces || faces.checked || words.length > 0);
    row.hidden = !fits;
    if (fits) shown += 1;
  }
  document.getElementById("count").textContent = `${shown} of ${rows.length} findings`;
}

function applySort() {
  if (!sorted || !table()) return;
  const { column, down } = sorted;
  const numeric = table().tHead.rows[0].cells[column].classList.contains("n");
  const key = (row) => {
    const text = cellText(row, column);
    return numeric ? (text === "" ? Infinity : Number(text.replaceAll(",", ""))) : text.toLowerCase();
  };
  const body = table().tBodies[0];
  const rows = [...body.rows].map((row, place) => ({ row, key: key(row), place }));
  const order = (a, b) => (numeric ? a - b : a.localeCompare(b, "en", { numeric: true }));
  // What has no number comes last either way.
  const missing = (row) => (row.key === Infinity ? 1 : 0);
  rows.sort((a, b) => missing(a) - missing(b) || (down ? -1 : 1) * order(a.key, b.key) || a.place - b.place);
  body.append(...rows.map(({ row }) => row));
  [...table().tHead.rows[0].cells].forEach((cell, place) => {
    if (place === column) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  });
}

function setUpTable() {
  if (!table()) return;
  [...table().tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = cell.textContent;
    button.addEventListener("click", () => {
      const down = sorted && sorted.column === column ? !sorted.down : false;
      sorted = { column, down };
      applySort();
    });
    cell.replaceChildren(button);
  });
  const form = controls();
  form.hidden = false;
  form.addEventListener("input", applyFilter);
  form.addEventListener("submit", (event) => event.preventDefault());
  applySort();
  applyFilter();
}

function setUpCopy() {
  for (const text of document.querySelectorAll("pre[data-copy]")) {
    if (text.closest(".copyable")) continue;
    const frame = document.createElement("div");
    frame.className = "copyable";
    text.replaceWith(frame);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      button.textContent = (await copied(text)) ? "Copied" : "Select and copy by hand";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    frame.append(text, button);
  }
}

// Pages on a disk may have no clipboard: the older way works there.
async function copied(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return document.execCommand("copy");
  }
}

// Live: the server tells that something has changed, and this page takes the new parts from a fresh copy of itself.
const listed = () => new Set([...document.querySelectorAll("#findings tbody a")].map((link) => link.getAttribute("href")));

// Parts of the page as the server sent them: what this script has added is no difference.
const delivered = new Map([...document.querySelectorAll("#main [id]")].filter((part) => part.matches("section, nav, #notes"))
  .map((part) => [part.id, part.innerHTML]));

// Tells an element of the page from the others of its kind, also in a fresh copy.
function nameOf(element) {
  if (!element) return "";
  const heading = element.closest("th");
  const place = element.closest("section");
  return element.id || element.dataset.column || (heading && `heading ${heading.dataset.column}`) ||
    (place && element.hasAttribute("href") && `${place.id} ${element.getAttribute("href")}`) || "";
}

async function refresh(what) {
  const answer = await fetch(location.href, { cache: "no-store" }).catch(() => null);
  if (!answer || !answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const before = listed();
  const values = new Map([...document.querySelectorAll("#controls input, #controls select")]
    .map((field) => [field.id || field.dataset.column, field.type === "checkbox" ? field.checked : field.value]));
  const focused = nameOf(document.activeElement);
  const opened = new Set([...document.querySelectorAll("#main details[open] > summary")].map((one) => one.textContent));
  const names = what === "curves" ? ["tiles", ...[...document.querySelectorAll("[data-fresh]")].map((part) => part.id)]
    : ["notes", "tiles", "first", "all", "crumbs", "finding"];
  let changed = false;
  for (const name of names) {
    const [old, now] = [document.getElementById(name), fresh.getElementById(name)];
    if (!now || (old && delivered.get(name) === now.innerHTML)) continue;
    delivered.set(name, now.innerHTML);
    if (old) old.replaceWith(now); else document.getElementById("main").append(now);
    changed = true;
  }
  if (!changed) return;
  const title = fresh.querySelector("h1");
  if (what === "findings" && title) { document.querySelector("h1").textContent = title.textContent; document.title = fresh.title; }
  for (const field of document.querySelectorAll("#controls input, #controls select")) {
    const value = values.get(field.id || field.dataset.column);
    if (value === undefined) continue;
    if (field.type === "checkbox") field.checked = value; else field.value = value;
  }
  for (const summary of document.querySelectorAll("#main details > summary")) {
    if (opened.has(summary.textContent)) summary.parentElement.open = true;
  }
  if (!document.querySelector("#findings th button")) setUpTable();
  setUpCopy();
  const again = focused && [...document.querySelectorAll("#main input, #main select, #main a, #main th button")]
    .find((element) => nameOf(element) === focused);
  if (again && again !== document.activeElement) again.focus({ preventScroll: true });
  const news = [...document.querySelectorAll("#findings tbody a")].filter((link) => !before.has(link.getAttribute("href")));
  for (const link of news) link.closest("tr").classList.add("fresh");
  if (what === "findings" && before.size > 0 && news.length > 0) {
    document.getElementById("news").textContent =
      news.length === 1 ? `New: ${news[0].textContent}` : `${news.length} new findings`;
  }
}

function setUpEvents() {
  const address = document.body.dataset.events;
  if (!address) return;
  // Browsers allow six connections to a server: pages that nobody looks at hold none.
  let source = null;
  const all = async () => { await refresh("findings"); await refresh("curves"); };
  // What happened while nobody could tell this page: before it was connected, and while the connection was gone.
  const connect = () => {
    source = new EventSource(address);
    source.addEventListener("open", () => { document.getElementById("condition").classList.remove("lost"); all(); });
    source.addEventListener("error", () => { document.getElementById("condition").classList.add("lost"); });
    source.addEventListener("numbers", (event) => {
      const numbers = JSON.parse(event.data);
      for (const element of document.querySelectorAll("[data-n]")) {
        const value = numbers[element.dataset.n];
        if (value !== undefined && element.textContent !== value) element.textContent = value;
      }
      document.getElementById("condition").classList.toggle("running", numbers.running === "true");
    });
    source.addEventListener("findings", () => refresh("findings"));
    source.addEventListener("curves", () => refresh("curves"));
  };
  const leave = () => { if (source) source.close(); source = null; };
  const look = () => { if (document.hidden) leave(); else if (!source) connect(); };
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", leave);
  addEventListener("pageshow", look);
  look();
}

setUpTable();
setUpCopy();
setUpEvents();
