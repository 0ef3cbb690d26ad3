'use strict';
// Joins the views: the range of time, what is selected, the address.
function facts() {
  const t = data.total, all = new Sum(), live = new Sum();
  all.add(t.bytes, t.exact, t.k); live.add(t.live, t.live_exact, t.live_k);
  const half = (sum, samples) => { const [low, high] = sum.interval(); return sum.bytes ? `±${Math.ceil((high - low) / 2 / sum.bytes * 100)} %, k=${count(samples)}` : ''; };
  const longest = data.kinds.reduce((most, k) => Math.max(most, k.max_ns), 0);
  const list = [['allocated', amount(all.bytes), half(all, t.samples)], ['alive at the end', amount(live.bytes), half(live, t.live_samples)]];
  if (data.generational) list.push(['died in the nursery', percent(t.young, t.bytes), 'of all bytes']);
  list.push(['longest pause', longest ? duration(longest) : '–', data.mmu.length ? `MMU ${(data.mmu[0][1] * 100).toFixed(0)} % in ${data.mmu[0][0]} ms` : ''],
    ['recorded', duration(data.end_ms * 1e6), `a sample every ${amount(data.interval_bytes)}`],
    ['lost', data.lost.bytes ? amount(data.lost.bytes) : 'nothing', data.lost.bytes ? `${percent(data.lost.bytes, data.lost.bytes + t.bytes)}, of no place` : (data.cost || 'no sample was dropped')]);
  $('facts').replaceChildren(...list.map(([name, value, note]) => element('div', {}, element('dt', {}, name), element('dd', {}, value, element('small', {}, note)))));
  $('program').textContent = data.program;
  $('command').textContent = $('command').title = data.command;
  document.title = `${data.program} – fallow`;
  $('warnings').hidden = data.warnings.length === 0;
  $('warnings').textContent = data.warnings.join('. ');
  $('footer').textContent = 'Figures are estimates from samples: each byte allocated is chosen with the same small chance, and an object that is chosen stands for all like it. '
    + '± is half the 95 % interval; k is the number of samples; with fewer than 5 a figure says little. ' + data.notes.join(' ');
  $('ramp-label').textContent = data.generational ? 'died in the nursery → survived' : 'freed → alive at the end';
}

// Allocation over time, with the memory in use, to choose a range from.
const strip = (() => {
  const canvas = $('strip');
  let start = null, frame = null;
  function draw() {
    const [c, width, height] = prepare(canvas, 64);
    const sums = new Float64Array(data.slices), young = new Float64Array(data.slices), live = new Float64Array(data.slices);
    for (let row = 0; row < rows.v.length; ++row) { sums[rows.s[row]] += rows.a[row]; young[rows.s[row]] += rows.y[row]; live[rows.s[row]] += rows.l[row]; }
    const most = sums.reduce((a, b) => Math.max(a, b), 1), w = width / data.slices;
    frame = { width, w };
    sums.forEach((bytes, s) => {
      const h = bytes / most * (height - 18);
      c.globalAlpha = s >= state.range[0] && s < state.range[1] ? 1 : 0.25;
      c.fillStyle = rampColor(bytes ? share(bytes, young[s], live[s]) : 0);
      c.fillRect(s * w + 0.5, height - 2 - h, Math.max(w - 1, 0.5), h);
    });
    c.globalAlpha = 1; c.fillStyle = color('faint'); c.textBaseline = 'top'; c.textAlign = 'left';
    c.fillText('allocation over time, drag to select', 4, 2);
    if (state.range[0] > 0 || state.range[1] < data.slices) {
      c.strokeStyle = color('accent'); c.lineWidth = 2;
      c.strokeRect(state.range[0] * w + 1, 1, (state.range[1] - state.range[0]) * w - 2, height - 2);
    }
  }
  const slice = (event) => Math.min(Math.max(Math.floor((event.clientX - canvas.getBoundingClientRect().left) / frame.w), 0), data.slices - 1);
  canvas.onpointerdown = (event) => { start = slice(event); canvas.setPointerCapture(event.pointerId); select(start, start + 1); };
  canvas.onpointermove = (event) => { if (start !== null) { const s = slice(event); select(Math.min(start, s), Math.max(start, s) + 1); } };
  canvas.onpointerup = () => { start = null; };
  return { draw };
})();

let pending = 0;
function select(from, to) {
  state.range = [from, to];
  strip.draw();
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(() => { recompute(); icicle.rebuild(); render(); });
}

function render() {
  for (const view of document.querySelectorAll('.view')) view.classList.toggle('on', view.id === state.view);
  for (const tab of document.querySelectorAll('nav button')) tab.setAttribute('aria-selected', tab.dataset.view === state.view);
  for (const button of document.querySelectorAll('#weights button')) button.setAttribute('aria-pressed', +button.dataset.weight === state.weight);
  $('invert').checked = state.inverted;
  const whole = state.range[0] === 0 && state.range[1] === data.slices;
  $('whole').hidden = whole;
  $('range').textContent = whole ? '' : `${duration(state.range[0] / data.slices * data.end_ms * 1e6)} to ${duration(state.range[1] / data.slices * data.end_ms * 1e6)}`;
  if (state.view === 'allocates') { icicle.path(); icicle.draw(); icicle.places(); }
  if (state.view === 'survives') { sediment.show(); sediment.types(); }
  if (state.view === 'pauses') { pauses.show(); pauses.mmu(); pauses.kinds(); }
  strip.draw();
  remember();
}

// For whoever drives the page: what it shows, in figures.
function remember() {
  const parts = { view: state.view };
  if (state.weight) parts.weight = state.weight;
  if (state.inverted) parts.inverted = 1;
  if (state.query) parts.search = state.query;
  if (state.range[0] > 0 || state.range[1] < data.slices) parts.range = state.range.join('-');
  if (state.zoom.length) parts.zoom = state.zoom.join('.');
  history.replaceState(null, '', '#' + new URLSearchParams(parts));
  const shown = icicle.root;
  Object.assign(document.body.dataset, { view: state.view, total: totals.bytes[0], zoomed: shown.zoomed.figures.bytes, boxes: icicle.shown.length });
}
function recall() {
  const parts = new URLSearchParams(location.hash.slice(1));
  if (['allocates', 'survives', 'pauses'].includes(parts.get('view'))) state.view = parts.get('view');
  state.weight = [0, 1, 2].includes(+parts.get('weight')) ? +parts.get('weight') : 0;
  state.inverted = parts.get('inverted') === '1';
  state.query = $('search').value = parts.get('search') || '';
  const range = (parts.get('range') || '').split('-').map(Number);
  state.range = range.length === 2 && range[0] >= 0 && range[0] < range[1] && range[1] <= data.slices ? range : [0, data.slices];
  state.zoom = (parts.get('zoom') || '').split('.').filter((n) => n !== '').map(Number);
}
function refresh() { recompute(); icicle.rebuild(); render(); }

for (const tab of document.querySelectorAll('nav button')) tab.onclick = () => { state.view = tab.dataset.view; render(); };
for (const button of document.querySelectorAll('#weights button')) button.onclick = () => { state.weight = +button.dataset.weight; refresh(); };
$('invert').onchange = () => { state.inverted = $('invert').checked; state.zoom = []; icicle.rebuild(); render(); };
$('search').oninput = () => { state.query = $('search').value; icicle.search(); icicle.draw(); remember(); };
$('whole').onclick = () => select(0, data.slices);
$('icicle').onclick = (event) => { const node = icicle.at(event); if (node) icicle.zoom(node); };
$('icicle-box').onscroll = () => { icicle.draw(); hideTip(); };
for (const [id, part] of [['icicle', icicle], ['sediment', sediment], ['pause-chart', pauses]]) {
  $(id).onmousemove = part.tip;
  $(id).onmouseleave = hideTip;
  if (part.choose) $(id).onclick = part.choose;
}
document.onkeydown = (event) => {
  if (event.key === '/' && event.target.tagName !== 'INPUT') { event.preventDefault(); $('search').focus(); }
  if (event.key !== 'Escape') return;
  if (event.target === $('search') && state.query) { $('search').value = ''; $('search').oninput(); } else if (icicle.root.zoomed.parent) icicle.zoom(icicle.root.zoomed.parent);
};
window.onresize = render;
window.onhashchange = () => { recall(); refresh(); };
matchMedia('(prefers-color-scheme: dark)').onchange = () => { rampColors.length = 0; colors.clear(); render(); };
facts();
recall();
refresh();
document.body.dataset.ready = 'yes';
