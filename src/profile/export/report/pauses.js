'use strict';
// What pauses: a mark for each pause, the memory in use below, utilisation by window.
const pauses = (() => {
  const canvas = $('pause-chart'), box = { left: 76, right: 16, top: 14, bottom: 28 };
  const kindNames = ['minor', 'step', 'full'], kindColors = ['young', 'heap', 'old'];
  let frame = null, chosen = -1;
  const list = data.pauses, total = list.kind.length;

  function draw() {
    const [c, width, height] = prepare(canvas, 340);
    const [from, to] = state.range.map((slice) => slice / data.slices * data.end_ms);
    const levelTop = height - box.bottom - 84;
    let least = Infinity, most = 0;
    for (const wall of list.wall_ns) { least = Math.min(least, Math.max(wall, 100)); most = Math.max(most, wall); }
    if (total === 0) { least = 1e4; most = 1e6; }
    const low = Math.floor(Math.log10(least)), high = Math.max(Math.log10(Math.max(most, 1)) + 0.15, low + 1);
    const x = (ms) => box.left + (ms - from) / (to - from) * (width - box.left - box.right);
    const y = (ns) => levelTop - 20 - (Math.log10(Math.max(ns, 10 ** low)) - low) / (high - low) * (levelTop - 20 - box.top);
    const ticks = [];
    for (let e = low; e <= high; ++e) ticks.push(10 ** e);
    axes(c, { x, y, from, to, box, width, height, format: duration, ticks });
    levels(c, x, levelTop, height - box.bottom, width, from, to);
    frame = { x, y, from, to };
    c.save();
    c.beginPath(); c.rect(box.left - 4, 0, width - box.left - box.right + 8, height); c.clip();
    for (let i = 0; i < total; ++i) {
      if (list.begin_ms[i] < from || list.begin_ms[i] > to) continue;
      c.fillStyle = i === chosen ? color('mark') : color(kindColors[list.kind[i] - 1]);
      c.globalAlpha = i === chosen ? 1 : 0.72;
      const left = x(list.begin_ms[i]), wide = Math.max(x(list.begin_ms[i] + list.wall_ns[i] * 1e-6) - left, 3.2), at = y(list.wall_ns[i]);
      c.fillRect(left - 0.5, at, wide, 5);
      c.globalAlpha *= 0.22;
      c.fillRect(left - 0.5, at + 5, wide, Math.max(levelTop - 20 - at - 5, 0));
    }
    c.restore(); c.globalAlpha = 1;
    if (total === 0) { c.fillStyle = color('faint'); c.textAlign = 'center'; c.textBaseline = 'middle'; c.fillText('no pauses were recorded', width / 2, levelTop / 2); }
  }

  function levels(c, x, top, bottom, width, from, to) {
    const series = [[data.levels.used, 'heap', 'in use'], [data.levels.resident, 'faint', 'resident']].filter(([s]) => s.time_ms.length);
    if (!series.length) return;
    const most = Math.max(1, ...series.map(([s]) => s.bytes.reduce((a, b) => Math.max(a, b), 0)));
    const y = (bytes) => bottom - bytes / most * (bottom - top - 6);
    c.save();
    c.beginPath(); c.rect(box.left, top - 8, width - box.left - box.right, bottom - top + 8); c.clip();
    for (const [s, name] of series) {
      c.strokeStyle = color(name); c.lineWidth = 1.6; c.beginPath();
      s.time_ms.forEach((ms, i) => c[i ? 'lineTo' : 'moveTo'](x(ms), y(s.bytes[i])));
      c.stroke();
      if (name !== 'heap') continue;
      c.lineTo(x(s.time_ms[s.time_ms.length - 1]), bottom); c.lineTo(x(s.time_ms[0]), bottom);
      c.globalAlpha = 0.14; c.fillStyle = color(name); c.fill(); c.globalAlpha = 1;
    }
    c.restore();
    c.fillStyle = color('faint'); c.textAlign = 'right'; c.textBaseline = 'middle';
    c.fillText(amount(most), box.left - 8, top + 6); c.fillText('0', box.left - 8, bottom);
    c.textAlign = 'left';
    series.forEach(([, name, label], i) => { c.fillStyle = color(name); c.fillText(label, box.left + 8 + 64 * i, top + 2); });
  }

  function at(event) {
    if (!frame) return -1;
    const area = canvas.getBoundingClientRect(), px = event.clientX - area.left, py = event.clientY - area.top;
    let best = -1, nearest = 14 ** 2;
    for (let i = 0; i < total; ++i) {
      if (list.begin_ms[i] < frame.from || list.begin_ms[i] > frame.to) continue;
      const left = frame.x(list.begin_ms[i]), right = Math.max(frame.x(list.begin_ms[i] + list.wall_ns[i] * 1e-6), left + 3);
      const dx = px < left ? left - px : px > right ? px - right : 0, dy = frame.y(list.wall_ns[i]) + 2 - py;
      if (dx * dx + dy * dy < nearest) { nearest = dx * dx + dy * dy; best = i; }
    }
    return best;
  }
  function words(i) {
    const kind = list.kind[i];
    const what = kind === 1 ? `${amount(list.before[i])} in use before, ${amount(list.after[i])} survived`
      : kind === 2 ? `from ${list.from[i]} to ${list.to[i]}, ${amount(list.after[i])} in use` : `${amount(list.before[i])} before, ${amount(list.after[i])} after`;
    return [`${kindNames[kind - 1]} ${list.number[i]}: ${duration(list.wall_ns[i])}`, `at ${duration(list.begin_ms[i] * 1e6)}, ${duration(list.cpu_ns[i])} of CPU time`, what];
  }
  function tip(event) {
    const i = at(event);
    if (i < 0) return hideTip();
    const [head, ...rest] = words(i);
    showTip(event, element('b', {}, head), ...rest);
  }
  function choose(event) { chosen = at(event); show(); }
  function show() {
    draw();
    if (chosen < 0) return $('pause').replaceChildren();
    const [head, when, what] = words(chosen);
    const slice = Math.min(Math.floor(list.begin_ms[chosen] / data.end_ms * data.slices), data.slices - 1);
    const sites = element('table');
    const card = element('div', { class: 'card' }, element('p', {}, element('b', {}, head), `, ${when}; ${what}.`),
      element('p', {}, data.generational ? 'Allocated about then, and survived the nursery:' : 'Allocated about then, and alive at the end:'), sites);
    listSites(sites, (row) => rows.s[row] === slice, data.generational ? ['t', 'te', 'tk'] : ['l', 'le', 'lk']);
    $('pause').replaceChildren(card);
  }

  function mmu() {
    const [c, width, height] = prepare($('mmu'), 220);
    const points = data.mmu, edge = { left: 56, right: 16, top: 16, bottom: 30 };
    if (!points.length) { c.fillStyle = color('faint'); c.textAlign = 'center'; c.fillText('the recording is too short, or has no pauses', width / 2, height / 2); return; }
    const x = (ms) => edge.left + 10 + Math.log10(ms) / 3 * (width - edge.left - edge.right - 20);
    const y = (part) => height - edge.bottom - part * (height - edge.top - edge.bottom);
    c.strokeStyle = color('line'); c.fillStyle = color('faint'); c.textBaseline = 'middle'; c.textAlign = 'right';
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      c.beginPath(); c.moveTo(edge.left, y(part)); c.lineTo(width - edge.right, y(part)); c.stroke();
      c.fillText(part * 100 + ' %', edge.left - 8, y(part));
    }
    c.textAlign = 'center'; c.textBaseline = 'top';
    for (const [ms] of points) c.fillText(ms === 1000 ? '1 s' : ms + (ms === 1 ? ' ms' : ''), x(ms), height - edge.bottom + 8);
    c.strokeStyle = color('accent'); c.lineWidth = 2; c.beginPath();
    points.forEach(([ms, part], i) => c[i ? 'lineTo' : 'moveTo'](x(ms), y(part)));
    c.stroke();
    c.fillStyle = color('accent');
    for (const [ms, part] of points) { c.beginPath(); c.arc(x(ms), y(part), 3.2, 0, 7); c.fill(); }
  }
  function kinds() {
    const heads = [{ name: 'kind', text: true }, { name: 'count' }, { name: 'median' }, { name: '99 %' }, { name: 'longest' }, { name: 'together' }];
    table($('kinds'), heads, data.kinds.map((k) => [element('span', {}, element('i', { class: 'dot', style: `background:var(--${kindColors[k.kind - 1]})` }), kindNames[k.kind - 1]),
      count(k.count), duration(k.p50_ns), duration(k.p99_ns), duration(k.max_ns), duration(k.total_ns)]));
  }
  return { draw, tip, choose, show, mmu, kinds };
})();
