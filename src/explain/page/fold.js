/* The program as a tree that folds. A node is a group of ops, or one op:
   {id, op (0: a group), label, about, parent, children, ops: how many, first: the first op,
    open, axes: of each axis the bytes cut along it, bytes, sends, collectives}. */
const MOST = 60;    /* children of one node; more are folded by lines of the source */
const ALIKE = 9;    /* children called x0, x1, ... that become one group */
const INNER = new Set(["stablehlo.while", "stablehlo.case", "stablehlo.if", "sdy.manual_computation",
                       "sdy.named_computation", "func.func", "stablehlo.composite"]);
const QUIET = new Set(["sdy.mesh", "stablehlo.return", "func.return", "sdy.return"]);

let root, nodeOf; /* nodeOf[op]: the op's node, or that of the op that it is inside */
let nodes = [];

function addNode(parent, label, op) {
  const n = {id: nodes.length, op: op || 0, label, about: "", parent, children: [], ops: 0, first: Infinity, depth: 0,
             open: false, bytes: 0, sends: 0, collectives: 0};
  nodes.push(n);
  if (parent) parent.children.push(n);
  return n;
}

/* What stands before the op's own name in its path, without the names that all share. */
function scopesOf(op, by, strip) {
  const path = by === "scope" ? opPath(op) : text(D.ops.frames[op]);
  if (!path) return [];
  const list = by === "scope" ? splitPath(path).slice(0, -1) : path.split("/");
  return list.slice(strip);
}

/* At slashes outside of parentheses: 'transpose(jvp(a/b))/mul' has two pieces. */
function splitPath(path) {
  const out = [];
  let depth = 0, from = 0;
  for (let i = 0; i < path.length; i++) {
    if (path[i] === "(") depth++;
    else if (path[i] === ")") depth--;
    else if (path[i] === "/" && depth <= 0) out.push(path.slice(from, i)), from = i + 1;
  }
  out.push(path.slice(from));
  return out;
}

/* "transpose(jvp(layer3))": what JAX made of the scope layer3. */
function scopeLabel(scope) {
  const m = /^transpose\(jvp\((.+)\)\)$/.exec(scope);
  if (m) return {label: m[1], about: "backward"};
  const f = /^jvp\((.+)\)$/.exec(scope);
  if (f) return {label: f[1], about: "forward"};
  const v = /^vmap\((.+)\)$/.exec(scope);
  return v ? {label: v[1], about: "vmap"} : {label: scope, about: ""};
}

const opsIn = new Map(); /* of a parent op: the ops in its regions */
for (let op = 1; op < NUM_OPS; op++) {
  const p = D.ops.parent[op];
  if (!opsIn.has(p)) opsIn.set(p, []);
  opsIn.get(p).push(op);
}

function addOps(parent, ops, by) {
  const paths = ops.map(op => scopesOf(op, by, 0));
  let strip = 0;
  const some = paths.filter(p => p.length);
  while (some.length && some.every(p => p.length > strip && p[strip] === some[0][strip])) strip++;
  const groups = new Map([["", parent]]);
  ops.forEach((op, i) => {
    const path = paths[i].slice(Math.min(strip, paths[i].length));
    let at = parent, key = "";
    for (const scope of path) {
      key += "/" + scope;
      if (!groups.has(key)) {
        const {label, about} = scopeLabel(scope);
        const g = addNode(at, label, 0);
        g.about = about;
        g.scope = scope;
        groups.set(key, g);
      }
      at = groups.get(key);
    }
    addOp(isConstant(op) ? constantsOf(at) : at, op, by);
  });
}

/* They have no place in the source's scopes, and nobody looks for them in a graph. */
const isConstant = op => opName(op) === "stablehlo.constant";
function constantsOf(n) {
  if (!n.constants) {
    n.constants = addNode(n, "constants", 0);
    n.constants.aside = true;
  }
  return n.constants;
}

function addOp(parent, op, by) {
  if (QUIET.has(opName(op))) { nodeOf[op] = parent; return; }
  const n = addNode(parent, shortName(op), op);
  n.first = op;
  mark(op, n);
  const body = calledOnce.get(op) || op;
  if (INNER.has(opName(body)) && opsIn.has(body)) addOps(n, opsIn.get(body), by);
  if (body !== op) nodeOf[body] = n;
}

/* A function that one call alone calls stands where it is called: call to function, and back. */
const functionNamed = new Map(), calledOnce = new Map(), callerOf = new Map(), returnOf = new Map();
for (let op = 1; op < NUM_OPS; op++) {
  if (opName(op) === "func.func") functionNamed.set(D.ops.symbol[op], op);
  if (opName(op) === "func.return") returnOf.set(D.ops.parent[op], op);
}
for (let op = 1; op < NUM_OPS; op++) {
  const f = opName(op) === "func.call" ? functionNamed.get(D.ops.symbol[op]) : undefined;
  if (f !== undefined && f !== D.main) callerOf.set(f, callerOf.has(f) ? 0 : op);
}
for (const [f, op] of callerOf) if (op && !isInside(op, f)) calledOnce.set(op, f);
function isInside(op, f) {
  for (let at = op, steps = 0; at && steps < 1000; steps++) {
    while (at && opName(at) !== "func.func") at = D.ops.parent[at];
    if (at === f) return true;
    at = callerOf.get(at);
  }
  return false;
}

/* Through calls that stand for their function: where a value really comes from. */
function origin(place, depth) {
  const [at, op, index] = place, f = at === RESULT ? calledOnce.get(op) : undefined;
  const call = at === INSIDE && op !== D.main && callerOf.get(op);
  if (depth > 32) return place;
  if (f && returnOf.has(f)) return origin(operandsOf(returnOf.get(f))[index] || place, (depth || 0) + 1);
  if (call && calledOnce.get(call) === op) return origin(operandsOf(call)[index] || place, (depth || 0) + 1);
  return place;
}

function mark(op, n) {
  nodeOf[op] = n;
  for (const inner of opsIn.get(op) || []) mark(inner, n);
}

/* A group whose only child is a group is one with it. */
function joinSingle(n) {
  n.children.forEach(joinSingle);
  while (!n.op && n.children.length === 1 && !n.children[0].op && isFolded(n.children[0]) && n.parent) {
    const c = n.children[0];
    n.label += " / " + c.label;
    n.about = n.about || c.about;
    n.children = c.children;
    n.children.forEach(x => { x.parent = n; });
  }
}

/* layer0 ... layer95 become one group. */
function joinAlike(n) {
  n.children.forEach(joinAlike);
  const kinds = new Map();
  for (const c of n.children) {
    const m = c.op ? null : /^(.*?)(\d+)(\D*)$/.exec(c.label);
    if (!m) continue;
    const key = `${m[1]}#${m[3]} ${c.about}`;
    if (!kinds.has(key)) kinds.set(key, []);
    kinds.get(key).push(c);
  }
  for (const [key, list] of kinds) {
    if (list.length < ALIKE || list.length === n.children.length) continue;
    const g = addNode(null, `${list[0].label} \u2026 ${list[list.length - 1].label}`, 0);
    g.about = list[0].about;
    g.alike = key;
    g.parent = n;
    g.children = list;
    n.children.splice(n.children.indexOf(list[0]), 0, g);
    n.children = n.children.filter(c => c.parent === n && !list.includes(c));
    list.forEach(c => { c.parent = g; });
  }
}

/* No node has more than MOST children, besides those that stand apart. */
function chunk(n) {
  n.children.forEach(chunk);
  const apart = n.children.filter(c => c.aside || c.isArguments && n === root || c.isFunctions);
  while (n.children.length - apart.length > MOST) {
    const list = n.children.filter(c => !apart.includes(c)), size = Math.max(MOST / 2, Math.ceil(list.length / MOST));
    n.children = [...apart];
    for (let i = 0; i < list.length; i += size) {
      const part = list.slice(i, i + size);
      const from = part[0], to = part[part.length - 1];
      const g = addNode(n, rangeLabel(from, to), 0);
      g.children = part;
      part.forEach(c => { c.parent = g; });
    }
  }
}

/* By lines of the source where they go up, else by what is first and last. */
function rangeLabel(from, to) {
  const a = from.op && opPlace(from.op), b = to.op && opPlace(to.op);
  return a && b && D.ops.file[from.op] === D.ops.file[to.op] && D.ops.line[from.op] < D.ops.line[to.op]
    ? `${shortFile(a)} \u2026 ${D.ops.line[to.op]}` : `${nodeLabel(from)} \u2026 ${nodeLabel(to)}`;
}

function addUp(n) {
  n.axes = new Float64Array(axes.length);
  n.axesBefore = new Float64Array(axes.length);
  n.depth = n.parent ? n.parent.depth + 1 : 0;
  if (n.argument !== undefined) {
    const v = valueAt([INSIDE, D.main, n.argument]);
    n.bytes = typeBytes(v.type);
    for (const a of readSharding(v.after).axes) n.axes[a] += n.bytes;
    for (const a of readSharding(v.before).axes) n.axesBefore[a] += n.bytes;
  }
  if (n.op) {
    n.ops = 1;
    for (const v of valuesOf.get(n.op) || []) {
      const size = D.values.bytes[v];
      n.bytes += size;
      for (const a of readSharding(text(D.values.sharding[v])).axes) n.axes[a] += size;
      if (D.ops.says[n.op]) for (const a of readSharding(text(D.ops.says[n.op])).axes) n.axesBefore[a] += size;
    }
  }
  for (const c of n.children) {
    addUp(c);
    n.ops += c.ops;
    n.first = Math.min(n.first, c.first);
    if (n.op || c.isArguments && n === root) continue;
    n.bytes += c.bytes;
    for (let a = 0; a < axes.length; a++) n.axes[a] += c.axes[a], n.axesBefore[a] += c.axesBefore[a];
  }
  n.children.sort((a, b) => a.first - b.first);
}

function addArguments() {
  if (!D.arguments.length) return;
  const g = addNode(root, "arguments", 0);
  g.first = 0;
  g.isArguments = true;
  const kinds = new Map();
  D.arguments.forEach((a, i) => {
    const name = text(a.name) || `argument ${i}`, first = (/^[^[.]+/.exec(name) || [name])[0];
    if (!kinds.has(first)) kinds.set(first, []);
    kinds.get(first).push([i, name]);
  });
  for (const [first, list] of kinds) {
    const at = list.length > 1 && kinds.size > 1 ? addNode(g, first, 0) : g;
    at.isArguments = true;
    for (const [i, name] of list) {
      const n = addNode(at, name, 0);
      n.argument = i;
      n.first = i / (D.arguments.length + 1);
      argumentNodes[i] = n;
    }
  }
}

/* A collective that serves several ops counts once in what they are inside of. */
function addCollectives() {
  for (const c of D.collectives)
    for (const p of c.parts)
      for (let at = nodeOf[p.op]; at && at.counted !== c.number; at = at.parent) {
        at.counted = c.number;
        at.collectives++;
        at.sends += c.sent;
      }
}

let argumentNodes = [];
function build(by) {
  nodes = [];
  nodeOf = [];
  argumentNodes = [];
  root = addNode(null, "program", 0);
  addArguments();
  addOps(root, opsIn.get(D.main) || [], by);
  const others = (opsIn.get(0) || []).filter(op => op !== D.main && opName(op) === "func.func" && opsIn.has(op) &&
    !calledOnce.has(callerOf.get(op)));
  if (others.length) {
    const g = addNode(root, "other functions", 0);
    g.isFunctions = true;
    for (const op of others) {
      const n = addNode(g, "@" + text(D.ops.symbol[op]), op);
      n.first = NUM_OPS + op;
      mark(op, n);
      addOps(n, opsIn.get(op), by);
    }
  }
  joinSingle(root);
  joinAlike(root);
  chunk(root);
  addUp(root);
  addCollectives();
  nodeOf[D.main] = root;
  root.open = true;
}

const isFolded = n => n.children.length > 0;
/* The node itself or the innermost one that is to be seen in its place. */
function visible(n) {
  let out = n;
  for (let at = n; at.parent; at = at.parent) if (!at.parent.open) out = at.parent;
  return out;
}
function reveal(n) {
  for (let at = n.parent; at; at = at.parent) at.open = true;
}
function nodeLabel(n) {
  if (n.op && n.op !== D.main && opName(n.op) === "func.call") return `call @${text(D.ops.symbol[n.op])}`;
  return n.label;
}
const share = (n, a) => {
  const of = when === "after" ? n.axes : n.axesBefore;
  return n.bytes ? of[a] / n.bytes : 0;
};
