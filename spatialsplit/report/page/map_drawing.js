// Draws a view on a canvas, in the colours that the page has at the moment.
class MapDrawing {
  constructor(canvas, view) {
    this.canvas = canvas;
    this.view = view;
    this.pen = canvas.getContext("2d");
  }

  colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  subsetColour(name) {
    return this.colour(["train", "val", "test"].includes(name) ? name : "other");
  }

  fit() {
    const { clientWidth, clientHeight } = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.view.resize(clientWidth, clientHeight);
  }

  draw() {
    const { pen, view } = this;
    pen.clearRect(0, 0, view.width, view.height);
    if (!view.hidden.has("records")) this.records();
    this.lines();
    this.quadrats();
    if (!view.hidden.has("sites")) this.sites();
    if (!view.hidden.has("removed")) this.removed();
    this.chosen();
    this.ruler();
  }

  records() {
    const { pen, view } = this;
    const { at, n, side } = view.data.records;
    const px = Math.max(side * view.scale, 1.5);
    const shade = this.colour("shade");
    for (let i = 0; i < n.length; i += 1) {
      const [left, top] = view.toPixel(at[2 * i], at[2 * i + 1] + side);
      if (this.outside(left, top, px)) continue;
      pen.fillStyle = `rgba(${shade},${0.1 + 0.3 * (Math.log1p(n[i]) / Math.log1p(view.mostRecords))})`;
      pen.fillRect(left, top, px, px);
    }
  }

  outside(left, top, px) {
    return left + px < 0 || top + px < 0 || left > this.view.width || top > this.view.height;
  }

  lines() {
    const { pen, view } = this;
    pen.strokeStyle = this.colour("rule");
    pen.lineWidth = 1;
    for (const { at } of view.data.lines) {
      pen.beginPath();
      for (let i = 0; i < at.length; i += 2) pen.lineTo(...view.toPixel(at[i], at[i + 1]));
      pen.stroke();
    }
    pen.fillStyle = this.colour("soft");
    pen.font = "11px system-ui, sans-serif";
    for (const line of view.data.lines) this.lineWord(line);
  }

  // A meridian's word stands at the lower edge, a parallel's at the left one.
  lineWord({ at, word, upright }) {
    const { pen, view } = this;
    for (let i = 2; i < at.length; i += 2) {
      const [a, b] = view.toPixel(at[i - 2], at[i - 1]);
      const [c, d] = view.toPixel(at[i], at[i + 1]);
      const edge = upright ? view.height - 8 : 8;
      const [from, to] = upright ? [b, d] : [a, c];
      if ((from - edge) * (to - edge) > 0 || from === to) continue;
      const share = (edge - from) / (to - from);
      const left = upright ? a + share * (c - a) + 3 : edge;
      const top = upright ? edge : b + share * (d - b) - 4;
      if (upright && (left < 120 || left > view.width - 40)) return;
      if (!upright && (top < 14 || top > view.height - 60)) return;
      pen.fillText(word, left, top);
      return;
    }
  }

  // Quadrats are never too small to be seen: few ones are drawn larger than many, holdouts a little larger than train.
  get least() {
    const { width, height, data } = this.view;
    return Math.min(Math.max(Math.sqrt((0.1 * width * height) / (data.column.length || 1)), 2), 6);
  }

  quadrats() {
    const { view } = this;
    const { data } = view;
    const order = [...data.subsets.keys()].sort((a, b) => (data.subsets[b] === "train") - (data.subsets[a] === "train"));
    for (const number of order) {
      if (view.hidden.has(`subset ${data.subsets[number]}`)) continue;
      this.pen.fillStyle = this.subsetColour(data.subsets[number]);
      data.subset.forEach((each, i) => each === number && this.quadrat(i, data.subsets[number]));
    }
  }

  quadrat(i, name) {
    const { pen, view } = this;
    const { size, column, row } = view.data;
    const true_px = size * view.scale;
    const px = Math.max(true_px, this.least * (name === "train" ? 1 : 1.25));
    const [left, top] = view.toPixel(column[i] * size, (row[i] + 1) * size);
    if (this.outside(left, top, px)) return;
    const gap = px > 6 ? 0.5 : 0;
    pen.fillRect(left, top, px - gap, px - gap);
    if (true_px >= 8) this.pattern(left, top, px - gap, name);
  }

  // Not by colour alone: test has a stroke from corner to corner, val a dot.
  pattern(left, top, px, name) {
    const { pen } = this;
    const before = pen.fillStyle;
    pen.strokeStyle = pen.fillStyle = this.paper;
    pen.lineWidth = Math.max(1, px / 12);
    if (name === "test") {
      pen.beginPath();
      pen.moveTo(left, top + px);
      pen.lineTo(left + px, top);
      pen.stroke();
    } else if (name === "val") {
      pen.beginPath();
      pen.arc(left + px / 2, top + px / 2, Math.max(1.2, px / 8), 0, 7);
      pen.fill();
    }
    pen.fillStyle = before;
  }

  get paper() {
    return this.colour("paper");
  }

  sites() {
    const { pen, view } = this;
    const { at } = view.data.sites;
    if (view.data.size && view.data.size * view.scale < 2.5) return; // so far out they would hide their quadrats
    const reach = view.data.size ? Math.min(Math.max(0.8, (view.data.size * view.scale) / 15), 4.5) : 3;
    pen.lineWidth = 1.4;
    pen.strokeStyle = this.colour("ink");
    pen.fillStyle = reach < 2 ? this.colour("ink") : this.paper;
    for (let i = 0; i < at.length; i += 2) {
      const [left, top] = view.toPixel(at[i], at[i + 1]);
      if (this.outside(left, top, reach)) continue;
      pen.beginPath();
      pen.arc(left, top, reach, 0, 7);
      pen.fill();
      if (reach >= 2) pen.stroke();
    }
  }

  removed() {
    const { pen, view } = this;
    const at = view.data.removed;
    const reach = Math.min(Math.max(1.6, (view.data.size * view.scale) / 9), 4);
    pen.strokeStyle = this.colour("removed");
    pen.lineWidth = reach < 2.5 ? 1 : 1.7;
    pen.beginPath();
    for (let i = 0; i < at.length; i += 2) {
      const [left, top] = view.toPixel(at[i], at[i + 1]);
      if (this.outside(left, top, 4)) continue;
      pen.moveTo(left - reach, top - reach);
      pen.lineTo(left + reach, top + reach);
      pen.moveTo(left + reach, top - reach);
      pen.lineTo(left - reach, top + reach);
    }
    pen.stroke();
  }

  chosen() {
    const { pen, view } = this;
    if (view.chosen === null) return;
    const { size, column, row } = view.data;
    const [left, top] = view.toPixel(column[view.chosen] * size, (row[view.chosen] + 1) * size);
    const px = Math.max(size * view.scale, 4);
    for (const [colour, width] of [[this.paper, 6], [this.colour("ink"), 3]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.strokeRect(left - 3, top - 3, px + 6, px + 6);
    }
  }

  ruler() {
    const { pen, view } = this;
    const wanted = 110 / view.scale;
    const power = 10 ** Math.floor(Math.log10(wanted));
    const metres = [5, 2, 1].map((n) => n * power).find((n) => n <= wanted);
    const px = metres * view.scale;
    pen.fillStyle = this.paper;
    pen.globalAlpha = 0.85;
    pen.fillRect(8, view.height - 36, px + 16, 28);
    pen.globalAlpha = 1;
    pen.fillStyle = this.colour("ink");
    pen.fillRect(16, view.height - 16, px, 2);
    pen.font = "12px system-ui, sans-serif";
    pen.fillText(metres >= 1000 ? `${metres / 1000} km` : `${metres} m`, 16, view.height - 21);
  }
}
