'use strict';
// Who allocates: boxes from the root down, or from the leaves. Nodes are made when they come into
// sight, and nothing recurses: trees may be as deep as they like.
const icicle = (() => {
  const rowHeight = 21;
  let root = null, matching = null, shown = [], box = $('icicle-box'), canvas = $('icicle');

  // From the root: a node of the call tree is one vertex. From the leaves: a node is a set of
  // vertices, each with the vertex that allocated.
  const own = (v) => ({ bytes: totals.bytes[v], exact: totals.exact[v], k: totals.k[v], allocated: totals.allocated[v], young: totals.young[v], live: totals.live[v] });
  function childrenDown(node) {
    const list = [];
    for (let i = childStart[node.v]; i < childStart[node.v + 1]; ++i) {
      const v = childList[i];
      if (totals.bytes[v] > 0) list.push({ v, parent: node, figures: own(v), children: null });
    }
    return list;
  }
  function childrenUp(node) {
    const groups = new Map();
    for (const [at, leaf] of node.pairs) {
      const v = node.v === 0 ? leaf : tree.parent[at];
      if (v === 0) continue;
      let group = groups.get(tree.name[v]);
      if (!group) groups.set(tree.name[v], group = { v, parent: node, pairs: [], children: null,
        figures: { bytes: 0, exact: 0, k: 0, allocated: 0, young: 0, live: 0 } });
      group.pairs.push([v, leaf]);
      for (const key in group.figures) group.figures[key] += self[key][leaf];
    }
    return [...groups.values()];
  }
  function children(node) {
    if (!node.children) {
      node.children = (state.inverted ? childrenUp : childrenDown)(node);
      node.children.sort((a, b) => b.figures.bytes - a.figures.bytes);
    }
    return node.children;
  }

  function rebuild() {
    root = { v: 0, parent: null, figures: own(0), children: null, pairs: [] };
    if (state.inverted) for (let v = 1; v < nodeCount; ++v) if (self.bytes[v] > 0) root.pairs.push([v, v]);
    let at = root;
    const kept = [];
    for (const name of state.zoom) {
      const next = children(at).find((child) => tree.name[child.v] === name);
      if (!next) break;
      at = next; kept.push(name);
    }
    state.zoom = kept;
    root.zoomed = at;
    search();
  }

  function search() {
    const query = state.query.trim().toLowerCase();
    matching = null;
    $('matches').textContent = '';
    if (!query) return;
    const names = data.names.map((name) => name.toLowerCase().includes(query));
    const under = new Uint8Array(nodeCount), sum = new Sum();
    for (let v = 1; v < nodeCount; ++v) {
      under[v] = under[tree.parent[v]] || names[tree.name[v]] ? 1 : 0;
      if (under[v]) sum.add(self.bytes[v], self.exact[v], self.k[v]);
    }
    matching = names;
    $('matches').textContent = sum.bytes === 0 ? 'no match' : `${percent(sum.bytes, totals.bytes[0])} match: ${sum.text()}`;
    document.body.dataset.matched = sum.bytes;
  }

  const title = (node) => node.v === 0 ? 'all' : shortName(node.v);
  const sumOf = (f) => { const sum = new Sum(); sum.add(f.bytes, f.exact, f.k); return sum; };

  function draw() {
    const top = box.scrollTop, height = box.clientHeight - 2;
    const [c, width] = prepare(canvas, height);
    const zoomed = root.zoomed;
    shown = [];
    if (!(zoomed.figures.bytes > 0)) {
      c.fillStyle = color('faint'); c.textAlign = 'center';
      c.fillText('nothing was sampled in this range', width / 2, height / 2);
      $('icicle-space').style.height = '0px';
      return;
    }
    const ancestors = [];
    for (let node = zoomed; node; node = node.parent) ancestors.unshift(node);
    let deepest = 0;
    const hatch = hatching(c);
    ancestors.slice(0, -1).forEach((node, row) => paint(c, node, row, 0, width, top, height, hatch, true));
    // Breadth by an explicit stack; boxes too narrow to see are not opened.
    const work = [[zoomed, ancestors.length - 1, 0, width]];
    while (work.length) {
      const [node, row, x, w] = work.pop();
      deepest = Math.max(deepest, row + 1);
      paint(c, node, row, x, w, top, height, hatch, false);
      let left = x;
      for (const child of children(node)) {
        const part = w * child.figures.bytes / node.figures.bytes;
        if (part < 0.5) break;
        work.push([child, row + 1, left, part]);
        left += part;
      }
    }
    $('icicle-space').style.height = deepest * rowHeight + 4 + 'px';
    // As high as the stacks, and no higher than the window allows.
    const wanted = Math.min(Math.max(deepest * rowHeight + 10, 150), 0.62 * innerHeight) + 'px';
    if (box.style.height !== wanted) { box.style.height = wanted; draw(); }
  }

  function hatching(c) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 6;
    const t = tile.getContext('2d');
    t.strokeStyle = 'rgba(255,255,255,.62)'; t.lineWidth = 1.6;
    for (const d of [-6, 0, 6]) { t.beginPath(); t.moveTo(d, 6); t.lineTo(d + 6, 0); t.stroke(); }
    return c.createPattern(tile, 'repeat');
  }

  function paint(c, node, row, x, w, top, height, hatch, isAncestor) {
    const y = row * rowHeight - top;
    if (y > height || y < -rowHeight) return;
    const f = node.figures, few = f.k > 0 && f.k < 5 && f.exact === 0;
    const found = matching && node.v !== 0 && matching[tree.name[node.v]];
    c.globalAlpha = isAncestor || (matching && !found) ? 0.42 : 1;
    c.fillStyle = node.v === 0 ? color('line') : few ? color('few') : rampColor(share(f.allocated, f.young, f.live));
    const boxWidth = Math.max(w - (w > 3 ? 1 : 0), 0.5);
    c.fillRect(x, y, boxWidth, rowHeight - 1);
    if (node.v !== 0 && w > 4 && !few) {
      const low = sumOf(f).interval()[0], unsure = boxWidth * (1 - low / f.bytes);
      if (unsure > 1) { c.fillStyle = hatch; c.fillRect(x + boxWidth - unsure, y, unsure, rowHeight - 1); }
    }
    if (found) { c.strokeStyle = color('mark'); c.lineWidth = 2; if (w > 3) c.strokeRect(x + 1, y + 1, boxWidth - 2, rowHeight - 3); }
    shown.push({ node, x, y, w });
    if (w < 28) { c.globalAlpha = 1; return; }
    c.save();
    c.beginPath(); c.rect(x, y, boxWidth - 3, rowHeight); c.clip();
    c.fillStyle = node.v === 0 || few ? color('ink') : '#1d1a14';
    c.textAlign = 'left'; c.textBaseline = 'middle';
    if (node.v !== 0 && tree.kind[node.v] === kinds.type) c.font = 'italic ' + c.font;
    c.fillText(title(node) + (w > 260 ? `   ${amount(f.bytes)}, ${percent(f.bytes, totals.bytes[0])}` : ''), x + 6, y + rowHeight / 2);
    c.restore();
    c.globalAlpha = 1;
  }

  function at(event) {
    const area = canvas.getBoundingClientRect();
    const x = event.clientX - area.left, y = event.clientY - area.top;
    for (let i = shown.length; i-- > 0;) {
      const s = shown[i];
      if (x >= s.x && x < s.x + Math.max(s.w, 1) && y >= s.y && y < s.y + rowHeight) return s.node;
    }
    return null;
  }

  function tip(event) {
    const node = at(event);
    if (!node) return hideTip();
    const f = node.figures, [low, high] = sumOf(f).interval();
    const lines = [element('b', {}, node.v === 0 ? 'everything' : nameOf(node.v))];
    if (node.v !== 0 && data.files[tree.file[node.v]]) lines.push(element('small', {}, data.files[tree.file[node.v]]));
    lines.push(sumOf(f).text(), `95 %: ${amount(low)} to ${amount(high)}`, `${percent(f.bytes, totals.bytes[0])} of all`);
    if (data.generational) lines.push(`${percent(f.young, f.allocated)} died in the nursery, ${percent(f.live, f.allocated)} are alive at the end`);
    else lines.push(`${percent(f.live, f.allocated)} are alive at the end`);
    showTip(event, ...lines);
  }

  function zoom(node) {
    state.zoom = [];
    for (let at = node; at && at.v !== 0; at = at.parent) state.zoom.unshift(tree.name[at.v]);
    box.scrollTop = Math.max(0, (state.zoom.length - 3) * rowHeight);
    root.zoomed = node;
    path(); draw(); remember();
  }

  function path() {
    const steps = [];
    for (let node = root.zoomed; node; node = node.parent) steps.unshift(node);
    const few = steps.length > 6 ? [steps[0], null, ...steps.slice(-4)] : steps;
    $('path').replaceChildren(...few.flatMap((node, i) => [i ? ' › ' : '',
      node ? element('button', { onclick: () => zoom(node), title: node.v ? nameOf(node.v) : 'all' }, title(node)) : '…']));
    if (steps.length === 1) $('path').replaceChildren('Click a box to zoom in, Escape to zoom out.');
  }

  function places() {
    const order = [];
    for (let v = 1; v < nodeCount; ++v) if (self.bytes[v] > 0) order.push(v);
    order.sort((a, b) => self.bytes[b] - self.bytes[a]);
    const largest = order.length ? new Sum() : null;
    if (largest) largest.add(self.bytes[order[0]], self.exact[order[0]], self.k[order[0]]);
    const most = largest ? largest.interval()[1] : 1;
    table($('places'), [{ name: ['allocated', 'alive at the end', 'died young'][state.weight], text: true }, { name: 'died young' }, { name: 'alive' }, { name: 'type', text: true }, { name: 'allocated in', text: true }],
      order.slice(0, 25).map((v) => {
        const sum = new Sum(); sum.add(self.bytes[v], self.exact[v], self.k[v]);
        return [errorBar(sum, most), percent(self.young[v], self.allocated[v]), percent(self.live[v], self.allocated[v]),
          tree.kind[v] === kinds.type ? nameOf(v) : '', stackText(v)];
      }));
  }
  return { rebuild, draw, tip, at, zoom, path, places, search, get root() { return root; }, get shown() { return shown; } };
})();

function stackText(v) {
  const names = [];
  if (tree.kind[v] === kinds.type) v = tree.parent[v];
  for (; v !== 0 && names.length < 4; v = tree.parent[v]) names.push(shortName(v));
  return names.join(' < ') + (v !== 0 ? ' < …' : '') || '(no stack)';
}
function errorBar(sum, most) {
  const [low, high] = sum.interval(), at = (bytes) => 110 * bytes / most;
  return element('span', {}, element('span', { class: 'error', style: 'margin:0 10px 0 0' },
    element('i', { style: `width:${at(sum.bytes)}px` + (sum.k && sum.k < 5 ? ';background:var(--few)' : '') }),
    element('b', { style: `left:${at(low)}px;width:${Math.max(at(high - low), 1)}px` })), sum.text());
}
