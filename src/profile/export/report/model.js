'use strict';
// The recording's figures, and what is computed from them for a range of time.
const data = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
function amount(bytes) {
  let value = Math.abs(bytes), unit = 0;
  while (value >= 999.5 && unit < 5) { value /= 1024; ++unit; }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return (bytes < 0 ? '-' : '') + value.toFixed(digits) + ' ' + units[unit];
}
function duration(ns) {
  for (const [size, name] of [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']]) {
    const value = ns / size;
    if (value >= 0.9995) return value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + ' ' + name;
  }
  return Math.round(ns) + ' ns';
}
function percent(part, whole) {
  if (!(whole > 0)) return '–';
  const value = part / whole * 100;
  return value > 0 && value < 0.5 ? '<1 %' : value.toFixed(value < 10 && value > 0 ? 1 : 0) + ' %';
}
const count = (number) => Math.round(number).toLocaleString('en-US');

// A sum of samples: bytes, the exact part of them, and how many samples carry an error.
class Sum {
  constructor() { this.bytes = 0; this.exact = 0; this.k = 0; }
  add(bytes, exact, k) { this.bytes += bytes; this.exact += exact; this.k += k; }
  merge(other) { this.add(other.bytes, other.exact, other.k); }
  // 95 %, by the cube of Wilson and Hilferty.
  interval() {
    if (this.k === 0) return [this.bytes, this.bytes];
    const cube = (df, q) => df * Math.max(0, 1 - 2 / (9 * df) + q * Math.sqrt(2 / (9 * df))) ** 3;
    const mean = (this.bytes - this.exact) / this.k;
    return [this.exact + mean * cube(2 * this.k, -1.96) / 2,
            this.exact + mean * cube(2 * this.k + 2, 1.96) / 2];
  }
  text() {
    if (this.bytes === 0) return '0 B';
    if (this.k === 0) return amount(this.bytes) + ' (exact)';
    const [low, high] = this.interval();
    return `${amount(this.bytes)} ±${Math.ceil((high - low) / 2 / this.bytes * 100)} % (k=${count(this.k)}${this.k < 5 ? ', few' : ''})`;
  }
}

const tree = data.tree, rows = data.rows;
const nodeCount = tree.parent.length;
const kinds = { native: 0, language: 1, collector: 2, other: 3, type: 4 };
const depths = new Int32Array(nodeCount);
const childStart = new Int32Array(nodeCount + 1), childList = new Int32Array(Math.max(nodeCount - 1, 0));
for (let v = 1; v < nodeCount; ++v) { depths[v] = depths[tree.parent[v]] + 1; ++childStart[tree.parent[v] + 1]; }
for (let v = 0; v < nodeCount; ++v) childStart[v + 1] += childStart[v];
{
  const next = childStart.slice();
  for (let v = 1; v < nodeCount; ++v) childList[next[tree.parent[v]]++] = v;
}
const nameOf = (v) => data.names[tree.name[v]];

// Parameters and template arguments make names long: boxes and tables do without.
function brackets(text, open, close) {
  let depth = 0;
  for (let i = 0; i < text.length; ++i) {
    if (text[i] === open) ++depth;
    if (text[i] === close && text[i - 1] !== '-' && --depth === 0) return i + 1;
  }
  return 1;
}
function shorten(name) {
  if (name.startsWith('(') && !name.startsWith('(anonymous namespace)')) return name;
  let text = '';
  for (let rest = name; rest;) {
    let skip = 1;
    if (rest.startsWith('(anonymous namespace)')) { text += '(anon)'; skip = 21; }
    else if (rest.startsWith('operator') && !/\w$/.test(text)) {
      const end = rest.indexOf('(', 9);
      return text + (end < 0 ? rest : rest.slice(0, end));
    }
    else if (rest[0] === '(') { skip = brackets(rest, '(', ')'); if (!rest.slice(skip).includes('::')) break; }
    else if (rest[0] === '<') { skip = brackets(rest, '<', '>'); }
    else text += rest[0];
    rest = rest.slice(skip);
  }
  const blank = text.indexOf(' ');
  if (blank > 0 && text.includes('::', blank)) text = text.slice(text.lastIndexOf(' ') + 1);
  return text || name;
}
const shortNames = new Map();
function shortName(v) {
  const n = tree.name[v];
  if (tree.kind[v] === kinds.type) return data.names[n];
  let text = shortNames.get(n);
  if (text === undefined) shortNames.set(n, text = shorten(data.names[n]));
  return text;
}

// What is selected; each part of it is in the address, so that a view can be passed on.
const state = { view: 'allocates', weight: 0, inverted: false, query: '', range: [0, data.slices], zoom: [] };

// Columns of the rows by weight: bytes, exact bytes, samples.
const columns = [['a', 'ae', 'ak'], ['l', 'le', 'lk'], ['y', 'ye', 'yk']];

// Self and total figures of every node of the call tree within the range.
const totals = { bytes: new Float64Array(nodeCount), exact: new Float64Array(nodeCount), k: new Float64Array(nodeCount),
                 allocated: new Float64Array(nodeCount), young: new Float64Array(nodeCount), live: new Float64Array(nodeCount) };
let self = {};
function inRange(row) { const s = rows.s[row]; return s >= state.range[0] && s < state.range[1]; }
function recompute() {
  const [bytes, exact, k] = columns[state.weight].map((name) => rows[name]);
  for (const column of Object.values(totals)) column.fill(0);
  for (let row = 0; row < rows.v.length; ++row) {
    if (!inRange(row)) continue;
    const v = rows.v[row];
    totals.bytes[v] += bytes[row]; totals.exact[v] += exact[row]; totals.k[v] += k[row];
    totals.allocated[v] += rows.a[row]; totals.young[v] += rows.y[row]; totals.live[v] += rows.l[row];
  }
  self = Object.fromEntries(Object.entries(totals).map(([name, column]) => [name, column.slice()]));
  for (let v = nodeCount - 1; v > 0; --v) {
    const p = tree.parent[v];
    for (const column of Object.values(totals)) column[p] += column[v];
  }
}

// Which part of what was allocated did not die young; without a nursery, which part is alive.
const share = data.generational ? (allocated, young) => 1 - young / allocated
                                : (allocated, young, live) => live / allocated;

// A canvas as wide as its box, sharp on every screen. Gives the context, the width and the height.
function prepare(canvas, height) {
  const width = Math.max(canvas.parentElement.clientWidth - (canvas.id === 'strip' ? 16 : 2), 50);
  const scale = window.devicePixelRatio || 1;
  canvas.style.height = height + 'px';
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '12px system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';
  return [context, width, height];
}
const colors = new Map();
function color(name) {
  if (!colors.has(name)) colors.set(name, getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim());
  return colors.get(name);
}
function mix(a, b, part) {
  const parse = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const [x, y] = [parse(a), parse(b)];
  return `rgb(${x.map((c, i) => Math.round(c + (y[i] - c) * part)).join()})`;
}
function ramp(part) {
  part = Math.min(Math.max(part, 0), 1);
  return part < 0.5 ? mix(color('young'), color('middle'), part * 2) : mix(color('middle'), color('old'), part * 2 - 1);
}
const rampColors = [];
function rampColor(part) {
  if (rampColors.length === 0) for (let i = 0; i <= 40; ++i) rampColors.push(ramp(i / 40));
  return rampColors[Math.round(Math.min(Math.max(part || 0, 0), 1) * 40)];
}

// Elements without markup in texts: names may hold anything.
function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'style') node.style.cssText = value; else if (key === 'class') node.className = value;
    else if (key.startsWith('on')) node[key] = value; else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}
function table(target, heads, lines) {
  target.replaceChildren(
    element('thead', {}, element('tr', {}, ...heads.map((h) => element('th', { class: h.text ? 'text' : '' }, h.name)))),
    element('tbody', {}, ...lines.map((cells) => element('tr', {}, ...cells.map((cell, i) =>
      element('td', { class: heads[i].text ? 'text' : '', ...(typeof cell === 'string' && heads[i].text ? { title: cell } : {}) }, cell))))));
  if (lines.length === 0) target.append(element('tbody', {}, element('tr', {}, element('td', { class: 'text empty', colspan: heads.length }, 'nothing in this range'))));
}
function showTip(event, ...lines) {
  const tip = $('tip');
  tip.replaceChildren(...lines.flatMap((line) => [line, element('br')]).slice(0, -1));
  tip.hidden = false;
  const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 18;
  tip.style.left = Math.max(x, 4) + 'px';
  tip.style.top = (below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : below) + 'px';
}
const hideTip = () => { $('tip').hidden = true; };
