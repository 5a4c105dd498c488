/* What is selected: its values, the mesh, and why its collectives are there. */
const opLink = op => h("button", {type: "button", class: "link", onclick: () => goTo(op)},
                       opName(op) === "func.call" ? `call @${text(D.ops.symbol[op])}` : shortName(op),
                       opPlace(op) ? h("span", {class: "place"}, shortFile(opPlace(op))) : null);

function placeLink(place) {
  const [at, op, index] = place;
  if (op === D.main && at === INSIDE && argumentNodes[index])
    return h("button", {type: "button", class: "link", onclick: () => { showTab("program"); select(argumentNodes[index]); }}, placeName(place));
  if (!at || op === D.main) return h("span", {}, placeName(place));
  return at === RESULT && !index ? opLink(op)
    : h("span", {}, `${at === RESULT ? "result" : "argument"} ${index} of `, opLink(op));
}

function goTo(op) {
  showTab("program");
  selectOp(op);
}

/* A type with the axes that cut each dimension. */
function typeCells(v) {
  const {cells, element} = dimCells(v);
  return h("span", {class: "type"}, cells.map(([d, axis]) => h("span", {class: `dim ${axis}`}, d)),
           h("span", {class: "element"}, element));
}

/* ---- the mesh ---- */

const meshNamed = name => D.meshes.find(m => text(m.name) === name) || D.meshes[0];

/* Which piece of a value each device holds, as [number of the piece, its place along each dimension]. */
function pieces(mesh, cut) {
  const sizes = mesh.axes.map(a => a[1]), names = mesh.axes.map(a => text(a[0]));
  const total = sizes.reduce((p, q) => p * q, 1), out = [];
  for (let d = 0; d < total; d++) {
    const at = {};
    for (let k = sizes.length - 1, rest = d; k >= 0; k--) at[names[k]] = rest % sizes[k], rest = Math.floor(rest / sizes[k]);
    let number = 0;
    const along = cut.dims.map(list => {
      let i = 0;
      for (const a of list) {
        const whole = sizes[names.indexOf(a.name)] || 1, part = Math.floor((at[a.name] || 0) / (whole / (a.pre * a.size))) % a.size;
        i = i * a.size + part;
      }
      number = number * list.reduce((p, a) => p * a.size, 1) + i;
      return i;
    });
    out.push({number, along});
  }
  return out;
}

function meshPicture(cut) {
  const mesh = cut ? meshNamed(cut.mesh) : D.meshes[0];
  if (!mesh || !mesh.axes.length) return null;
  const sizes = mesh.axes.map(a => a[1]), total = sizes.reduce((p, q) => p * q, 1);
  if (total > 4096) return h("p", {class: "note"}, `${total.toLocaleString("en")} devices: too many to draw`);
  const columns = sizes.length > 1 ? sizes[sizes.length - 1] : Math.min(total, 8), rows = Math.ceil(total / columns);
  const cell = Math.max(8, Math.min(44, Math.floor(300 / columns))), high = Math.max(8, Math.min(28, cell));
  const held = cut ? pieces(mesh, cut) : null, num = held ? Math.max(...held.map(p => p.number)) + 1 : total;
  const left = 44, top = 24;
  const g = s("svg", {class: "mesh", role: "img", viewBox: `0 0 ${left + columns * cell + 2} ${top + rows * high + 2}`,
                      width: left + columns * cell + 2, height: top + rows * high + 2,
                      "aria-label": held ? `${num} pieces on ${total} devices` : `${total} devices`});
  const names = mesh.axes.map(a => text(a[0]));
  if (sizes.length > 1) {
    g.append(s("text", {x: left, y: 14, class: "axis-name"}, `${names[names.length - 1]} \u2192`));
    g.append(s("text", {x: 0, y: top + 12, class: "axis-name"}, cropped(`${names.slice(0, -1).join(",")} \u2193`).slice(0, 9)));
  } else g.append(s("text", {x: left, y: 14, class: "axis-name"}, `${names[0]} \u2192`));
  for (let d = 0; d < total; d++) {
    const x = left + d % columns * cell, y = top + Math.floor(d / columns) * high;
    const words = held ? (num > 1 ? held[d].along.join(",") : "") : String(d);
    g.append(s("rect", {x: x + 0.5, y: y + 0.5, width: cell - 1, height: high - 1, rx: 2, class: "device",
                        style: held && num > 1 ? `fill:${pieceColour(held[d].number, num)}` : null},
               s("title", {}, held ? `device ${d}: piece ${held[d].along.join(",")}` : `device ${d}`)));
    if (words.length * 6 < cell && high > 11)
      g.append(s("text", {x: x + cell / 2, y: y + high / 2 + 3.5, class: "device-name"}, words));
  }
  return h("figure", {}, g, h("figcaption", {}, !held ? `${total} devices`
    : num === 1 ? `whole on each of ${total} devices`
    : `${num} pieces, each on ${count(Math.round(total / num), "device")}; in a cell the piece along each dimension`));
}
/* Steps of one ramp, so that they print and every eye can tell them. */
const pieceColour = (i, n) => `oklch(calc(var(--ramp-l) + ${(0.3 * i / Math.max(1, n - 1)).toFixed(3)}) 0.09 ${Math.round(250 - 170 * i / Math.max(1, n - 1))})`;

/* ---- why ---- */

/* An op between two values is named where it is neither of theirs. */
function chainList(x) {
  const shownSteps = x.steps.map(([at, op, index, by, edge, priority], i) => {
    const before = i ? x.steps[i - 1][1] : x.of[1], crossed = by && by !== op && by !== before;
    return h("li", {}, "from ", placeLink([at, op, index]),
      crossed ? [edge ? " through " : " across ", opLink(by)] : by ? null : " by a sharding group",
      priority ? `, priority ${priority}` : "");
  });
  if (x.skipped) shownSteps.splice(3, 0, h("li", {class: "skipped"}, `${count(x.skipped, "more step")}`));
  return shownSteps.length ? h("ol", {}, shownSteps) : null;
}

function causeItem(x) {
  const along = (x.from >= 0 ? `along dimension ${x.from} ` : "") +
    (x.to >= 0 && x.to !== x.from ? `${x.from >= 0 ? "is wanted " : "wanted "}along dimension ${x.to} ` : "");
  const says = text(x.says), by = x.by && x.by !== x.root[1] ? [" by ", opLink(x.by)] : [];
  return h("li", {}, h("b", {}, text(x.axis)), ` ${along}of `, placeLink(x.of), chainList(x),
    h("p", {class: "root"}, x.steps.length ? ["that is ", placeLink(x.root), ", "] : "", text(x.rooted), by,
      says ? [": ", h("code", {}, shortSharding(says))] : ""));
}

/* What differs in numbers of layers and arguments only is said once. */
function alikeParts(parts) {
  const groups = new Map();
  for (const p of parts) {
    const roots = p.axes.map(x => `${text(x.axis)} ${placeLink(x.root).textContent.replace(/\d+/g, "0")} ${text(x.says)}`);
    const key = [opName(p.op), opPlace(p.op), D.ops.column[p.op], p.because, ...roots].join("|");
    if (groups.has(key)) groups.get(key).more++;
    else groups.set(key, {part: p, more: 0});
  }
  return [...groups.values()];
}

function partBlock({part, more}) {
  return h("div", {class: "part"}, h("p", {}, "for ", opLink(part.op), ", because ", text(part.because)),
    part.axes.length ? h("ul", {class: "causes"}, part.axes.map(causeItem)) : null,
    more ? h("p", {class: "note"}, `and for ${more} more alike`) : null);
}

function whyCard(c, level) {
  const facts = [`${c.devices} devices`, `${bytes(c.bytes)} a device`];
  if (c.times !== 1) facts.push(`${c.times}${c.known ? "" : " or more"} times: ${bytes(c.sent)}`);
  if (c.seconds !== undefined) facts.push(`${seconds(c.seconds)} over ${text(c.link)}`);
  return h("article", {class: "why"},
    h(level || "h3", {}, `#${c.number} ${text(c.kind)}`, text(c.along) ? h("span", {class: "along"}, ` along ${text(c.along)}`) : ""),
    h("p", {class: "facts-line"}, facts.join(" \u00b7 ")),
    c.parts.length ? null : h("p", {}, "because the program asks for it"),
    alikeParts(c.parts).map(partBlock),
    c.tried.length ? h("div", {class: "tried"}, h("p", {}, "What would send less:"), h("ul", {}, c.tried.map(f =>
      h("li", {}, `${text(f.change)}: ${bytes(D.bytes)} \u2192 ${bytes(f.bytes)} in all`)))) : null);
}

/* ---- the panel ---- */

function valueBlock(title, v) {
  const before = v.before && v.before !== v.after ? h("p", {class: "said"}, "annotated ", h("code", {}, shortSharding(v.before))) : null;
  const now = when === "after" ? v.after : v.before;
  return h("section", {}, h("h3", {}, title), typeCells(v), before,
    h("p", {class: "said"}, when === "after" ? "sharded " : "annotated ", now ? h("code", {}, shortSharding(now)) : "as nothing says: whole on every device"),
    v.type.startsWith("tensor") ? meshPicture(shardingNow(v)) : null);
}

function detailOfOp(n) {
  const op = n.op, out = [];
  if (opPath(op)) out.push(h("p", {class: "path"}, opPath(op)));
  if (opPlace(op)) out.push(h("p", {class: "place"}, `${opPlace(op)}:${D.ops.column[op]}`));
  if (text(D.ops.frames[op])) out.push(h("p", {class: "path"}, "in ", text(D.ops.frames[op]).split("/").join(" \u203a ")));
  if (opName(op) === "func.call") {
    const f = D.ops.symbol.findIndex((x, i) => x === D.ops.symbol[op] && opName(i) === "func.func");
    if (f > 0) out.push(h("p", {}, h("button", {type: "button", onclick: () => selectOp(f)}, `Show @${text(D.ops.symbol[op])}`)));
  }
  for (const c of collectivesOf.get(op) || []) out.push(whyCard(c));
  (valuesOf.get(op) || []).slice(0, 4).forEach((v, i, list) =>
    out.push(valueBlock(list.length > 1 ? `Result ${i}` : "Result", valueAt([RESULT, op, i]))));
  const uses = operandsOf(op);
  if (uses.length)
    out.push(h("section", {}, h("h3", {}, "Operands"), h("ol", {class: "operands", start: 0}, uses.slice(0, 24).map(p =>
      h("li", {}, placeLink(p), " ", typeCells(valueAt(p)))), uses.length > 24 ? h("li", {}, `and ${uses.length - 24} more`) : null)));
  return out;
}

function collectivesIn(n) {
  const out = new Set(), walk = x => { if (x.op) for (const c of collectivesOf.get(x.op) || []) out.add(c); x.children.forEach(walk); };
  walk(n);
  return [...out].sort((a, b) => b.sent - a.sent);
}

function detailOfGroup(n) {
  const list = collectivesIn(n), out = [];
  out.push(h("dl", {class: "pairs"}, h("dt", {}, n.isArguments ? "Arguments" : "Ops"), h("dd", {}, (n.isArguments ? leaves(n) : n.ops).toLocaleString("en")),
    h("dt", {}, n.isArguments ? "Bytes" : "Bytes of values"), h("dd", {}, bytes(n.bytes)),
    axes.map((a, k) => [h("dt", {}, `cut along ${a.name}`), h("dd", {}, `${Math.round(100 * Math.min(1, share(n, k)))} %`)])));
  if (!n.isArguments) out.push(h("h3", {}, list.length ? `${count(list.length, "collective")}, ${bytes(n.sends)} sent` : "No collective"));
  out.push(...list.slice(0, 5).map(c => whyCard(c, "h4")));
  if (list.length > 5) out.push(h("p", {class: "note"}, `and ${list.length - 5} more that send less`));
  return out;
}

function showDetail() {
  const n = selected, panel = byId("detail");
  if (!n) {
    panel.replaceChildren(h("h2", {}, "Nothing selected"), h("p", {class: "note"},
      "Select an op for its values and collectives; unfold a group to see inside. A bar for each axis of the mesh says how much of the bytes is cut along it."));
    return;
  }
  const head = h("h2", {}, nodeLabel(n), n.about ? h("em", {}, ` ${n.about}`) : null);
  let body;
  if (n.argument !== undefined) {
    const a = D.arguments[n.argument];
    body = [h("p", {class: "place"}, `argument ${n.argument}${a.donated ? ", donated" : ""}${text(a.file) ? `, ${text(a.file)}:${a.line}` : ""}`),
            valueBlock("Value", valueAt([INSIDE, D.main, n.argument]))];
  } else body = n.op && n.op !== D.main ? detailOfOp(n) : detailOfGroup(n);
  if (n.op && isFolded(n)) body.push(...detailOfGroup(n));
  panel.replaceChildren(head, ...body);
  panel.scrollTop = 0;
}
