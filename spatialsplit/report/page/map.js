// The map: what fingers, mouse, keys and the form do, and what the chosen quadrat answers.
class AskedMap {
  constructor() {
    this.view = new MapView(JSON.parse(document.getElementById("map-data").textContent));
    this.canvas = document.getElementById("map-canvas");
    this.drawing = new MapDrawing(this.canvas, this.view);
    this.answer = document.getElementById("map-answer");
    this.invitation = this.answer.textContent;
    this.fingers = new Map();
    this.listen();
    new ResizeObserver(() => this.resized()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    this.resized();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.fingers.delete(event.pointerId));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    const click = (id, work) => document.getElementById(id).addEventListener("click", () => this.change(work));
    click("map-in", () => this.view.zoom(1.6));
    click("map-out", () => this.view.zoom(1 / 1.6));
    click("map-all", () => this.view.showAll());
    document.getElementById("map-find").addEventListener("submit", (event) => this.find(event));
    for (const box of document.querySelectorAll("[data-layer]")) box.addEventListener("change", () => this.layer(box));
  }

  change(work) {
    work();
    this.redraw();
  }

  resized() {
    if (!this.canvas.clientWidth) return;
    this.drawing.fit();
    this.redraw();
  }

  redraw() {
    // One finger scrolls the page while all of the map is seen, and moves the map when it is not.
    this.canvas.style.touchAction = this.view.isWhole ? "pan-y" : "none";
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.drawing.draw();
    });
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, this.place(event));
    if (this.fingers.size === 1) this.travelled = 0;
  }

  moved(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const now = this.place(event);
    const [left, top] = [now[0] - before[0], now[1] - before[1]];
    this.travelled += Math.hypot(left, top);
    if (this.fingers.size === 2) this.pinch(event.pointerId, before, now);
    this.view.move(left / this.fingers.size, top / this.fingers.size);
    this.fingers.set(event.pointerId, now);
    this.redraw();
  }

  pinch(id, before, now) {
    const [, other] = [...this.fingers].find(([key]) => key !== id);
    const far = (one) => Math.max(Math.hypot(one[0] - other[0], one[1] - other[1]), 1);
    this.view.zoom(far(now) / far(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    this.travelled += 99;
  }

  up(event) {
    if (this.fingers.delete(event.pointerId) && this.travelled < 6) this.choose(this.view.ask(...this.place(event)));
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    const [left, top] = this.place(event);
    this.change(() => this.view.zoom(Math.exp(-event.deltaY / 400), left, top));
  }

  key(event) {
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const zooms = { "+": 1.6, "=": 1.6, "-": 1 / 1.6 };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (ways[event.key]) this.goTo(this.view.next(...ways[event.key]));
    else if (zooms[event.key]) this.change(() => this.zoomOnChosen(zooms[event.key]));
    else if (event.key === "0") this.change(() => this.view.showAll());
    else if (event.key === "Escape") this.letGo();
    else return;
    event.preventDefault();
  }

  zoomOnChosen(factor) {
    const { view } = this;
    if (view.chosen === null) view.zoom(factor);
    else view.zoom(factor, ...view.toPixel(...view.centre(view.chosen)));
  }

  find(event) {
    event.preventDefault();
    const text = document.getElementById("map-label").value;
    const found = this.view.find(text);
    if (found === null) this.say([`No quadrat has "${text}" in its label.`]);
    else {
      if (this.view.isWhole) this.view.zoom(5, ...this.view.toPixel(...this.view.centre(found)));
      this.goTo(found);
    }
  }

  layer(box) {
    const name = box.dataset.layer === "subset" ? `subset ${box.value}` : box.dataset.layer;
    if (box.checked) this.view.hidden.delete(name);
    else this.view.hidden.add(name);
    this.redraw();
  }

  goTo(i) {
    if (i !== null) this.view.bringIn(i);
    this.choose(i);
  }

  choose(i) {
    this.view.chosen = i;
    if (i === null) this.say(["No quadrat with a survey is here."]);
    else this.tell(i);
    this.redraw();
  }

  letGo() {
    this.view.chosen = null;
    this.say([this.invitation]);
    this.redraw();
  }

  say(lines) {
    this.answer.replaceChildren(...lines.map((line) => this.element("p", line)));
  }

  element(tag, text) {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
  }

  // Text only, never HTML: labels and names come from somebody's data.
  tell(i) {
    const { view } = this;
    const { data } = view;
    const key = `${data.column[i]},${data.row[i]}`;
    const subset = data.subsets[data.subset[i]];
    const records = view.recordsAt(i);
    const about = data.records.sampled ? "about " : "";
    const facts = [["subset", subset], ["surveys", data.surveys[i].toLocaleString("en")]];
    if (data.empty[i]) facts.push(["of them without a species", data.empty[i].toLocaleString("en")]);
    if (view.nSites.get(key)) facts.push(["places on the map", view.nSites.get(key).toLocaleString("en")]);
    if (records !== null) facts.push(["presence-only for training", about + records.toLocaleString("en")]);
    if (data.removed.length) facts.push(["presence-only removed", (view.nRemoved.get(key) || 0).toLocaleString("en")]);
    const list = document.createElement("dl");
    for (const [name, value] of facts) list.append(this.element("dt", name), this.element("dd", value));
    const parts = [this.element("h3", view.label(i)), list];
    if (data.seed) parts.push(this.element("code", `printf '%s' '${data.seed.replaceAll("'", "'\\''")}|test|${view.label(i)}' | sha256sum`));
    this.answer.replaceChildren(...parts);
  }
}

document.documentElement.classList.add("scripted");
new AskedMap();
