// What is on the map and where one looks: metres from the south-western corner, pixels from the upper left.
class MapView {
  constructor(data) {
    this.data = data;
    this.width = this.height = 1;
    this.byCell = new Map(data.column.map((column, i) => [`${column},${data.row[i]}`, i]));
    this.hidden = new Set();
    this.chosen = null;
    this.countPoints();
  }

  countPoints() {
    const { data } = this;
    this.nSites = new Map();
    this.nRemoved = new Map();
    const count = (points, into) => {
      for (let i = 0; i < points.length; i += 2) {
        const key = this.cellAt(points[i], points[i + 1]);
        into.set(key, (into.get(key) || 0) + 1);
      }
    };
    count(data.sites.at, this.nSites);
    count(data.removed, this.nRemoved);
    const { at, n, side } = data.records;
    this.nRecords = new Map(n.map((number, i) => [`${Math.round(at[2 * i] / side)},${Math.round(at[2 * i + 1] / side)}`, number]));
    this.mostRecords = n.reduce((most, number) => Math.max(most, number), 1);
  }

  cellAt(east, north) {
    return `${Math.floor(east / this.data.size)},${Math.floor(north / this.data.size)}`;
  }

  recordsAt(i) {
    const { records, column, row, size } = this.data;
    if (!records.n.length || records.side !== size) return null;
    return Math.round((this.nRecords.get(`${column[i]},${row[i]}`) || 0) * records.scale);
  }

  label(i) {
    const { labels, column, row, size, west, south } = this.data;
    if (labels.each) return labels.each[i];
    return labels.pattern.replace("{n}", south + row[i] * size).replace("{e}", west + column[i] * size);
  }

  find(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return null;
    let near = null;
    for (let i = 0; i < this.data.column.length; i += 1) {
      const label = this.label(i).toLowerCase();
      if (label === wanted) return i;
      if (near === null && label.includes(wanted)) near = i;
    }
    return near;
  }

  resize(width, height) {
    const first = this.width === 1;
    this.width = width;
    this.height = height;
    if (first) this.showAll();
  }

  // Pixels a metre that show everything, with some air.
  get whole() {
    const [west, south, east, north] = this.data.extent;
    return 0.92 * Math.min(this.width / (east - west), this.height / (north - south));
  }

  showAll() {
    const [west, south, east, north] = this.data.extent;
    this.east = (west + east) / 2;
    this.north = (south + north) / 2;
    this.scale = this.whole;
  }

  get isWhole() {
    return this.scale <= this.whole * 1.001;
  }

  toPixel(east, north) {
    return [this.width / 2 + (east - this.east) * this.scale, this.height / 2 - (north - this.north) * this.scale];
  }

  toMetre(left, top) {
    return [this.east + (left - this.width / 2) / this.scale, this.north - (top - this.height / 2) / this.scale];
  }

  zoom(factor, left = this.width / 2, top = this.height / 2) {
    const [east, north] = this.toMetre(left, top);
    const most = Math.max(this.whole * 2, (0.5 * Math.min(this.width, this.height)) / Math.max(this.data.size, 100));
    this.scale = Math.min(Math.max(this.scale * factor, this.whole * 0.7), most);
    this.east = east - (left - this.width / 2) / this.scale;
    this.north = north + (top - this.height / 2) / this.scale;
  }

  move(left, top) {
    const [west, south, east, north] = this.data.extent;
    this.east = Math.min(Math.max(this.east - left / this.scale, west), east);
    this.north = Math.min(Math.max(this.north + top / this.scale, south), north);
  }

  centre(i) {
    const { column, row, size } = this.data;
    return [(column[i] + 0.5) * size, (row[i] + 0.5) * size];
  }

  isShown(i) {
    return !this.hidden.has(`subset ${this.data.subsets[this.data.subset[i]]}`);
  }

  // The quadrat under a pixel, or the nearest one within a finger's width.
  ask(left, top) {
    const [east, north] = this.toMetre(left, top);
    const exact = this.byCell.get(this.cellAt(east, north));
    if (exact !== undefined && this.isShown(exact)) return exact;
    let best = null;
    let least = 14 / this.scale + this.data.size / 2;
    for (let i = 0; i < this.data.column.length; i += 1) {
      const [x, y] = this.centre(i);
      const far = Math.max(Math.abs(x - east), Math.abs(y - north));
      if (far < least && this.isShown(i)) {
        least = far;
        best = i;
      }
    }
    return best;
  }

  // The next quadrat in a direction: straight ahead counts as near, aside as twice as far.
  next(right, up) {
    if (this.chosen === null) return this.ask(this.width / 2, this.height / 2) ?? this.nearest(this.east, this.north);
    const [east, north] = this.centre(this.chosen);
    let best = this.chosen;
    let least = Infinity;
    for (let i = 0; i < this.data.column.length; i += 1) {
      const [x, y] = this.centre(i);
      const ahead = (x - east) * right + (y - north) * up;
      const aside = Math.abs((x - east) * up) + Math.abs((y - north) * right);
      if (ahead > 0 && aside <= ahead && this.isShown(i) && ahead + 2 * aside < least) {
        least = ahead + 2 * aside;
        best = i;
      }
    }
    return best;
  }

  nearest(east, north) {
    let best = null;
    let least = Infinity;
    for (let i = 0; i < this.data.column.length; i += 1) {
      const [x, y] = this.centre(i);
      const far = Math.hypot(x - east, y - north);
      if (far < least && this.isShown(i)) {
        least = far;
        best = i;
      }
    }
    return best;
  }

  bringIn(i) {
    const [left, top] = this.toPixel(...this.centre(i));
    const air = 30;
    if (left < air || top < air || left > this.width - air || top > this.height - air) {
      [this.east, this.north] = this.centre(i);
    }
  }
}
