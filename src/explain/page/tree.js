/* The outline: the same nodes as a tree of rows, for keyboards and screen readers first. */
let treeRows = [];

function treeRow(n, level, position, of) {
  const folds = isFolded(n);
  return h("li", {role: "treeitem", class: `row${n === selected ? " selected" : ""}${n.changed ? " changed" : ""}`, tabindex: -1, "data-id": n.id,
                  "aria-level": level, "aria-posinset": position, "aria-setsize": of,
                  "aria-expanded": folds ? String(n.open) : null, "aria-selected": String(n === selected),
                  "aria-label": nodeWords(n), style: `--level:${level - 1}`},
           h("span", {class: "twist"}, folds ? (n.open ? "\u25be" : "\u25b8") : ""),
           h("span", {class: "bars"}, axes.map((_, a) => {
             const part = Math.round(100 * Math.min(1, share(n, a)));
             return h("i", {class: part ? axisClass(a) : "", style: `--part:${part}%`});
           })),
           h("span", {class: "label"}, nodeLabel(n), n.about ? h("em", {}, n.about) : null),
           h("span", {class: "num"}, n.sends ? `\u21c4 ${bytes(n.sends)}` : folds && !n.isArguments ? n.ops.toLocaleString("en") : ""));
}

function drawTree() {
  treeRows = [];
  const walk = (n, level) => {
    n.children.forEach((c, i) => {
      treeRows.push([c, treeRow(c, level, i + 1, n.children.length)]);
      if (c.open && isFolded(c)) walk(c, level + 1);
    });
  };
  walk(root, 1);
  const tree = byId("outline"), had = tree.contains(document.activeElement) ? document.activeElement.dataset.id : null;
  const top = tree.parentElement.scrollTop;
  tree.replaceChildren(...treeRows.map(r => r[1]));
  tree.parentElement.scrollTop = top;
  const now = treeRows.find(([n]) => had !== null ? n.id === +had : n === selected) || treeRows[0];
  if (!now) return;
  now[1].tabIndex = 0;
  if (had !== null) now[1].focus();
  const chosen = treeRows.find(([n]) => n === selected);
  if (chosen && had === null) keepInSight(tree.parentElement, chosen[1]);
}

function keepInSight(box, row) {
  const b = box.getBoundingClientRect(), r = row.getBoundingClientRect();
  if (r.top < b.top + 30) box.scrollTop -= b.top + 30 - r.top;
  else if (r.bottom > b.bottom) box.scrollTop += r.bottom - b.bottom + 8;
}

function focusRow(i) {
  const row = treeRows[i];
  if (!row) return;
  for (const [, e] of treeRows) e.tabIndex = -1;
  row[1].tabIndex = 0;
  row[1].focus();
}

function treeKey(e) {
  const row = e.target.closest(".row");
  if (!row || e.ctrlKey || e.metaKey || e.altKey) return;
  const i = treeRows.findIndex(r => r[1] === row), n = treeRows[i][0];
  if (e.key === "ArrowDown") focusRow(i + 1);
  else if (e.key === "ArrowUp") focusRow(i - 1);
  else if (e.key === "Home") focusRow(0);
  else if (e.key === "End") focusRow(treeRows.length - 1);
  else if (e.key === "ArrowRight") isFolded(n) && !n.open ? toggle(n, true) : focusRow(i + 1);
  else if (e.key === "ArrowLeft") {
    if (isFolded(n) && n.open) toggle(n, false);
    else if (n.parent !== root) focusRow(treeRows.findIndex(r => r[0] === n.parent));
  } else if (e.key === "Enter" || e.key === " ") select(n);
  else return;
  e.preventDefault();
}

function watchTree() {
  const tree = byId("outline");
  tree.addEventListener("keydown", treeKey);
  tree.addEventListener("focus", () => focusRow(Math.max(0, treeRows.findIndex(r => r[0] === selected))));
  tree.addEventListener("click", e => {
    const row = e.target.closest(".row");
    if (!row) return;
    const n = nodes[+row.dataset.id];
    if (e.target.closest(".twist")) toggle(n);
    else select(n);
  });
}
