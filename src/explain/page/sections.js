/* The other parts of the report: tables of collectives, memory over time, the mesh, what looks
   wrong, what is different. Each is made when it is first shown, or printed. */

function table(head, rows, caption) {
  return h("table", {}, caption ? h("caption", {}, caption) : null,
    h("thead", {}, h("tr", {}, head.map(([name, number, sort]) => h("th", {scope: "col", class: number ? "number" : "", "aria-sort": sort || null}, name)))),
    h("tbody", {}, rows));
}
const cell = (x, number) => h("td", {class: number ? "number" : ""}, x);

/* ---- collectives ---- */

const SORTS = {
  program: (a, b) => a.number - b.number,
  bytes: (a, b) => b.sent - a.sent,
  kind: (a, b) => text(a.kind).localeCompare(text(b.kind)) || b.sent - a.sent,
};
let sorted = "bytes", most = 100;

function collectiveRow(c, columns) {
  const more = h("tr", {class: "more", hidden: true}, h("td", {colspan: columns}));
  const button = h("button", {type: "button", class: "link", "aria-expanded": "false", onclick: () => {
    const open = more.hidden;
    more.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (open && !more.firstChild.firstChild) more.firstChild.append(whyCard(c));
  }}, `#${c.number}`);
  const first = c.parts[0];
  return [h("tr", {}, cell(button), cell(text(c.kind)), cell(text(c.along)), cell(bytes(c.bytes), true),
            cell(`${c.times.toLocaleString("en")}${c.known ? "" : "+"}`, true), cell(bytes(c.sent), true),
            c.seconds !== undefined ? cell(seconds(c.seconds * c.times), true) : null,
            h("td", {}, first ? [opLink(first.op), c.parts.length > 1 ? ` and ${c.parts.length - 1} more` : ""] : "asked for by the program")), more];
}

function drawCollectives(panel) {
  const timed = D.collectives.some(c => c.seconds !== undefined);
  const list = [...D.collectives].sort(SORTS[sorted]);
  const sort = (name, by) => h("button", {type: "button", class: "sort", onclick: () => { sorted = by; drawCollectives(panel); }}, name);
  const head = [[sort("No.", "program"), false, sorted === "program" ? "ascending" : null], [sort("Kind", "kind"), false, sorted === "kind" ? "ascending" : null],
                ["Along"], ["Bytes", true], ["Times", true], [sort("Sent in all", "bytes"), true, sorted === "bytes" ? "descending" : null],
                ...(timed ? [["Time", true]] : []), ["For"]];
  const out = [h("h2", {}, "Collectives"), h("p", {class: "note"}, `${count(D.collectives.length, "collective")}; a device sends ${bytes(D.bytes)} in all. A number opens its why.`)];
  if (D.comms) out.push(table([["Kind"], ["Along"], ["Link"], ["Count", true], ["Sent", true], ["Time", true], ["Could be hidden", true]],
    [...D.comms.rows, D.comms.sum].map(r => h("tr", {}, cell(r.kind), cell(r.axes), cell(r.link), cell(r.count.toLocaleString("en"), true),
      cell(bytes(r.bytes), true), cell(seconds(r.seconds), true), cell(seconds(r.hidden), true))), "By kind and link"));
  if (list.length) out.push(table(head, list.slice(0, most).map(c => collectiveRow(c, head.length)), "Each"));
  if (list.length > most) out.push(h("p", {}, h("button", {type: "button", onclick: () => { most += 400; drawCollectives(panel); }}, `Show more (${list.length - most} left)`)));
  panel.replaceChildren(...out);
}

/* ---- memory ---- */

/* The step's op of the source: by place and name. */
let opAtPlace = null;
function opOfStep(i) {
  if (!opAtPlace) {
    opAtPlace = new Map();
    for (let op = NUM_OPS - 1; op > 0; op--) if (D.ops.file[op]) {
      opAtPlace.set(`${opPlace(op)}:${D.ops.column[op]} ${opPath(op)}`, op);
      opAtPlace.set(`${opPlace(op)}:${D.ops.column[op]} ${opPath(op)} ${opName(op)}`, op);
    }
  }
  const key = `${text(D.steps.at[i])} ${text(D.steps.what[i])}`;
  return opAtPlace.get(`${key} ${text(D.steps.name[i])}`) || opAtPlace.get(key) || 0;
}

function stepWords(i) {
  const what = text(D.steps.what[i]), at = text(D.steps.at[i]);
  return `step ${i} of ${D.mem.steps}: ${bytes(D.mem.over_time[i])} of workspace; ${text(D.steps.name[i])}${what ? `, ${what}` : ""}${at ? ` at ${shortFile(at)}` : ""}`;
}

function memoryChart() {
  const over = D.mem.over_time, n = over.length, W = 1000, H = 240, left = 64, base = D.mem.arguments + D.mem.results;
  const high = Math.max(1, base + D.mem.peak) * 1.06, X = i => left + (W - left - 8) * (n > 1 ? i / (n - 1) : 0.5), Y = v => H - 24 - (H - 40) * v / high;
  const points = [], width = Math.max(1, Math.ceil(n / 900)); /* the most of each pixel's steps */
  for (let i = 0; i < n; i += width) {
    let top = 0;
    for (let k = i; k < Math.min(n, i + width); k++) top = Math.max(top, over[k]);
    points.push(`${X(i).toFixed(1)},${Y(base + top).toFixed(1)}`, `${X(Math.min(n - 1, i + width)).toFixed(1)},${Y(base + top).toFixed(1)}`);
  }
  const g = s("svg", {viewBox: `0 0 ${W} ${H}`, class: "chart", role: "img", "aria-label":
    `Memory over ${n} steps; most at step ${D.mem.peak_step}: ${bytes(base + D.mem.peak)}`});
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const v = part * (base + D.mem.peak);
    g.append(s("line", {x1: left, x2: W - 8, y1: Y(v), y2: Y(v), class: "grid"}), s("text", {x: left - 6, y: Y(v) + 4, class: "tick"}, bytes(Math.round(v))));
  }
  g.append(s("rect", {x: left, y: Y(base), width: W - left - 8, height: Y(0) - Y(base), class: "held"}));
  if (n) g.append(s("polygon", {points: `${X(0)},${Y(base)} ${points.join(" ")} ${X(n - 1)},${Y(base)}`, class: "area"}));
  const cursor = s("line", {y1: 10, y2: Y(0), class: "cursor"});
  g.append(cursor, s("text", {x: left, y: H - 6, class: "step"}, "step 0"), s("text", {x: W - 8, y: H - 6, class: "step last"}, `step ${Math.max(0, n - 1)}`));
  const said = h("output", {class: "said", for: "step"}), at = h("input", {type: "range", id: "step", min: 0, max: Math.max(0, n - 1), value: D.mem.peak_step, "aria-label": "Step"});
  const show = () => {
    const i = +at.value;
    if (!n) return;
    cursor.setAttribute("x1", X(i));
    cursor.setAttribute("x2", X(i));
    const op = opOfStep(i);
    said.replaceChildren(stepWords(i), " ", op ? opLink(op) : "");
  };
  at.addEventListener("input", show);
  const pick = e => {
    const box = g.getBoundingClientRect();
    at.value = Math.round(((e.clientX - box.left) / box.width * W - left) / (W - left - 8) * (n - 1));
    show();
  };
  g.addEventListener("pointerdown", pick);
  g.addEventListener("pointermove", e => { if (e.buttons & 1) pick(e); });
  show();
  return h("figure", {class: "over-time"}, g, h("div", {class: "cursor-row"}, at,
    h("button", {type: "button", onclick: () => { at.value = D.mem.peak_step; show(); }}, "Peak")), said);
}

function drawMemory(panel) {
  const m = D.mem, rows = [["Arguments", m.arguments], ["Results that are not donated", m.results], ["Workspace", m.workspace], ["In all, a device", m.total],
                           ["Results in donated arguments, at no cost", m.donated], ["Constants, once for all devices", m.constants]];
  const alive = m.alive.slice(0, 200);
  panel.replaceChildren(h("h2", {}, "Memory of each device"),
    h("dl", {class: "pairs wide"}, rows.map(([name, n]) => [h("dt", {}, name), h("dd", {}, bytes(n))])),
    memoryChart(),
    h("p", {class: "note"}, "Grey: arguments and results, there throughout. Coloured: what of the workspace is alive at each step."),
    table([["Bytes", true], ["Kind"], ["What"], ["Op"], ["Type"], ["Sharding"], ["Steps", true]], alive.map(b => h("tr", {}, cell(bytes(b.bytes), true), cell(b.kind),
      cell(b.name || (b.kind === "temporary" ? "" : `${b.kind} ${b.index}`)), cell([b.op.replace(/^stablehlo\./, ""), b.location ? h("span", {class: "place"}, ` ${shortFile(b.location)}`) : ""]),
      cell(b.type), h("td", {}, h("code", {}, shortSharding(b.sharding))), cell(b.kind === "argument" ? "" : `${b.first}\u2013${b.last}`, true))),
      `There at the peak, largest first${m.alive.length > alive.length ? ` (${alive.length} of ${m.alive.length})` : ""}`));
}

/* ---- the mesh ---- */

function drawMesh(panel) {
  const used = axes.map(() => 0);
  D.values.sharding.forEach((x, i) => { for (const a of readSharding(text(x)).axes) used[a] += D.values.bytes[i]; });
  const all = D.values.bytes.reduce((a, b) => a + b, 0);
  panel.replaceChildren(h("h2", {}, "Mesh"),
    ...D.meshes.filter(m => m.axes.length).map((m, i) => h("section", {}, h("h3", {}, `@${text(m.name)}`),
      table([["Axis"], ["Devices", true], ["Bytes of values cut along it", true], ["Collectives along it alone", true], ["Sent", true]], m.axes.map(([name, size]) => {
        const along = D.collectives.filter(c => text(c.along) === `"${text(name)}"`);
        return h("tr", {}, cell([h("i", {class: `swatch ${axisClass(axisNumber.get(text(name)))}`}), text(name)]), cell(size, true),
          cell(all ? `${Math.round(100 * used[axisNumber.get(text(name))] / all)} %` : "", true), cell(along.length, true), cell(bytes(along.reduce((x, c) => x + c.sent, 0)), true));
      })), i ? null : meshPicture(null))));
}

/* ---- what looks wrong, what is different ---- */

const rowPlace = p => !p || p.value === "none" ? "" : p.op ? (p.id && nodeOf[p.id] ? opLink(p.id) : `${p.op} ${p.name || ""}`)
  : `${p.value} ${p.index}${p.name ? ` ${p.name}` : ""}`;

function drawCheck(panel) {
  panel.replaceChildren(h("h2", {}, "Check"), h("p", {class: "note"}, "Hints, by the bytes that they cost a device; docs/explain.md says what each means."),
    D.check.length ? table([["Kind"], ["Where"], ["What"], ["Bytes", true]], D.check.map(r => h("tr", {}, cell(r.kind), cell(rowPlace(r.at)), cell(r.text), cell(r.bytes ? bytes(r.bytes) : "", true))))
                   : h("p", {}, "Nothing looks wrong."));
}

function drawDiff(panel) {
  const d = D.diff, sums = [["Collectives", d.collectives, String], ["Sent", d.bytes, bytes], ["Memory", d.memory, bytes], ["Operations", d.flops, x => x.toPrecision(4)]];
  panel.replaceChildren(h("h2", {}, "Difference"), h("p", {class: "note"}, `From ${shortFile(text(D.other))} to ${shortFile(text(D.file))}. What changed is outlined in the graph.`),
    table([["In all"], ["Before", true], ["After", true]], sums.map(([name, [a, b], f]) => h("tr", {class: a === b ? "" : "changed"}, h("th", {scope: "row"}, name), cell(f(a), true), cell(f(b), true)))),
    d.rows.length ? table([["What"], ["Where"], ["Before"], ["After"], ["Alike", true], ["Bytes", true]], d.rows.map(r => h("tr", {}, cell(r.kind), cell(r.of_first ? `${r.at.op || ""} ${r.at.name || ""}` : rowPlace(r.at)),
      h("td", {}, h("code", {}, shortSharding(r.before))), h("td", {}, h("code", {}, shortSharding(r.after))), cell(r.count > 1 ? r.count : "", true), cell(r.bytes ? bytes(r.bytes) : "", true))))
      : h("p", {}, "No difference."));
}
