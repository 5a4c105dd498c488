/* What the report knows, and how to ask for it. A place of a value is [at, op, index], with `at` as
   in partition/why.h: 1 a result, 2 an argument of the op's regions, 3 returned by a function. */
const D = JSON.parse(document.getElementById("data").textContent);
const RESULT = 1, INSIDE = 2, RETURNED = 3;
const text = n => D.texts[n];
const NUM_OPS = D.ops.name.length;

const opName = op => text(D.ops.name[op]);
/* "stablehlo.dot_general" as people call it. */
const shortName = op => opName(op).replace(/^(stablehlo|func|chlo|mhlo)\./, "");
const opPath = op => text(D.ops.what[op]);
const opPlace = op => D.ops.file[op] ? `${text(D.ops.file[op])}:${D.ops.line[op]}` : "";

/* Of each op: where its operands and its values begin. */
const firstUse = new Uint32Array(NUM_OPS + 1);
for (let i = 0; i < NUM_OPS; i++) firstUse[i + 1] = firstUse[i] + D.ops.uses[i];
const valuesOf = new Map();
D.values.op.forEach((op, i) => {
  if (!valuesOf.has(op)) valuesOf.set(op, []);
  valuesOf.get(op)[D.values.index[i]] = i;
});

const MAX_AXES = 8; /* colours that there are */
const axes = [];
for (const m of D.meshes)
  for (const [name, size] of m.axes)
    if (!axes.some(a => a.name === text(name))) axes.push({name: text(name), size, number: axes.length});
const axisNumber = new Map(axes.map(a => [a.name, a.number]));
const axisClass = n => `axis-${n % MAX_AXES}`;

/* Without the mesh where there is only one. */
const shortSharding = said => D.meshes.length < 2 ? said.replace(/^#sdy\.sharding<@[^,]*, (.*)>$/, "$1") : said.replace(/^#sdy\.sharding/, "");

/* '#sdy.sharding<@mesh, [{"data"}, {"x":(1)2, ?}], replicated={"y"}>': the axes of each dimension. */
const shardings = new Map();
function readSharding(s) {
  if (shardings.has(s)) return shardings.get(s);
  const out = {dims: [], axes: new Set(), mesh: (/@([\w.-]+)/.exec(s) || [])[1]};
  const from = s.indexOf("["), to = s.indexOf("]", from);
  if (from >= 0)
    for (const dim of s.slice(from + 1, to).match(/\{[^}]*\}/g) || []) {
      const list = [];
      for (const m of dim.matchAll(/"([^"]*)"(?::\((\d+)\)(\d+))?/g)) {
        list.push({name: m[1], pre: +(m[2] || 1), size: +(m[3] || (axes[axisNumber.get(m[1])] || {}).size || 1),
                   part: !!m[2]});
        if (axisNumber.has(m[1])) out.axes.add(axisNumber.get(m[1]));
      }
      out.dims.push(list);
    }
  const sums = /unreduced=\{([^}]*)\}/.exec(s);
  out.unreduced = sums ? [...sums[1].matchAll(/"([^"]*)"/g)].map(m => m[1]) : [];
  shardings.set(s, out);
  return out;
}

/* 'tensor<8x16xf32>': its dimensions and its type of elements. */
function readType(s) {
  const m = /^tensor<((?:[0-9?]+x)*)(.*)>$/.exec(s);
  if (!m) return {dims: [], element: s};
  return {dims: m[1] ? m[1].slice(0, -1).split("x") : [], element: m[2].replace(/,.*/, "")};
}

function typeBytes(s) {
  const t = readType(s), bits = /^complex/.test(t.element) ? 2 * (/\d+/.exec(t.element) || [32])[0]
    : t.element === "i1" ? 8 : +(/(\d+)/.exec(t.element) || [0, 32])[1];
  return t.dims.reduce((p, d) => p * (+d || 1), 1) * Math.max(1, bits / 8);
}

/* The type and shardings of a value, as far as they are known. */
function valueAt([at, op, index]) {
  const border = op === D.main && at !== RESULT ? (at === RETURNED ? D.results : D.arguments)[index] : null;
  if (border)
    return {type: text(border.type), before: text(border.before), after: text(border.after), border};
  const v = at === RESULT && valuesOf.has(op) ? valuesOf.get(op)[index] : undefined;
  const before = at === RESULT ? text(D.ops.says[op]) : "";
  if (v === undefined) return {type: "", before, after: before};
  return {type: text(D.values.type[v]), before, after: text(D.values.sharding[v]), bytes: D.values.bytes[v]};
}

let when = "after";
const shardingNow = v => readSharding(when === "after" ? v.after : v.before);

function operandsOf(op) {
  const list = [];
  for (let i = firstUse[op]; i < firstUse[op + 1]; i++)
    list.push([D.uses.at[i], D.uses.op[i], D.uses.index[i]]);
  return list;
}

/* What a place is called. */
function placeName([at, op, index]) {
  if (!at) return "a value that partitioning made";
  if (op === D.main && at === INSIDE) return text(D.arguments[index].name) || `argument ${index}`;
  if (op === D.main && at === RETURNED) return `result ${text(D.results[index].name) || index}`;
  const what = shortName(op) + (opPlace(op) ? ` at ${shortFile(opPlace(op))}` : "");
  return at === RESULT && !index ? what : `${at === RESULT ? "result" : "argument"} ${index} of ${what}`;
}
const shortFile = s => s.replace(/^.*\//, "");

/* Which collectives serve an op. */
const collectivesOf = new Map();
D.collectives.forEach((c, i) => {
  c.number = i + 1;
  c.sent = c.bytes * c.times;
  for (const op of new Set(c.parts.map(p => p.op))) {
    if (!collectivesOf.has(op)) collectivesOf.set(op, []);
    collectivesOf.get(op).push(c);
  }
});

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
function bytes(n) {
  let u = 0;
  while (n >= 1024 && u + 1 < UNITS.length) n /= 1024, u++;
  return `${u ? n.toFixed(1) : n} ${UNITS[u]}`;
}
function seconds(s) {
  const [scale, unit] = s >= 1 ? [1, "s"] : s >= 1e-3 ? [1e3, "ms"] : s >= 1e-6 ? [1e6, "\u00b5s"] : [1e9, "ns"];
  return `${+(s * scale).toPrecision(3)} ${unit}`;
}
const count = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many || one + "s"}`;

/* Makes an element: h("p", {class: "a"}, "text", child). Handlers are named as in onclick. */
function make(node, attributes, children) {
  for (const [k, v] of Object.entries(attributes || {})) {
    if (k.startsWith("on")) node.addEventListener(k.slice(2), v);
    else if (v === true) node.setAttribute(k, "");
    else if (v !== false && v != null) node.setAttribute(k, v);
  }
  node.append(...children.flat(Infinity).filter(c => c != null && c !== false));
  return node;
}
const h = (name, attributes, ...children) => make(document.createElement(name), attributes, children);
const SVG = "http://www.w3.org/2000/svg";
const s = (name, attributes, ...children) => make(document.createElementNS(SVG, name), attributes, children);
const byId = id => document.getElementById(id);
