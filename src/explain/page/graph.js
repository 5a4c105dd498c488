/* The graph: what is unfolded, drawn; folding, selecting, panning, zooming, keys. */
const view = {x: 0, y: 0, scale: 1};
let selected = null, shown = [], world;
const svg = () => byId("graph");

/* The colours of the axes in the share that each has. */
function tint(n) {
  let out = null, weight = 0;
  axes.forEach((_, a) => {
    const part = n.argument !== undefined || n.op ? (share(n, a) > 0 ? 1 : 0) : share(n, a);
    if (part <= 0) return;
    weight += part;
    const colour = `var(--${axisClass(a)})`;
    out = out ? `color-mix(in srgb, ${colour} ${Math.round(100 * part / weight)}%, ${out})` : colour;
  });
  return out ? `color-mix(in srgb, ${out} ${Math.round(8 + 14 * Math.min(1, weight))}%, var(--paper))` : "var(--paper)";
}

function nodeWords(n) {
  const what = [nodeLabel(n) + (n.about ? `, ${n.about}` : "")];
  if (isFolded(n)) what.push(count(n.ops, "op"), n.open ? "unfolded" : "folded");
  if (n.op) {
    const v = valueAt([RESULT, n.op, 0]), {cells} = dimCells(v);
    if (cells.length) what.push(cells.map(c => c[0]).join(" by "));
    if (opPlace(n.op)) what.push(shortFile(opPlace(n.op)));
  }
  if (n.collectives) what.push(`${count(n.collectives, "collective")}, ${bytes(n.sends)} sent`);
  return what.join("; ");
}

function drawCells(g, n, x, y) {
  const {cells, element} = dimCells(n.argument === undefined ? valueAt([RESULT, n.op, 0])
                                                              : valueAt([INSIDE, D.main, n.argument]));
  for (const [label, axis] of cells) {
    const w = label.length * 6 + 5;
    if (axis) g.append(s("rect", {x: x - 2, y: y - 10, width: w, height: 13, rx: 2, class: `cell ${axis}`}));
    g.append(s("text", {x, y, class: "shape"}, label));
    x += w + 2;
  }
  g.append(s("text", {x: x + 1, y, class: "shape quiet"}, element));
}

/* A column for each axis, as full as the share of the bytes that is cut along it. */
function drawShares(g, n, top, height) {
  axes.forEach((_, a) => {
    const part = Math.min(1, share(n, a)) * height;
    g.append(s("rect", {x: 3 + a * 5, y: top, width: 4, height, class: "share"}));
    if (part > 0) g.append(s("rect", {x: 3 + a * 5, y: top + height - part, width: 4, height: part, class: `fill ${axisClass(a)}`}));
  });
}

function drawNode(n) {
  const folds = isFolded(n), open = n.open && folds;
  const g = s("g", {class: `node${open ? " open" : ""}${folds ? " folds" : ""}${n === selected ? " selected" : ""}${n.changed ? " changed" : ""}`,
                    transform: `translate(${n.left},${n.top})`, role: "button", tabindex: n === focusNode() ? 0 : -1,
                    "aria-label": nodeWords(n), "aria-expanded": folds ? String(open) : null, "data-id": n.id});
  g.append(s("rect", {width: n.w, height: n.h, rx: open ? 6 : 4, class: "box", style: open ? null : `fill:${tint(n)}`}));
  if (!open && n.bytes) drawShares(g, n, 4, n.h - 8);
  const x = open ? 10 : 10 + axes.length * 5;
  g.append(s("text", {x, y: 17, class: "name"}, `${folds ? (open ? "\u25be " : "\u25b8 ") : ""}${cropped(nodeLabel(n))}`,
             n.about ? s("tspan", {class: "about", dx: 6}, n.about) : null));
  if (!open && n.sends)
    g.append(s("text", {x: n.w - 7, y: 17, class: "sends"}, `\u21c4 ${bytes(n.sends)}`));
  if (!open && folds) g.append(s("text", {x, y: 33, class: "shape quiet"}, groupWords(n)));
  else if (!open) drawCells(g, n, x, 33);
  return g;
}
function edgePath(a, b) {
  const x1 = a.left + a.w / 2, y1 = a.top + a.h, x2 = b.left + b.w / 2, y2 = b.top;
  const points = [[x1, y1], ...bendsOf(a, b), [x2, y2]];
  let d = `M${x1},${y1}`;
  for (let i = 1; i < points.length; i++) {
    const [px, py] = points[i - 1], [x, y] = points[i], mid = Math.max(8, Math.abs(y - py) / 2);
    d += `C${px},${py + mid} ${x},${y - mid} ${x},${y}`;
  }
  return d;
}

/* Where the edge between those of their ancestors that have one parent passes. */
function bendsOf(from, to) {
  const [a, b] = siblings(from, to), common = a.parent;
  const way = common && common.routes && common.routes.get(a.id * nodes.length + b.id);
  return way ? way.map(x => [common.left + x.x, common.top + x.y]) : [];
}

function drawEdges(g) {
  const seen = new Map(), of = selected && visible(selected);
  for (const [from, to] of links) {
    const a = visible(from), b = visible(to);
    if (a === b || siblings(a, b)[0] === siblings(a, b)[1]) continue;
    const near = of && (a === of || b === of);
    if (a.isArguments && !near) continue;
    const key = a.id * nodes.length + b.id;
    seen.set(key, {a, b, near});
  }
  const late = [];
  for (const {a, b, near} of seen.values()) {
    const back = b.top < a.top + a.h;
    const e = s("path", {d: edgePath(a, b), class: `edge${near ? " near" : ""}${back ? " back" : ""}`});
    if (near) late.push(e);
    else g.append(e);
  }
  return late;
}

/* Constants are in the outline only. */
const inGraph = n => { for (let at = n; at; at = at.parent) if (!isDrawn(at)) return false; return true; };
function focusNode() { return selected && inGraph(selected) ? visible(selected) : shown[0]; }

function draw() {
  placeAll();
  shown = [];
  const walk = n => {
    if (n !== root) shown.push(n);
    if (n.open) n.children.filter(isDrawn).forEach(walk);
  };
  walk(root);
  const boxes = s("g"), edges = s("g"), over = s("g");
  for (const n of shown) if (n.open && isFolded(n)) boxes.append(drawNode(n));
  const late = drawEdges(edges);
  for (const n of shown) if (!(n.open && isFolded(n))) over.append(drawNode(n));
  over.append(...late);
  const had = document.activeElement && document.activeElement.closest && document.activeElement.closest("#graph .node");
  world = s("g", {class: "world"}, boxes, edges, over);
  svg().replaceChildren(world);
  transform();
  if (had) focusOn(focusNode());
  byId("graph-note").textContent =
    `${count(shown.length, "node")} of ${NUM_OPS.toLocaleString("en")} ops drawn. Edges of arguments show when one end is selected.`;
}

function transform() {
  world.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.scale})`);
}

/* ---- moving about ---- */

function fit() {
  const box = svg().getBoundingClientRect();
  if (!box.width) return;
  const wide = box.width / (root.w + 20), high = box.height / (root.h + 20);
  view.scale = Math.max(0.45, Math.min(1, wide, Math.max(high, 0.7)));
  view.x = Math.max(10, (box.width - root.w * view.scale) / 2);
  if (root.w * view.scale > box.width - 20) view.x = (box.width - root.w * view.scale) / 2;
  view.y = 4;
  transform();
}

function zoom(by, at) {
  const box = svg().getBoundingClientRect(), x = at ? at[0] - box.left : box.width / 2, y = at ? at[1] - box.top : box.height / 2;
  const scale = Math.max(0.05, Math.min(3, view.scale * by));
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  transform();
}

function bringIn(n) {
  const box = svg().getBoundingClientRect(), at = visible(n);
  if (!inGraph(n)) return;
  const x = view.x + at.left * view.scale, y = view.y + at.top * view.scale;
  const w = Math.min(at.w * view.scale, box.width - 20), high = Math.min(at.h * view.scale, box.height - 20);
  if (x < 0 || x + w > box.width) view.x += box.width / 2 - (x + w / 2);
  if (y < 0 || y + high > box.height) view.y += Math.min(box.height / 2, box.height / 3 + high / 2) - (y + high / 2);
  transform();
}

function focusOn(n) {
  const e = n && svg().querySelector(`[data-id="${n.id}"]`);
  if (e) e.focus({preventScroll: true});
}

function toggle(n, open) {
  if (!isFolded(n) || n === root) return;
  const x = n.left, y = n.top;
  n.open = open === undefined ? !n.open : open;
  redraw();
  view.x += (x - n.left) * view.scale; /* it stays where it is */
  view.y += (y - n.top) * view.scale;
  transform();
}

function redraw() {
  draw();
  drawTree();
}

function select(n, keep) {
  selected = n;
  reveal(n);
  redraw();
  if (!keep) bringIn(n);
  showDetail();
}
const selectOp = op => { if (nodeOf[op]) select(nodeOf[op]); };

const nodeAt = target => {
  const e = target.closest && target.closest(".node");
  return e ? nodes[+e.dataset.id] : null;
};

/* Down and up along the data, left and right in a row. */
function step(n, key) {
  if (key === "ArrowDown" || key === "ArrowUp") {
    const down = key === "ArrowDown", near = [];
    for (const [from, to] of links) {
      const a = visible(from), b = visible(to);
      if (a !== b && (down ? a : b) === n && !(down ? b : a).isArguments) near.push(down ? b : a);
    }
    near.sort((a, b) => Math.abs(a.top - n.top) - Math.abs(b.top - n.top) || a.left - b.left);
    return near[0];
  }
  const row = shown.filter(x => x.parent === n.parent && Math.abs(x.top + x.h / 2 - n.top - n.h / 2) < 20)
    .sort((a, b) => a.left - b.left);
  return row[row.indexOf(n) + (key === "ArrowRight" ? 1 : -1)];
}

function graphKey(e) {
  const n = nodeAt(e.target);
  if (!n || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "Enter" || e.key === " ") select(n, true);
  else if (e.key === "+" || e.key === "=") toggle(n, true), focusOn(n);
  else if (e.key === "-") toggle(n, false), focusOn(n);
  else if (e.key.startsWith("Arrow")) {
    const to = step(n, e.key);
    if (to) select(to), focusOn(to);
  } else return;
  e.preventDefault();
}

function watchGraph() {
  let from = null, moved = false;
  const g = svg();
  g.addEventListener("pointerdown", e => { from = [e.clientX - view.x, e.clientY - view.y]; moved = false; });
  g.addEventListener("pointermove", e => {
    if (!from || !(e.buttons & 1)) return;
    const x = e.clientX - from[0], y = e.clientY - from[1];
    if (Math.abs(x - view.x) + Math.abs(y - view.y) > 3) moved = true;
    if (moved) view.x = x, view.y = y, transform();
  });
  g.addEventListener("click", e => {
    from = null;
    const n = moved ? null : nodeAt(e.target);
    if (!n) return;
    if (isFolded(n)) selected = n, toggle(n), showDetail();
    else select(n, true);
  });
  g.addEventListener("wheel", e => {
    e.preventDefault();
    if (e.ctrlKey || e.metaKey) zoom(Math.exp(-e.deltaY / 200), [e.clientX, e.clientY]);
    else view.x -= e.deltaX, view.y -= e.deltaY, transform();
  }, {passive: false});
  g.addEventListener("keydown", graphKey);
}
