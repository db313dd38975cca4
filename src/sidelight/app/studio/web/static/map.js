// The map: every row as a dot on a canvas. Hover shows a row, a click opens it with its neighbours, a lasso chooses a group;
// wheel, pinch, buttons and keys zoom. Dots come as packed numbers; pictures are fetched for the row in question only.
"use strict";
(() => {
  const { call, say } = window.studio;
  const root = document.getElementById("map"), canvas = root.querySelector("canvas"), pen = canvas.getContext("2d");
  const side = document.getElementById("map-side"), tip = document.getElementById("map-tip"), chosenPart = document.getElementById("map-chosen");
  const GRID = 65535, CELLS = 128, NEAR = 14, PAD = 12, MOST_NAMES = 40;
  const made = (tag, text, kind) => { const node = document.createElement(tag); if (text !== undefined) node.textContent = text; if (kind) node.className = kind; return node; };
  const percent = (share) => (share < 1 && share > 0.999 ? ">99.9" : share < 1 && share >= 0.995 ? (100 * share).toFixed(1) : Math.round(100 * share)) + "%";
  let data = null, buckets = null, view = { scale: 1, x: 0, y: 0 }, lasso = null, drag = null, isLasso = false, chosen = [], open = -1, hovered = -1, timer = 0, cards = new Map(), waiting = false, only = -1, paint = null, loads = 0;

  function unpack(text, bytes) {
    const raw = atob(text), buffer = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) buffer[i] = raw.charCodeAt(i);
    return bytes === 1 ? buffer : new Uint16Array(buffer.buffer);
  }

  // Rows by cells of the plane, so that the nearest one is found without looking at all.
  function index() {
    const heads = new Int32Array(CELLS * CELLS).fill(-1), next = new Int32Array(data.n);
    const cell = (v) => Math.min(CELLS - 1, Math.floor(v * CELLS / (GRID + 1)));
    for (let i = 0; i < data.n; i++) { const c = cell(data.y[i]) * CELLS + cell(data.x[i]); next[i] = heads[c]; heads[c] = i; }
    buckets = { heads, next, cell };
  }

  const wide = () => canvas.clientWidth - 2 * PAD, tall = () => canvas.clientHeight - 2 * PAD;
  const toX = (v) => PAD + (v / GRID - view.x) * view.scale * wide(), toY = (v) => PAD + (v / GRID - view.y) * view.scale * tall();
  const fromX = (p) => ((p - PAD) / wide() / view.scale + view.x) * GRID, fromY = (p) => ((p - PAD) / tall() / view.scale + view.y) * GRID;

  function colours() {
    const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue(name).trim();
    const clusters = Array.from({ length: 8 }, (_, i) => of("--c" + i));
    return { clusters, faint: of("--line"), ink: of("--ink"), warn: of("--warn"), accent: of("--accent"), paper: of("--paper") };
  }

  // The colour of every row as a number of the palette; worked out again when the choice of colours changes.
  function painted(colour) {
    const by = root.querySelector("[name=by]").value, key = [by, only, colour.paper, loads].join(" ");
    if (paint && paint.key === key) return paint;
    const palette = [...colour.clusters, colour.faint, colour.warn], FAINT = 8, WARN = 9, at = new Uint8Array(data.n), shape = new Uint8Array(data.n);
    for (let i = 0; i < data.n; i++) {
      if (only >= 0 && data.k[i] !== only) at[i] = FAINT;
      else if (by === "doubt") at[i] = data.sure[i] >= 230 ? FAINT : data.sure[i] >= 178 ? 6 : WARN;
      else {
        const number = by === "person" ? data.who[i] - 1 : data.k[i];
        at[i] = number < 0 ? FAINT : number % 8;
        shape[i] = number < 0 ? 0 : Math.floor(number / 8) % 3;
      }
    }
    const one = document.createElement("canvas"), brush = one.getContext("2d", { willReadFrequently: true });
    one.width = one.height = 1;
    const numbers = new Uint32Array(palette.map((css) => { brush.fillStyle = css; brush.fillRect(0, 0, 1, 1); return new Uint32Array(brush.getImageData(0, 0, 1, 1).data.buffer)[0]; }));
    paint = { key, at, shape, numbers };
    return paint;
  }

  // Dots are written into the pixels themselves: a hundred thousand of them take some milliseconds. There are eight
  // colours; dots of the next eight numbers are hollow, and of the eight after those have a hole across.
  function dots(ratio, size, colour) {
    const { at, shape, numbers } = painted(colour), W = canvas.width, H = canvas.height, image = pen.createImageData(W, H), pixels = new Uint32Array(image.data.buffer);
    const ax = view.scale * wide() / GRID * ratio, bx = (PAD - view.x * view.scale * wide()) * ratio, ay = view.scale * tall() / GRID * ratio, by = (PAD - view.y * view.scale * tall()) * ratio;
    const side = Math.max(1, Math.round(size * ratio)), half = side >> 1;
    for (const isFaint of [true, false]) for (let i = 0; i < data.n; i++) {
      if ((at[i] === 8) !== isFaint) continue;
      const x = Math.round(data.x[i] * ax + bx) - half, y = Math.round(data.y[i] * ay + by) - half;
      if (x < 0 || y < 0 || x + side > W || y + side > H) continue;
      const value = numbers[at[i]], kind = side < 3 ? 0 : shape[i], rim = Math.max(1, side >> 2);
      for (let v = y; v < y + side; v++) {
        const line = v * W + x, isInside = v >= y + rim && v < y + side - rim;
        if (kind === 0 || !isInside) pixels.fill(value, line, line + side);
        else if (kind === 1) { pixels.fill(value, line, line + rim); pixels.fill(value, line + side - rim, line + side); }
      }
    }
    pen.putImageData(image, 0, 0);
  }

  // Where the name of a cluster stands: the middle of its rows, by each axis.
  function middles() {
    const rows = data.names.map(() => []);
    for (let i = 0; i < data.n; i++) rows[data.k[i]].push(i);
    const middle = (of, axis) => { const some = of.filter((_, j) => j % Math.ceil(of.length / 500) === 0).map((i) => axis[i]).sort((a, b) => a - b); return some[some.length >> 1]; };
    data.middles = rows.map((of) => (of.length ? [middle(of, data.x), middle(of, data.y)] : null));
  }

  function names(colour) {
    let named = 0;
    if (root.querySelector("[name=by]").value !== "cluster" || data.sizes.filter((n) => n).length > MOST_NAMES) return;
    pen.font = "600 16px system-ui, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle"; pen.lineJoin = "round";
    data.middles.forEach((place, k) => {
      if (!place || (only >= 0 && only !== k)) return;
      const whole = data.names[k].replace(/^cluster (?=\d+$)/, ""), name = whole.length > 18 ? whole.slice(0, 17) + "…" : whole;
      const half = pen.measureText(name).width / 2 + 2, inside = Math.max(half, Math.min(toX(place[0]), canvas.clientWidth - half));
      const x = Math.abs(inside - toX(place[0])) < half ? inside : toX(place[0]), y = toY(place[1]);  // never cut by the edge
      pen.strokeStyle = colour.paper; pen.lineWidth = 4; pen.strokeText(name, x, y);
      pen.fillStyle = colour.ink; pen.fillText(name, x, y);
      named += 1;
    });
    root.dataset.named = named;
  }

  function draw() {
    waiting = false;
    if (!data) return;
    const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight, colour = colours();
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) { canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio); }
    const size = Math.max(1.5, Math.min(7, 60 / Math.sqrt(data.n) * Math.sqrt(view.scale) + 1.5)), begun = performance.now();
    dots(ratio, size, colour);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    root.dataset.drawn = (performance.now() - begun).toFixed(1);
    names(colour);
    root.dataset.frames = Number(root.dataset.frames || 0) + 1;
    const ring = (i, stroke, r) => { pen.strokeStyle = stroke; pen.lineWidth = 2; pen.beginPath(); pen.arc(toX(data.x[i]), toY(data.y[i]), r, 0, 7); pen.stroke(); };
    if (chosen.length) { pen.strokeStyle = colour.ink; pen.lineWidth = 1; for (const i of chosen) pen.strokeRect(toX(data.x[i]) - size / 2 - 1.5, toY(data.y[i]) - size / 2 - 1.5, size + 3, size + 3); }
    if (open >= 0) ring(open, colour.ink, size + 5);
    if (hovered >= 0) ring(hovered, colour.accent, size + 3);
    if (lasso && lasso.length > 1) { pen.strokeStyle = colour.accent; pen.setLineDash([5, 4]); pen.beginPath(); lasso.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y))); pen.stroke(); pen.setLineDash([]); }
  }
  function later() { if (!waiting) { waiting = true; requestAnimationFrame(draw); } }

  function nearest(px, py) {
    if (!data) return -1;
    const reach = (pixels, extent) => Math.ceil(pixels / extent / view.scale * CELLS) + 1, cx = buckets.cell(fromX(px)), cy = buckets.cell(fromY(py));
    const rx = reach(NEAR, wide()), ry = reach(NEAR, tall());
    let best = -1, least = NEAR * NEAR;
    for (let b = Math.max(0, cy - ry); b <= Math.min(CELLS - 1, cy + ry); b++) for (let a = Math.max(0, cx - rx); a <= Math.min(CELLS - 1, cx + rx); a++) {
      for (let i = buckets.heads[b * CELLS + a]; i >= 0; i = buckets.next[i]) {
        const dx = toX(data.x[i]) - px, dy = toY(data.y[i]) - py, d = dx * dx + dy * dy;
        if (d < least) { least = d; best = i; }
      }
    }
    return best;
  }

  async function card(row) {
    if (!cards.has(row)) {
      if (cards.size > 500) cards.delete(cards.keys().next().value);
      cards.set(row, call(root.dataset.rows + "/" + row));
    }
    return cards.get(row);
  }

  function drawn(found, words) {
    const holder = made("figure", undefined, "zooms"), inside = document.createElement("template");
    inside.innerHTML = found.html;
    holder.append(inside.content, made("figcaption", found.id));
    holder.lastChild.append(made("span", words === undefined ? ", " + found.name + (found.sure === null ? "" : " " + percent(found.sure)) : words, "faint"));
    return holder;
  }

  function hover(row, x, y) {
    if (row === hovered) return;
    hovered = row;
    tip.hidden = true;
    clearTimeout(timer);
    later();
    if (row < 0) return;
    timer = setTimeout(async () => {
      try {
        const found = await card(row);
        if (hovered !== row) return;
        tip.replaceChildren(drawn(found.row));
        tip.hidden = false;
        tip.style.left = Math.min(x + 14, canvas.clientWidth - tip.offsetWidth - 4) + "px";
        tip.style.top = Math.max(0, Math.min(y + 14, canvas.clientHeight - tip.offsetHeight - 4)) + "px";
      } catch (error) { cards.delete(row); say(error.message); }
    }, 90);
  }

  async function show(row) {
    open = row;
    later();
    try {
      const found = await card(row);
      const head = made("h2", found.row.name + (found.row.sure === null ? "" : ", " + percent(found.row.sure) + " sure")), list = made("ul", undefined, "members");
      for (const near of found.near) { const item = made("li"); item.append(drawn(near)); const go = made("button", "open"); go.addEventListener("click", () => show(near.row)); item.append(go); list.append(item); }
      const link = made("a", "Open its cluster");
      link.href = root.dataset.clusters + "/" + found.row.cluster;
      side.replaceChildren(head, drawn(found.row, found.row.sure === null ? "" : ", " + percent(found.row.sure)), ...found.notes.map((note) => made("p", "Note: " + note)), link, made("h3", "Nearest rows"), list);
      side.hidden = false;
    } catch (error) { cards.delete(row); say(error.message); }
  }

  function inside(polygon, x, y) {
    let is = false;
    for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
      const [ax, ay] = polygon[i], [bx, by] = polygon[j];
      if ((ay > y) !== (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax) is = !is;
    }
    return is;
  }

  function choose(rows) {
    chosen = rows;
    chosenPart.hidden = !rows.length;
    chosenPart.querySelector("b").textContent = rows.length.toLocaleString("en") + (rows.length === 1 ? " row" : " rows");
    root.dataset.chosen = rows.length;
    later();
  }

  function zoom(by, px, py) {
    const x = fromX(px) / GRID, y = fromY(py) / GRID, scale = Math.max(1, Math.min(200, view.scale * by));
    view = { scale, x: x - (px - PAD) / wide() / scale, y: y - (py - PAD) / tall() / scale };
    if (scale === 1) view = { scale: 1, x: 0, y: 0 };
    later();
  }

  // ---- pointers: drag moves the map, or draws the lasso; two fingers zoom
  const fingers = new Map();
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    drag = { x: event.offsetX, y: event.offsetY, view: { ...view }, far: 0 };
    if (isLasso || event.shiftKey) lasso = [[event.offsetX, event.offsetY]];
  });
  canvas.addEventListener("pointermove", (event) => {
    const x = event.offsetX, y = event.offsetY;
    if (fingers.size === 2 && fingers.has(event.pointerId)) {
      const [other] = Array.from(fingers).filter(([id]) => id !== event.pointerId).map(([, at]) => at), before = fingers.get(event.pointerId);
      zoom(Math.hypot(x - other[0], y - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1])), (x + other[0]) / 2, (y + other[1]) / 2);
      fingers.set(event.pointerId, [x, y]);
      return;
    }
    if (!drag) return hover(nearest(x, y), x, y);
    drag.far = Math.max(drag.far, Math.hypot(x - drag.x, y - drag.y));
    if (lasso) lasso.push([x, y]);
    else if (drag.far > 4) view = { ...view, x: drag.view.x - (x - drag.x) / wide() / view.scale, y: drag.view.y - (y - drag.y) / tall() / view.scale };
    later();
  });
  canvas.addEventListener("pointerup", (event) => {
    fingers.delete(event.pointerId);
    if (drag && drag.far <= 4) { const row = nearest(event.offsetX, event.offsetY); if (row >= 0) show(row); }
    else if (lasso) { const rows = []; for (let i = 0; i < data.n; i++) if (inside(lasso, toX(data.x[i]), toY(data.y[i]))) rows.push(i); choose(rows); }
    drag = lasso = null;
    later();
  });
  canvas.addEventListener("pointercancel", (event) => { fingers.delete(event.pointerId); drag = lasso = null; });
  canvas.addEventListener("pointerleave", () => hover(-1));
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY); }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 0.15 / view.scale, moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }, at = moves[event.key];
    if (at) view = { ...view, x: view.x + at[0], y: view.y + at[1] };
    else if (event.key === "+" || event.key === "=") zoom(1.5, canvas.clientWidth / 2, canvas.clientHeight / 2);
    else if (event.key === "-") zoom(1 / 1.5, canvas.clientWidth / 2, canvas.clientHeight / 2);
    else if (event.key === "Escape") choose([]);
    else return;
    event.preventDefault();
    later();
  });

  // ---- buttons
  for (const button of root.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => { const by = Number(button.dataset.zoom); if (by) zoom(by, canvas.clientWidth / 2, canvas.clientHeight / 2); else { view = { scale: 1, x: 0, y: 0 }; later(); } });
  const pull = root.querySelector("[data-lasso]");
  pull.addEventListener("click", () => { isLasso = !isLasso; pull.setAttribute("aria-pressed", String(isLasso)); canvas.classList.toggle("lasso", isLasso); });
  root.querySelector("[name=by]").addEventListener("change", () => { legend(); later(); });
  chosenPart.addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = event.submitter && event.submitter.dataset.name !== undefined ? chosenPart.querySelector("input").value.trim() : "";
    if (event.submitter && event.submitter.dataset.name !== undefined && !name) return say("Type a name first.");
    try {
      const kept = await call(root.dataset.together, { rows: chosen, name });
      say("");
      root.querySelector("[role=status]").textContent = "Saved: " + kept.said + " said of " + chosen.length + " rows.";
      choose([]);
      cards = new Map();
      load();
    } catch (error) { say(error.message); }
  });

  function legend() {
    const by = root.querySelector("[name=by]").value, colour = colours(), list = root.querySelector(".legend");
    const dotOf = (i) => { const dot = made("span", undefined, "dot " + ["", "hollow", "across"][Math.floor(i / 8) % 3]); dot.style.setProperty("--dot", colour.clusters[i % 8]); return dot; };
    const item = (i, words, k) => { const button = made("button", undefined, "filter"); button.append(dotOf(i), " " + words); button.setAttribute("aria-pressed", String(only === k)); button.addEventListener("click", () => { only = only === k ? -1 : k; legend(); later(); }); return button; };
    if (by === "person") list.replaceChildren(...data.people.map((name, i) => { const label = made("span"); label.append(dotOf(i), " " + name); return label; }));
    else if (by === "doubt") list.replaceChildren(made("span", "Strong colour: less than 70% sure; middle: less than 90%.", "faint"));
    else list.replaceChildren(...data.names.map((name, k) => [name, k]).filter(([, k]) => data.sizes[k]).slice(0, 60).map(([name, k]) => item(k, name + " " + data.sizes[k].toLocaleString("en"), k)));
  }

  async function load() {
    try {
      const found = await call(root.dataset.map);
      data = { ...found, x: unpack(found.x, 2), y: unpack(found.y, 2), k: unpack(found.k, 2), who: unpack(found.who, 2), sure: unpack(found.sure, 1) };
      loads += 1;
      index();
      middles();
      legend();
      root.dataset.ready = data.n;
      later();
    } catch (error) { say(error.message); setTimeout(load, 2000); }
  }
  addEventListener("resize", later);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
  load();
})();
