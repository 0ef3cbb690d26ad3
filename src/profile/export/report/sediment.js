'use strict';
// What survives: live bytes over time, a layer for each time of birth, the oldest at the bottom.
const sediment = (() => {
  const canvas = $('sediment'), box = { left: 76, right: 16, top: 14, bottom: 28 };
  let frame = null, chosen = -1;

  const times = () => data.sediment.times_ms, layers = () => data.sediment.live;
  const span = () => state.range.map((slice) => slice / data.slices * data.end_ms);
  function layerColor(i) {
    // Old layers are dark earth, young ones pale.
    const part = layers().length < 2 ? 0 : i / (layers().length - 1);
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    return dark ? `hsl(${24 + 26 * part} ${42 - 8 * part}% ${26 + 40 * part}%)` : `hsl(${20 + 28 * part} ${48 + 6 * part}% ${30 + 50 * part}%)`;
  }

  function draw() {
    const [c, width, height] = prepare(canvas, 340);
    const [from, to] = span(), columns = times();
    const inside = columns.map((t, i) => i).filter((i) => columns[i] >= from && columns[i] <= to);
    let most = 0;
    for (const i of inside) most = Math.max(most, layers().reduce((sum, layer) => sum + Math.max(layer[i], 0), 0));
    const x = (ms) => box.left + (ms - from) / (to - from) * (width - box.left - box.right);
    const y = (bytes) => height - box.bottom - bytes / (most || 1) * (height - box.top - box.bottom);
    frame = { x, y, from, to, inside, width, height };
    axes(c, { ...frame, box, most, format: amount });
    if (most === 0) { c.fillStyle = color('faint'); c.textAlign = 'center'; c.fillText('nothing was alive', width / 2, height / 2); return; }
    const base = new Float64Array(columns.length);
    layers().forEach((layer, i) => {
      c.beginPath();
      inside.forEach((at, n) => c[n ? 'lineTo' : 'moveTo'](x(columns[at]), y(base[at])));
      for (const at of inside) base[at] += Math.max(layer[at], 0);
      for (let n = inside.length; n-- > 0;) c.lineTo(x(columns[inside[n]]), y(base[inside[n]]));
      c.closePath();
      c.fillStyle = i === chosen ? color('mark') : layerColor(i);
      c.fill();
      c.strokeStyle = color('paper'); c.lineWidth = 0.7; c.stroke();
    });
  }

  function at(event) {
    if (!frame || !frame.inside.length) return null;
    const area = canvas.getBoundingClientRect();
    const px = event.clientX - area.left, py = event.clientY - area.top;
    const ms = frame.from + (px - box.left) / (frame.width - box.left - box.right) * (frame.to - frame.from);
    let column = frame.inside[0];
    for (const i of frame.inside) if (Math.abs(times()[i] - ms) < Math.abs(times()[column] - ms)) column = i;
    let base = 0;
    for (let i = 0; i < layers().length; ++i) {
      const top = base + Math.max(layers()[i][column], 0);
      if (py <= frame.y(base) && py >= frame.y(top) && top > base) return { layer: i, column };
      base = top;
    }
    return null;
  }
  const born = (i) => `allocated from ${duration(data.sediment.begin_ms[i] * 1e6)} to ${duration((data.sediment.begin_ms[i + 1] ?? data.end_ms) * 1e6)}`;

  function tip(event) {
    const hit = at(event);
    if (!hit) return hideTip();
    showTip(event, element('b', {}, born(hit.layer)), `${amount(layers()[hit.layer][hit.column])} alive at ${duration(times()[hit.column] * 1e6)}`);
  }

  function choose(event) {
    const hit = at(event);
    chosen = hit && hit.layer !== chosen ? hit.layer : -1;
    show();
  }

  function show() {
    draw();
    if (chosen < 0) return $('layer').replaceChildren();
    const first = chosen / layers().length * data.slices, last = (chosen + 1) / layers().length * data.slices;
    const card = element('div', { class: 'card' }, element('p', {}, element('b', {}, born(chosen)), ', and alive at the end:'));
    const list = element('table');
    card.append(list);
    listSites(list, (row) => rows.s[row] < last && rows.s[row] + 1 > first, ['l', 'le', 'lk']);
    $('layer').replaceChildren(card);
  }

  function types() {
    const parts = [['young', 'var(--young)'], ['later', 'var(--middle)'], ['live', 'var(--old)'], ['unknown', 'var(--few)']];
    const heads = [{ name: 'type', text: true }, { name: 'allocated' }, { name: 'died in the nursery' }, { name: 'survived it' }, { name: 'alive at the end' }, { name: 'median age' }, { name: '' }];
    table($('types'), heads, data.types.map((t) => {
      const sum = new Sum(); sum.add(t.bytes, t.exact, t.k);
      const share = element('span', { class: 'share' }, ...parts.map(([key, fill]) => element('i', { style: `width:${t.bytes ? 100 * t[key] / t.bytes : 0}%;background:${fill}` })));
      return [t.name, sum.text(), percent(t.young, t.bytes), percent(t.tenured, t.bytes), percent(t.live, t.bytes),
        t.median_ns === null ? '–' : duration(t.median_ns), share];
    }));
  }
  return { draw, tip, choose, show, types };
})();

// The largest sums of rows by node of the call tree.
function listSites(target, takes, names) {
  const sums = new Map();
  for (let row = 0; row < rows.v.length; ++row) {
    if (!takes(row) || !(rows[names[0]][row] > 0)) continue;
    let sum = sums.get(rows.v[row]);
    if (!sum) sums.set(rows.v[row], sum = new Sum());
    sum.add(rows[names[0]][row], rows[names[1]][row], rows[names[2]][row]);
  }
  const sorted = [...sums].sort((a, b) => b[1].bytes - a[1].bytes).slice(0, 10);
  table(target, [{ name: 'bytes', text: true }, { name: 'type', text: true }, { name: 'allocated in', text: true }], sorted.map(([v, sum]) =>
    [errorBar(sum, sorted[0][1].interval()[1]), tree.kind[v] === kinds.type ? nameOf(v) : '', stackText(v)]));
}

// Even steps of time below, of what is measured at the left.
function axes(c, { x, y, from, to, box, width, height, most, format, ticks }) {
  c.strokeStyle = color('line'); c.fillStyle = color('faint'); c.lineWidth = 1;
  c.textAlign = 'right'; c.textBaseline = 'middle';
  for (const value of ticks || [0, 0.25, 0.5, 0.75, 1].map((part) => part * most)) {
    const at = Math.round(y(value)) + 0.5;
    c.beginPath(); c.moveTo(box.left, at); c.lineTo(width - box.right, at); c.stroke();
    c.fillText(format(value), box.left - 8, at);
  }
  const rough = (to - from) / Math.max(width / 110, 2), size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * size).find((n) => n >= rough);
  c.textAlign = 'center'; c.textBaseline = 'top';
  for (let ms = Math.ceil(from / step) * step; ms <= to; ms += step) {
    c.textAlign = x(ms) > width - box.right - 20 ? 'right' : 'center';
    c.fillText(ms === 0 ? '0' : duration(ms * 1e6), x(ms), height - box.bottom + 8);
  }
}
