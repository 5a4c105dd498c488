/* The page: its head, its tabs, the search, and what happens first. */
const TABS = [["program", "Program", null], ["collectives", "Collectives", drawCollectives], ["memory", "Memory", drawMemory],
              ["mesh", "Mesh", drawMesh], ["check", "Check", drawCheck], ["diff", "Difference", D.diff ? drawDiff : undefined]];
const drawn = new Set(["program"]);
let tab = "program";

function drawPanel(name) {
  const row = TABS.find(t => t[0] === name);
  if (drawn.has(name) || !row[2]) return;
  drawn.add(name);
  row[2](byId(`panel-${name}`));
}

function showTab(name, focus) {
  if (tab === name && !focus) return;
  tab = name;
  drawPanel(name);
  for (const [other] of TABS) {
    const button = byId(`tab-${other}`), panel = byId(`panel-${other}`);
    if (button) {
      button.setAttribute("aria-selected", String(other === name));
      button.tabIndex = other === name ? 0 : -1;
      if (other === name && focus) button.focus();
    }
    panel.hidden = other !== name;
  }
}

function makeTabs() {
  const list = TABS.filter(t => t[2] !== undefined);
  byId("tabs").append(...list.map(([name, label]) => h("button", {type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`,
    "aria-selected": String(name === tab), tabindex: name === tab ? 0 : -1, onclick: () => showTab(name)}, label,
    name === "collectives" || name === "check" ? h("span", {class: "count"}, String((name === "check" ? D.check : D.collectives).length)) : null)));
  byId("tabs").addEventListener("keydown", e => {
    const i = list.findIndex(t => t[0] === tab), n = list.length;
    const to = {ArrowRight: (i + 1) % n, ArrowLeft: (i + n - 1) % n, Home: 0, End: n - 1}[e.key];
    if (to === undefined) return;
    showTab(list[to][0], true);
    e.preventDefault();
  });
}

function makeHead() {
  const file = text(D.file), name = shortFile(file);
  document.title = `${name} \u2013 Terrazzo report`;
  byId("title").textContent = name;
  const shown = [["devices", D.mem.devices.toLocaleString("en")], ["ops", (NUM_OPS - 1).toLocaleString("en")], ["collectives", D.collectives.length.toLocaleString("en")],
                 ["sent by a device", bytes(D.bytes)], ["memory of a device", bytes(D.mem.total)]];
  if (D.comms) shown.push(["collectives take", seconds(D.comms.sum.seconds)]);
  byId("facts").append(...shown.map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v))));
  byId("legend").append(...axes.map((a, i) => h("span", {}, h("i", {class: `swatch ${axisClass(i)}`}), `${a.name} ${a.size}`)),
                        h("span", {class: "quiet"}, h("i", {class: "swatch"}), "whole on every device"));
  byId("foot").textContent = `Terrazzo report of ${file}`;
}

/* ---- search ---- */

const MOST_HITS = 40;
function find(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean), hits = [];
  let total = 0;
  const known = new Map(); /* texts that have the words, by number and word */
  const has = (n, w) => {
    const key = `${n} ${w}`;
    if (!known.has(key)) known.set(key, text(n).toLowerCase().includes(w));
    return known.get(key);
  };
  const sees = (list, more) => words.every(w => list.some(n => has(n, w)) || more.includes(w));
  D.arguments.forEach((a, i) => {
    if (!sees([a.name, a.type, a.before, a.after], `argument ${i}`)) return;
    if (++total <= MOST_HITS) hits.push([argumentNodes[i], placeName([INSIDE, D.main, i]), "argument"]);
  });
  for (let op = 1; op < NUM_OPS; op++) {
    const n = nodeOf[op];
    if (!n || n.op !== op) continue;
    const v = (valuesOf.get(op) || [])[0];
    const list = [D.ops.name[op], D.ops.what[op], D.ops.frames[op], D.ops.symbol[op]];
    if (v !== undefined) list.push(D.values.type[v], D.values.sharding[v]);
    if (!sees(list, D.ops.file[op] ? opPlace(op).toLowerCase() : "")) continue;
    if (++total <= MOST_HITS) hits.push([n, nodeLabel(n), opPath(op) || opPlace(op)]);
  }
  return {hits, total};
}

function closeHits() { byId("hits").hidden = true; }

function showHits() {
  const query = byId("query").value.trim(), box = byId("hits");
  if (!query) { closeHits(); byId("found").textContent = ""; return; }
  const {hits, total} = find(query);
  byId("found").textContent = total ? `${total.toLocaleString("en")} found` : "nothing found";
  box.hidden = !hits.length;
  box.replaceChildren(...hits.map(([n, label, about]) => h("div", {role: "listitem"}, h("button", {type: "button", class: "hit", onclick: () => {
    closeHits();
    showTab("program");
    select(n);
    focusOn(visible(n));
  }}, h("span", {}, label), h("small", {}, about)))));
}

function watchSearch() {
  const input = byId("query"), box = byId("hits");
  const buttons = () => [...box.querySelectorAll("button")];
  input.addEventListener("input", showHits);
  byId("search").addEventListener("submit", e => { e.preventDefault(); showHits(); if (buttons()[0]) buttons()[0].click(); });
  byId("search").addEventListener("keydown", e => {
    const list = buttons(), i = list.indexOf(document.activeElement);
    if (e.key === "Escape") closeHits(), input.focus();
    else if (e.key === "ArrowDown" && list[i + 1]) list[i + 1].focus();
    else if (e.key === "ArrowUp") (list[i - 1] || input).focus();
    else return;
    e.preventDefault();
  });
  document.addEventListener("click", e => { if (!byId("search").contains(e.target)) closeHits(); });
  document.addEventListener("keydown", e => {
    if (e.key !== "/" || /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    input.focus();
    e.preventDefault();
  });
}

/* ---- folding of everything ---- */

function unfoldLevel() {
  const list = [], walk = n => { if (n.open) n.children.forEach(walk); else if (isFolded(n)) list.push(n); };
  walk(root);
  let room = 1500 - shown.length; /* what is drawn stays readable and quick */
  for (const n of list.filter(x => !x.isArguments && !x.isFunctions && !x.aside))
    if ((room -= n.children.length) > 0) n.open = true;
  redraw();
  fit();
}

function foldAll() {
  for (const n of nodes) n.open = n === root;
  if (selected) selected = visible(selected);
  redraw();
  fit();
}

function rebuild(by) {
  const op = selected && selected.op, argument = selected && selected.argument;
  build(by);
  buildLinks();
  markChanges();
  selected = op && nodeOf[op] ? nodeOf[op] : argument !== undefined && selected ? argumentNodes[argument] : null;
  openFirst();
  if (selected) reveal(selected);
  redraw();
  fit();
  showDetail();
}

/* Where the program has one part, that is what is looked at. */
function openFirst() {
  let at = root;
  while (at) {
    const rest = at.children.filter(c => isFolded(c) && !c.isArguments && !c.isFunctions && isDrawn(c));
    if (at.children.filter(isDrawn).length - rest.length > 8 || rest.length !== 1) break;
    at = rest[0];
    at.open = true;
  }
}

function markChanges() {
  if (!D.diff) return;
  for (const r of D.diff.rows) {
    const n = r.of_first ? null : r.at.op ? nodeOf[r.at.id] : r.at.value === "argument" ? argumentNodes[r.at.index] : null;
    for (let at = n; at && at !== root; at = at.parent) at.changed = true;
  }
}

function start() {
  makeHead();
  makeTabs();
  if (axes.length === 0) byId("legend").hidden = true;
  for (const e of document.querySelectorAll("[name=when]")) e.addEventListener("change", () => { when = e.value; redraw(); showDetail(); });
  for (const e of document.querySelectorAll("[name=fold]")) e.addEventListener("change", () => rebuild(e.value));
  byId("unfold-all").addEventListener("click", unfoldLevel);
  byId("fold-all").addEventListener("click", foldAll);
  byId("zoom-in").addEventListener("click", () => zoom(1.25));
  byId("zoom-out").addEventListener("click", () => zoom(0.8));
  byId("zoom-fit").addEventListener("click", fit);
  watchGraph();
  watchTree();
  watchSearch();
  window.addEventListener("beforeprint", () => TABS.forEach(t => drawPanel(t[0])));
  rebuild("scope");
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

start();
