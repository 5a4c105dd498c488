/* Where nodes stand: in each open node its children in rows, each below what it takes data from, in
   an order that crosses few edges; edges over several rows pass between the nodes of those. */
const CHAR = 6.7, GAP_X = 18, GAP_Y = 30, PAD = 14, HEAD = 24, ROW = 14, MOST_BENDS = 1500;

/* Op to op, as [from, to] nodes; and for each node the pairs of its children. */
let links = [];
function addLink(from, to) {
  if (!from || !to || from === to) return;
  links.push([from, to]);
  const [a, b] = siblings(from, to);
  if (a === b) return;
  if (!a.parent.pairs) a.parent.pairs = new Map();
  a.parent.pairs.set(a.id * nodes.length + b.id, [a, b]);
}

/* What the two are inside of, or they themselves, that has one parent; the same where one is inside
   of the other. */
function siblings(a, b) {
  while (a.depth > b.depth) a = a.parent;
  while (b.depth > a.depth) b = b.parent;
  while (a !== b && a.parent !== b.parent) a = a.parent, b = b.parent;
  return [a, b];
}

function buildLinks() {
  links = [];
  for (let op = 1; op < NUM_OPS; op++) {
    const to = nodeOf[op];
    if (!to || QUIET.has(opName(op))) continue;
    if (calledOnce.has(op)) continue; /* its function's ops have its operands */
    for (const place of operandsOf(op)) {
      const [at, from, index] = origin(place);
      if (at === RESULT && !isConstant(from)) addLink(nodeOf[from], to);
      else if (at === INSIDE && from === D.main) addLink(argumentNodes[index], to);
    }
  }
}

const isDrawn = n => !n.aside;

/* The boxes of a type's dimensions: [text, axis class or ""]. */
function dimCells(v) {
  const type = readType(v.type), cut = shardingNow(v);
  const cells = type.dims.map((d, i) => {
    const list = cut.dims[i] || [];
    return list.length ? [`${d}/${list.map(a => a.name).join(",")}`, axisClass(axisNumber.get(list[0].name) || 0)]
                       : [d, ""];
  });
  return {cells, element: type.element};
}

const LABEL = 34; /* characters shown */
const cropped = label => label.length > LABEL ? label.slice(0, LABEL - 1) + "\u2026" : label;

const groupWords = n => n.isArguments ? count(leaves(n), "argument")
  : count(n.ops, "op") + (n.collectives ? `, ${count(n.collectives, "collective")}` : "");
const leaves = n => n.children.length ? n.children.reduce((sum, c) => sum + leaves(c), 0) : 1;

function sizeOf(n) {
  let chars = cropped(nodeLabel(n)).length + (n.about ? n.about.length + 2 : 0) + (n.sends ? 10 : 0);
  if (n.op && !isFolded(n)) {
    const v = dimCells(valueAt([RESULT, n.op, 0]));
    chars = Math.max(chars, v.cells.reduce((sum, c) => sum + c[0].length + 1, 0) + v.element.length + 1);
  }
  else chars = Math.max(chars, groupWords(n).length);
  n.w = Math.max(104, chars * CHAR + 26 + axes.length * 5);
  n.h = 42;
}

function layoutNode(n) {
  if (n.open && isFolded(n)) layoutOpen(n);
  else sizeOf(n);
}

/* Rows by longest paths; what needs nothing stands just above what needs it. */
function rowsOf(kids, pairs) {
  const order = new Map(kids.map((k, i) => [k, i])), rank = kids.map(() => 0);
  const before = kids.map(() => []), after = kids.map(() => []);
  for (const [a, b] of pairs) {
    const i = order.get(a), k = order.get(b);
    if (i === undefined || k === undefined || i >= k) continue;
    before[k].push(i);
    after[i].push(k);
  }
  kids.forEach((_, k) => { for (const i of before[k]) rank[k] = Math.max(rank[k], rank[i] + 1); });
  for (let k = kids.length - 1; k >= 0; k--)
    if (!before[k].length && after[k].length) rank[k] = Math.min(...after[k].map(i => rank[i])) - 1;
  const least = Math.min(...rank, 0), rows = [];
  rank.forEach((r, k) => { (rows[r - least] = rows[r - least] || []).push(kids[k]); });
  const out = [];
  for (const row of rows.filter(Boolean))
    for (let i = 0; i < row.length; i += ROW) out.push(row.slice(i, i + ROW));
  return out;
}

/* The nodes and, on the way of each long edge, a bend in each row. */
function itemsOf(rows, pairs) {
  const at = new Map(), items = rows.map((row, r) => row.map(n => {
    const item = {n, w: n.w, h: n.h, row: r, x: 0, up: [], down: []};
    at.set(n, item);
    return item;
  }));
  let bends = 0;
  const routes = new Map();
  const joined = (a, b) => { a.down.push(b); b.up.push(a); };
  for (const [a, b] of pairs) {
    const from = at.get(a), to = at.get(b);
    if (!from || !to || to.row <= from.row) continue;
    let last = from;
    const way = [];
    if (bends + to.row - from.row < MOST_BENDS)
      for (let r = from.row + 1; r < to.row; r++, bends++) {
        const bend = {w: 6, h: 0, row: r, x: 0, up: [], down: [], bend: true};
        items[r].push(bend);
        way.push(bend);
        joined(last, bend);
        last = bend;
      }
    if (way.length || to.row === from.row + 1) joined(last, to);
    if (way.length) routes.set(a.id * nodes.length + b.id, way);
  }
  return {items, routes};
}

/* Down the rows and up again, so many times in all: each item wishes to be in the middle of those
   it is joined with in the row before; `then` does the row. */
function sweep(items, times, where, then) {
  for (let i = 0; i < times; i++) {
    const down = i % 2 === 0;
    for (const row of down ? items : [...items].reverse()) {
      for (const x of row) {
        const near = down ? x.up : x.down;
        x.wish = near.length ? near.reduce((sum, y) => sum + where(y), 0) / near.length : where(x);
      }
      then(row);
    }
  }
}

function orderRows(items) {
  const number = row => row.forEach((x, i) => { x.place = (i + 0.5) / row.length; });
  items.forEach(number);
  sweep(items, 6, x => x.place, row => {
    row.sort((a, b) => a.wish - b.wish);
    number(row);
  });
}

/* Places nearest to what each wishes, in their order and apart (pooling of neighbours). */
function settle(row) {
  const blocks = [];
  let offset = 0;
  for (const x of row) {
    x.offset = offset + x.w / 2;
    offset += x.w + (x.bend ? 8 : GAP_X);
    blocks.push({sum: (x.wish - x.offset) * (x.bend ? 3 : 1), weight: x.bend ? 3 : 1, items: [x]});
    while (blocks.length > 1) {
      const b = blocks[blocks.length - 1], a = blocks[blocks.length - 2];
      if (a.sum / a.weight <= b.sum / b.weight) break;
      a.sum += b.sum;
      a.weight += b.weight;
      a.items.push(...b.items);
      blocks.pop();
    }
  }
  for (const b of blocks) for (const x of b.items) x.x = b.sum / b.weight + x.offset;
}

function placeRows(items) {
  for (const row of items) {
    const width = row.reduce((sum, x) => sum + x.w + GAP_X, 0);
    let at = -width / 2;
    for (const x of row) x.x = at + x.w / 2, at += x.w + GAP_X;
  }
  sweep(items, 8, x => x.x, settle);
}

function layoutOpen(n) {
  const kids = n.children.filter(isDrawn), pairs = n.pairs ? [...n.pairs.values()] : [];
  kids.forEach(layoutNode);
  const inputs = kids.filter(k => k.isArguments), rest = kids.filter(k => !k.isArguments && !k.isFunctions);
  const rows = rowsOf(rest, pairs.filter(([a]) => !a.isArguments));
  for (let i = inputs.length; i > 0; i -= 6) rows.unshift(inputs.slice(Math.max(0, i - 6), i));
  rows.push(...kids.filter(k => k.isFunctions).map(k => [k]));
  const {items, routes} = itemsOf(rows, pairs.filter(([a, b]) => !a.isArguments && !b.isArguments));
  orderRows(items);
  placeRows(items);
  let left = Infinity, right = -Infinity, y = HEAD + PAD;
  for (const row of items) for (const x of row)
    left = Math.min(left, x.x - x.w / 2), right = Math.max(right, x.x + x.w / 2);
  if (!items.length) left = right = 0;
  for (const row of items) {
    const height = Math.max(...row.map(x => x.h));
    for (const x of row) {
      x.x -= left - PAD;
      x.y = y + height / 2;
      if (x.n) x.n.x = x.x - x.w / 2, x.n.y = y + (height - x.h) / 2;
    }
    y += height + GAP_Y;
  }
  n.routes = routes;
  const title = nodeLabel(n).length * CHAR + 40;
  n.w = Math.max(right - left + 2 * PAD, title);
  n.h = y - GAP_Y + PAD + (items.length ? 0 : GAP_Y);
}

function placeAll() {
  layoutNode(root);
  const walk = (n, x, y) => {
    n.left = x;
    n.top = y;
    if (n.open) for (const c of n.children) if (isDrawn(c)) walk(c, x + c.x, y + c.y);
  };
  walk(root, 0, 0);
}
