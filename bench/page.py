"""A run of bench.py as one page of HTML: bars of ratios, curves of series, all figures."""
import html
import math

STYLE = """
:root { color-scheme: light dark; --ours: #2a7fb8; --theirs: #b85c2a; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }
h2 { margin: 2em 0 .3em; font-size: 1.1em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
td, th { padding: .15em .6em; text-align: right; border-bottom: 1px solid var(--line); }
td:first-child, th:first-child { text-align: left; }
svg { width: 100%; height: auto; } text { font: 12px system-ui, sans-serif; fill: currentColor; }
.ours { fill: var(--ours); stroke: var(--ours); }
.theirs { fill: var(--theirs); stroke: var(--theirs); }
path { fill: none !important; stroke-width: 2; } .axis { stroke: var(--line); }
"""


def show(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio(row):
    return row["cpu"]["best"] / row["terrazzo"]["best"]


def bars(rows):
    """XLA's time by ours, on a logarithmic axis from 1 on: right and blue where ours is faster."""
    left, width, each = 300, 560, 20
    most = max(2.0, max(max(ratio(r), 1 / ratio(r)) for r in rows))
    middle = left + width / 2
    place = lambda x: middle + math.log(x) / math.log(most) * width / 2 * 0.85
    parts = [f'<line class="axis" x1="{middle}" x2="{middle}" y1="0" y2="{len(rows) * each}"/>']
    for i, row in enumerate(rows):
        y, x = i * each, place(ratio(row))
        side, kind = ("start", "ours") if x >= middle else ("end", "theirs")
        parts.append(
            f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{html.escape(row["name"])}</text>'
            f'<rect class="{kind}" x="{min(x, middle):.1f}" y="{y + 4}" height="{each - 8}" '
            f'width="{abs(x - middle):.1f}"/><text x="{x + (4 if side == "start" else -4):.1f}" '
            f'y="{y + 14}" text-anchor="{side}">{ratio(row):.2f}</text>')
    return f'<svg viewBox="0 0 {left + width} {len(rows) * each}">{"".join(parts)}</svg>'


def curves(rows):
    """Times over a size, both axes logarithmic."""
    left, width, height, foot = 80, 700, 260, 30
    sizes = [row["size"] for row in rows]
    times = [row[side]["best"] for row in rows for side in ("terrazzo", "cpu")]
    low, high = math.log(min(times)), math.log(max(times) * 1.01)
    first, last = math.log(min(sizes)), math.log(max(sizes) * 1.01)
    x = lambda size: left + (math.log(size) - first) / (last - first) * width
    y = lambda time: 10 + (high - math.log(time)) / (high - low) * height
    parts = []
    for power in range(math.ceil(low / math.log(10)), math.floor(high / math.log(10)) + 1):
        at = y(10.0 ** power)
        parts.append(f'<line class="axis" x1="{left}" x2="{left + width}" y1="{at:.1f}" '
                     f'y2="{at:.1f}"/><text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">'
                     f'{show(10.0 ** power)}</text>')
    for side, kind in (("cpu", "theirs"), ("terrazzo", "ours")):
        points = [f"{x(r['size']):.1f},{y(r[side]['best']):.1f}" for r in rows]
        parts.append(f'<path class="{kind}" d="M{" L".join(points)}"/>')
    for size in sizes:
        parts.append(f'<text x="{x(size):.1f}" y="{height + foot}" text-anchor="middle">'
                     f'{size:.4g}</text>')
    parts.append('<text x="90" y="20">blue: Terrazzo, brown: XLA:CPU</text>')
    return f'<svg viewBox="0 0 {left + width + 30} {height + foot + 10}">{"".join(parts)}</svg>'


def table(rows):
    lines = ["<tr><th>program</th><th>Terrazzo</th><th>median</th><th>XLA:CPU</th><th>median</th>"
             "<th>XLA / ours</th><th>compiled</th><th>XLA</th></tr>"]
    for row in rows:
        ours, xla = row["terrazzo"], row["cpu"]
        cells = [html.escape(row["name"]), show(ours["best"]), show(ours["median"]),
                 show(xla["best"]), show(xla["median"]), f"{ratio(row):.2f}",
                 show(ours["compile"]), show(xla["compile"])]
        lines.append("<tr><td>" + "</td><td>".join(cells) + "</td></tr>")
    return f"<table>{''.join(lines)}</table>"


def make(report):
    about = ", ".join(f"{key} {html.escape(str(value))}" for key, value in report["about"].items())
    places = {}
    for row in report["rows"]:
        key = (row["group"], row["devices"], row["processors"])
        places.setdefault(key, []).append(row)
    parts = []
    for (group, devices, processors), rows in places.items():
        many = lambda n, word: f"{n} {word}{'' if n == 1 else 's'}"
        parts.append(f"<h2>{html.escape(group)}: {many(devices, 'device')}, "
                     f"{many(processors, 'processor')}</h2>")
        series = len(rows) > 1 and all(row["size"] for row in rows)
        parts.append((curves if series else bars)(rows))
        parts.append(f"<details><summary>all figures</summary>{table(rows)}</details>")
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Terrazzo beside XLA:CPU'
            f"</title><style>{STYLE}</style><h1>Terrazzo beside XLA:CPU</h1><p>{about}</p>"
            "<p>Bars: XLA's time by Terrazzo's, the best of all calls; to the right, Terrazzo is "
            f"faster.</p>{''.join(parts)}</html>\n")
