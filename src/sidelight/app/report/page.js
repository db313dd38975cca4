// What happens on hover, tap and keys, for reports and for the studio. Text from data is only ever set as text.
"use strict";
(() => {
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));

  // ---- tips: whatever has data-tip shows it on hover, tap and focus
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "tooltip");
  document.body.append(tip);

  function showTip(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.max(6, Math.min(x + 12, innerWidth - box.width - 6));
    const top = y + 16 + box.height > innerHeight ? y - box.height - 10 : y + 16;
    tip.style.left = left + "px";
    tip.style.top = Math.max(6, top) + "px";
  }
  const hideTip = () => { tip.hidden = true; };
  const tipped = (event) => event.target.closest ? event.target.closest("[data-tip]") : null;
  for (const kind of ["pointermove", "pointerdown"]) {
    document.addEventListener(kind, (event) => {
      const at = tipped(event);
      if (at) showTip(at.dataset.tip, event.clientX, event.clientY);
      else if (!event.target.closest || !event.target.closest("canvas.map")) hideTip();
    });
  }
  document.addEventListener("focusin", (event) => {
    const at = tipped(event);
    if (!at) return hideTip();
    const box = at.getBoundingClientRect();
    showTip(at.dataset.tip, box.left + box.width / 2, box.bottom - 8);
  });
  document.addEventListener("focusout", hideTip);
  document.addEventListener("scroll", hideTip, { passive: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

  // ---- a link to a folded section unfolds it
  function unfold() {
    const section = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const inside = section && section.querySelector(":scope > details");
    if (inside) inside.open = true;
  }
  addEventListener("hashchange", unfold);
  unfold();

  // ---- tables: a click on a title sorts by its column, a second click turns the order around
  function sortBy(title) {
    const head = title.closest("th"), table = title.closest("table"), body = table.tBodies[0];
    const column = Array.from(head.parentNode.children).indexOf(head);
    const turned = head.getAttribute("aria-sort") === (head.classList.contains("number") ? "descending" : "ascending");
    const up = head.classList.contains("number") ? turned : !turned;
    const key = (row) => row.children[column];
    const isNumber = head.classList.contains("number");
    const rows = Array.from(body.rows);
    const compare = (a, b) => {
      if (!isNumber) return key(a).textContent.localeCompare(key(b).textContent, undefined, { numeric: true });
      const x = parseFloat(key(a).dataset.value), y = parseFloat(key(b).dataset.value);
      return (isNaN(x) ? -Infinity : x) - (isNaN(y) ? -Infinity : y) || 0;
    };
    rows.sort((a, b) => (up ? 1 : -1) * compare(a, b));
    body.append(...rows);
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
  }
  document.addEventListener("click", (event) => {
    const title = event.target.closest("button.sort");
    if (title) sortBy(title);
  });

  // ---- commands: a button copies
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const code = button.parentNode.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });

  // ---- contents: the section in view is marked
  const links = new Map(all(".contents a").map((a) => [a.getAttribute("href").slice(1), a]));
  if (links.size && "IntersectionObserver" in window) {
    const seen = new Set();
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) entry.isIntersecting ? seen.add(entry.target.id) : seen.delete(entry.target.id);
      const first = Array.from(links.keys()).find((id) => seen.has(id));
      if (!first) return;
      for (const [id, link] of links) id === first ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
      const strip = links.get(first).closest("ul"), item = links.get(first).parentNode;
      if (strip.scrollWidth > strip.clientWidth) strip.scrollLeft = item.offsetLeft - strip.offsetLeft - 20;
    }, { rootMargin: "-10% 0px -60% 0px" });
    for (const id of links.keys()) { const at = document.getElementById(id); if (at) watch.observe(at); }
  }

  // ---- sounds: one at a time
  document.addEventListener("play", (event) => {
    for (const other of all("audio")) if (other !== event.target) other.pause();
  }, true);

  // ---- paper: everything that is folded opens
  let opened = [];
  addEventListener("beforeprint", () => { opened = all("details:not([open])"); for (const d of opened) d.open = true; });
  addEventListener("afterprint", () => { for (const d of opened) d.open = false; });

  // ---- maps of rows
  const PAD = 14, NEAR = 18;

  function unpack(text, bytes) {
    const raw = atob(text), n = raw.length / bytes, values = new Uint32Array(n);
    for (let i = 0, at = 0; i < n; i++) {
      let value = 0;
      for (let b = 0; b < bytes; b++) value += raw.charCodeAt(at++) * 2 ** (8 * b);
      values[i] = value;
    }
    return values;
  }

  function drawShape(pen, shape, x, y, r) {
    pen.beginPath();
    if (shape === "square") pen.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
    else if (shape === "triangle") { pen.moveTo(x, y - 1.1 * r); pen.lineTo(x + 1.1 * r, y + 0.9 * r); pen.lineTo(x - 1.1 * r, y + 0.9 * r); }
    else if (shape === "diamond") { pen.moveTo(x, y - 1.25 * r); pen.lineTo(x + 1.1 * r, y); pen.lineTo(x, y + 1.25 * r); pen.lineTo(x - 1.1 * r, y); }
    else if (shape === "cross") { const a = 0.35 * r; pen.rect(x - a, y - r, 2 * a, 2 * r); pen.rect(x - r, y - a, 2 * r, 2 * a); }
    else pen.arc(x, y, r, 0, 7);
    pen.fill();
  }

  function startMap(place) {
    const data = JSON.parse(place.querySelector("script[type='application/json']").textContent);
    const canvas = place.querySelector("canvas"), found = place.querySelector(".found"), figure = place.closest("figure");
    const X = unpack(data.x, 2), Y = unpack(data.y, 2), K = unpack(data.k, 2);
    const B = data.b ? unpack(data.b, 4) : null, sure = data.sure ? unpack(data.sure, 2) : null, M = data.m ? unpack(data.m, 2) : null;
    const names = data.ids.map((name) => String(name)), lower = names.map((name) => name.toLowerCase());
    let wide = 0, tall = 0, only = -2, matches = [], current = -1;

    const px = (i) => PAD + (X[i] / 4095) * (wide - 2 * PAD);
    const py = (i) => PAD + (Y[i] / 4095) * (tall - 2 * PAD);
    const isShown = (i) => only === -2 || K[i] - 1 === only;

    function words(i) {
      const parts = [data.what + " " + names[i]];
      if (K[i] > 0) parts.push("cluster " + data.names[K[i] - 1]);
      if (B) parts.push(data.bagWord + " " + data.bags[B[i]]);
      if (sure) parts.push(sure[i] + "% sure");
      if (M && M[i]) parts.push(data.markName);
      return parts.join("\n");
    }

    function draw() {
      const ratio = Math.min(devicePixelRatio || 1, 2);
      wide = canvas.clientWidth; tall = canvas.clientHeight;
      canvas.width = Math.round(wide * ratio); canvas.height = Math.round(tall * ratio);
      const pen = canvas.getContext("2d");
      pen.scale(ratio, ratio);
      const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
      const palette = Array.from({ length: 8 }, (_, c) => colour("--c" + c));
      const r = data.n > 8000 ? 1.8 : data.n > 2000 ? 2.5 : data.n > 400 ? 3.3 : 4.5;
      const still = [], lit = [];
      for (let i = 0; i < data.n; i++) (isShown(i) ? lit : still).push(i);
      pen.globalAlpha = 0.35; pen.fillStyle = colour("--line");
      for (const i of still) drawShape(pen, "circle", px(i), py(i), r * 0.8);
      pen.globalAlpha = data.n > 2000 ? 0.75 : 0.88;
      for (const i of lit) {
        pen.fillStyle = K[i] > 0 ? palette[(K[i] - 1) % 8] : colour("--line");
        drawShape(pen, K[i] > 0 ? data.shapes[K[i] - 1] : "circle", px(i), py(i), M && M[i] ? r * 1.9 : M ? r * 0.8 : r);
      }
      pen.globalAlpha = 1; pen.strokeStyle = colour("--ink"); pen.lineWidth = 2;
      for (const i of matches.slice(0, 500)) { pen.beginPath(); pen.arc(px(i), py(i), r + 4, 0, 7); pen.stroke(); }
      if (current >= 0) { pen.lineWidth = 3; pen.beginPath(); pen.arc(px(current), py(current), r + 6, 0, 7); pen.stroke(); }
    }

    function nearest(x, y) {
      let best = -1, distance = NEAR * NEAR;
      for (let i = 0; i < data.n; i++) {
        if (!isShown(i)) continue;
        const d = (px(i) - x) ** 2 + (py(i) - y) ** 2;
        if (d < distance) { distance = d; best = i; }
      }
      return best;
    }

    function point(i) {
      current = i;
      draw();
      if (i < 0) return hideTip();
      const box = canvas.getBoundingClientRect();
      showTip(words(i), box.left + px(i), box.top + py(i));
    }

    for (const kind of ["pointermove", "pointerdown"]) {
      canvas.addEventListener(kind, (event) => {
        const box = canvas.getBoundingClientRect(), i = nearest(event.clientX - box.left, event.clientY - box.top);
        if (i !== current) point(i);
        else if (i >= 0) showTip(words(i), box.left + px(i), box.top + py(i));
      });
    }
    canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") point(-1); });
    canvas.addEventListener("blur", () => point(-1));

    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    canvas.addEventListener("keydown", (event) => {
      const step = steps[event.key];
      if (!step) return;
      event.preventDefault();
      let best = -1, least = Infinity;
      for (let i = 0; i < data.n; i++) {
        if (!isShown(i) || i === current) continue;
        const dx = current < 0 ? px(i) - wide / 2 : px(i) - px(current), dy = current < 0 ? py(i) - tall / 2 : py(i) - py(current);
        const along = dx * step[0] + dy * step[1], aside = Math.abs(dx * step[1]) + Math.abs(dy * step[0]);
        if (current >= 0 && (along < 0.5 || aside > 2 * along)) continue;
        const cost = current < 0 ? Math.hypot(dx, dy) : along + 2 * aside;
        if (cost < least) { least = cost; best = i; }
      }
      if (best >= 0) { point(best); found.textContent = words(best).replaceAll("\n", ", "); }
    });

    const find = figure.querySelector(".find");
    find.addEventListener("input", () => {
      const wanted = find.value.trim().toLowerCase();
      matches = [];
      if (wanted) {
        const exact = lower.indexOf(wanted);
        for (let i = 0; i < data.n; i++) if (lower[i].includes(wanted)) matches.push(i);
        if (exact >= 0) matches = [exact, ...matches.filter((i) => i !== exact)];
      }
      if (!wanted) found.textContent = "";
      else if (!matches.length) found.textContent = "No drawn " + data.what + " is called that.";
      else found.textContent = matches.length + " found. First: " + words(matches[0]).replaceAll("\n", ", ");
      draw();
    });
    for (const button of all(".filter", figure)) {
      button.addEventListener("click", () => {
        const cluster = Number(button.dataset.cluster);
        only = only === cluster ? -2 : cluster;
        for (const other of all(".filter", figure)) other.setAttribute("aria-pressed", String(Number(other.dataset.cluster) === only));
        current = -1;
        draw();
      });
    }
    new ResizeObserver(draw).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    draw();
  }
  for (const place of all(".row-map")) startMap(place);
})();
