// Sorting: ten rows as tiles, piles beside them; a row goes onto a pile by drag, by key, by tap. What is put is on this page
// until it is sent. Text from data is only ever set as text; the markup of a row is made by the server.
"use strict";
(() => {
  const { call, say, players } = window.studio;
  const root = document.getElementById("sort"), base = root.dataset.base, areLabels = Boolean(root.dataset.labels);
  const tiles = document.getElementById("tiles"), list = document.getElementById("piles"), send = document.getElementById("send");
  const saving = document.getElementById("saving"), two = document.getElementById("one-pile"), dialog = document.getElementById("pile");
  const narrow = window.matchMedia("(max-width: 40rem)").matches, N = narrow ? 4 : 10;
  const LETTERS = "abcdefghijklmoqrstvwyz".split("");  // n, p, u and x do something else
  const ASIDE = "aside", TIMES = [1500, 3000, 6000];
  let screen = null, piles = [], put = [], at = 0, since = 0, nextNew = -1, later = 0, isSending = false, warned = false, doubtful = null;

  const made = (tag, text, kind) => { const node = document.createElement(tag); if (text !== undefined) node.textContent = text; if (kind) node.className = kind; return node; };
  const inside = (html) => { const holder = document.createElement("template"); holder.innerHTML = html; return holder.content; };
  const pileOf = (number) => piles.find((pile) => pile.number === number);
  const letterOf = (row) => { const order = [...row.likely.filter(pileOf), ...piles.map((pile) => pile.number)].filter((n, i, all) => all.indexOf(n) === i); return Object.fromEntries(order.slice(0, LETTERS.length).map((n, i) => [n, LETTERS[i]])); };

  // ---- tiles
  function drawTiles() {
    tiles.replaceChildren(...screen.rows.map((row, i) => {
      const tile = made("li", undefined, "tile"), holder = made("div", undefined, "look zooms");
      tile.tabIndex = 0;
      tile.draggable = true;
      tile.dataset.at = i;
      holder.append(inside(row.html));
      for (const picture of holder.querySelectorAll("img")) picture.draggable = false;
      if (row.copies > 1) tile.append(made("span", "×" + row.copies, "copies"));
      tile.append(holder, made("span", row.id, "name"), made("span", "", "place"));
      return tile;
    }));
    players(tiles);
    paint();
  }

  function paint() {
    for (const [i, tile] of Array.from(tiles.children).entries()) {
      if (!screen || !screen.rows[i]) return;
      const row = screen.rows[i], where = put[i], place = tile.querySelector(".place"), first = row.likely.map(pileOf).find(Boolean);
      tile.classList.toggle("done", where !== undefined);
      tile.classList.toggle("aside", where === ASIDE);
      tile.classList.toggle("now", i === at);
      place.textContent = where === ASIDE ? "aside" : where !== undefined ? pileOf(where).name : i === at && first ? "A: " + first.name + "?" : "";
      tile.setAttribute("aria-label", row.id + (row.copies > 1 ? ", " + row.copies + " copies" : "") + (where === ASIDE ? ", aside" : where !== undefined ? ", on " + pileOf(where).name : ""));
    }
    const missing = screen ? screen.rows.filter((_, i) => put[i] === undefined).length : 0;
    send.disabled = !screen || isSending || missing === (screen ? screen.rows.length : 0);
    send.querySelector("span").textContent = missing && !send.disabled ? "Send, " + missing + " aside" : "Send";
    paintPiles();
  }

  // ---- piles
  function paintPiles() {
    const row = screen && screen.rows[at], letters = row ? letterOf(row) : {}, likely = row ? row.likely.slice(0, 3) : [];
    for (const item of list.querySelectorAll("[data-pile]")) {
      const number = keyOf(item), key = item.querySelector("kbd"), extra = put.filter((where) => where === number).length;
      key.textContent = letters[number] ? letters[number].toUpperCase() : "";
      item.classList.toggle("likely", likely.includes(number));
      item.classList.toggle("first", likely[0] === number);
      item.querySelector(".size").textContent = String(pileOf(number).size + extra);
    }
  }
  const keyOf = (item) => piles[Number(item.dataset.pile)].number;

  function drawPiles() {
    const items = piles.map((pile, i) => {
      const item = made("li", undefined, "pile-of"), look = made("button", undefined, "onto"), about = made("button", "…", "about");
      item.dataset.pile = i;
      look.append(made("kbd", ""), made("span", undefined, "small"), made("span", pile.name, "called"), made("span", "", "size faint"));
      look.querySelector(".small").append(inside(pile.html || ""));
      for (const sound of look.querySelectorAll("audio")) sound.remove();  // a button holds no player
      for (const picture of look.querySelectorAll("img")) { picture.alt = ""; picture.draggable = false; }
      look.addEventListener("click", () => place(pile.number));
      about.setAttribute("aria-label", "Name, look at or change " + pile.name);
      about.addEventListener("click", () => open(pile));
      item.append(look);
      if (!areLabels) item.append(about);
      return item;
    });
    const empty = made("li", undefined, "pile-of empty"), fresh = made("button", undefined, "onto");
    empty.dataset.fresh = "yes";
    fresh.append(made("kbd", "N"), made("span", areLabels ? "Another name" : "A new pile", "called"));
    fresh.addEventListener("click", () => place("new"));
    empty.append(fresh);
    const off = made("li", undefined, "pile-of off"), aside = made("button", undefined, "onto");
    off.dataset.off = "yes";
    aside.append(made("kbd", "X"), made("span", "Leave aside", "called"));
    aside.addEventListener("click", () => place(ASIDE));
    off.append(aside);
    list.replaceChildren(...items, empty, off);
    paintPiles();
  }

  function place(where) {
    if (!screen || isSending) return;
    if (where === "new") {
      let name = areLabels ? window.prompt("What is it?") : "";
      if (areLabels && !(name && name.trim())) return;
      name = (name || "").trim();
      const known = piles.find((pile) => pile.name === name);
      if (known) where = known.number;
      else {
        const row = screen.rows[at], number = nextNew--;
        piles.push({ number, name: name || "new pile " + -number, size: 0, html: row.html, isNamed: Boolean(name) });
        where = number;
        drawPiles();
      }
    }
    put[at] = where;
    warned = false;
    dropEmpty();
    const next = [...screen.rows.keys()].map((i) => (at + 1 + i) % screen.rows.length).find((i) => put[i] === undefined);
    if (next === undefined) { paint(); send.focus(); } else focus(next);
  }

  // A new pile that no row is on any more is none.
  function dropEmpty() {
    const kept = piles.filter((pile) => !(typeof pile.number === "number" && pile.number < 0) || put.includes(pile.number));
    if (kept.length !== piles.length) { piles = kept; drawPiles(); }
  }

  function focus(i) {
    at = i;
    paint();
    const tile = tiles.children[i];
    if (tile && document.activeElement !== tile) tile.focus({ preventScroll: false });
  }

  // ---- to and from the server
  function take(found) {
    piles = found.piles.map((pile) => ({ ...pile }));
    doubtful = found.doubtful;
    progress(found.status);
    nextNew = -1;
    put = [];
    at = 0;
    warned = false;
    screen = found.screen;
    drawPiles();
    askAboutTwo();
    if (!screen) { tiles.replaceChildren(made("li", found.status.failure || "Every row that may be asked about is sorted.", "faint")); paint(); return; }
    drawTiles();
    since = performance.now();
    isSending = false;
    focus(0);
    clearTimeout(later);
    later = setTimeout(async () => { try { progress(await call(base + "/status")); } catch { /* the next screen says so */ } }, 1500);
  }

  function progress(status) {
    const write = (id, text) => { const node = document.getElementById(id); if (node) node.textContent = text; };
    write("n-placed", status.placed.toLocaleString("en"));
    write("placed-word", status.placed === 1 ? "row" : "rows");
    write("sentence", status.sentence);
    const parts = [];
    if (status.clusters && status.placed) parts.push(status.clusters + " clusters");
    if (status.agreement !== null && status.agreement !== undefined) parts.push("agreement with the key " + status.agreement.toFixed(2));
    write("more", parts.length ? ", " + parts.join(", ") : "");
  }

  async function more() {
    for (const wait of [...TIMES, 0]) {
      try { take(await call(base + "/screen?n=" + N)); say(""); return; }
      catch (error) { say(error.message); if (!error.lost && error.status !== 503) return; await new Promise((done) => setTimeout(done, wait)); }
    }
  }

  async function submit() {
    if (!screen || isSending) return;
    const missing = [...screen.rows.keys()].filter((i) => put[i] === undefined);
    if (missing.length && !warned) {
      warned = true;
      saving.textContent = missing.length + (missing.length === 1 ? " row has" : " rows have") + " no place yet. Enter once more leaves " + (missing.length === 1 ? "it" : "them") + " aside.";
      return focus(missing[0]);
    }
    isSending = true;
    send.disabled = true;
    const called = Object.fromEntries(piles.filter((pile) => typeof pile.number === "number" && pile.number < 0 && pile.isNamed).map((pile) => [String(pile.number), pile.name]));
    const key = Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("");
    const body = { rows: screen.rows.map((row) => row.row), placements: screen.rows.map((_, i) => (put[i] === undefined ? ASIDE : put[i])), called, number: screen.number, screen: screen.key, seconds: (performance.now() - since) / 1000, key };
    for (;;) {
      try {
        const found = await call(base + "/screens?n=" + N, body);
        say("");
        saving.textContent = "Saved.";
        if (found.way === "pairs" && root.dataset.by === "auto" && found.screen) { location.reload(); return; }
        return take(found);
      } catch (error) {
        if (error.lost || error.status === 503) {
          say(error.message + " What you sorted is kept on this page and sent again.");
          await new Promise((done) => setTimeout(done, 1500));
          continue;
        }
        isSending = false;
        if (error.status === 409) { await more(); say("This page was out of date, and is up to date now. " + error.message); return; }
        say(error.message);
        await renew();
        return;
      }
    }
  }

  // The piles are others than this page knew: what was put on piles that are gone has no place again.
  async function renew() {
    const before = put, mine = piles.filter((pile) => typeof pile.number === "number" && pile.number < 0);
    try { piles = [...(await call(base + "/screen?n=" + N)).piles, ...mine]; } catch { return paint(); }
    put = before.map((where) => (where === ASIDE || where === undefined || pileOf(where) ? where : undefined));
    drawPiles();
    paint();
  }

  async function undo() {
    if (isSending) return;
    const last = put[at] !== undefined ? at : put.findLastIndex((where) => where !== undefined);
    if (screen && last >= 0) { put[last] = undefined; warned = false; dropEmpty(); return focus(last); }
    try {
      const back = await call(base + "/undo", {}), found = await call(base + "/screen?n=" + (back.rows ? back.rows.length : N));
      take(found);
      if (back.rows && screen) {
        const where = new Map(back.rows.map((row, i) => [row, back.placements[i]]));
        put = screen.rows.map((row) => { const pile = where.get(row.row); return pile !== undefined && pile !== null && pileOf(pile) ? pile : undefined; });
        paint();
      }
      say("");
      saving.textContent = "Taken back: " + back.answer + ".";
    } catch (error) { say(error.message); }
  }

  // ---- are these two piles one?
  async function change(body) {
    try { await call(base + "/piles", body); say(""); await renew(); return true; } catch (error) { say(error.message); return false; }
  }
  function askAboutTwo() {
    const pair = doubtful && [pileOf(doubtful.pile), pileOf(doubtful.other)];
    two.hidden = !(pair && pair[0] && pair[1]);
    if (two.hidden) return;
    const looks = made("div", undefined, "looks");
    for (const pile of pair) { const one = made("figure"); one.append(inside(pile.html || ""), made("figcaption", pile.name)); looks.append(one); }
    const yes = made("button", "One pile"), no = made("button", "Keep them apart");
    const settle = (act) => async () => { two.hidden = true; await change({ act, pile: doubtful.pile, other: doubtful.other }); };
    yes.addEventListener("click", settle("merge"));
    no.addEventListener("click", settle("apart"));
    const acts = made("p", undefined, "actions");
    acts.append(yes, no);
    two.replaceChildren(made("p", "Are these two piles one?"), looks, acts);
    players(two);
  }

  // ---- one pile: its name, its rows, what it is part of
  async function open(pile) {
    if (typeof pile.number === "number" && pile.number < 0) return rename(pile);
    let found;
    try { found = await call(base + "/piles/" + pile.number); } catch (error) { return say(error.message); }
    const form = made("form", undefined, "inline"), label = made("label", "Name "), field = made("input"), name = made("button", "Rename");
    field.value = found.name;
    field.maxLength = 200;
    label.append(field);
    form.append(label, name);
    form.addEventListener("submit", async (event) => { event.preventDefault(); if (await change({ act: "rename", pile: pile.number, name: field.value })) dialog.close(); });
    const rows = made("ul", undefined, "members"), chosen = new Set(), part = made("button", "Take the chosen rows onto a new pile");
    part.disabled = true;
    for (const card of found.cards) {
      const item = made("li"), pick = made("button", card.id, "pick");
      item.append(inside(card.html));
      pick.setAttribute("aria-pressed", "false");
      pick.addEventListener("click", () => {
        const on = pick.getAttribute("aria-pressed") !== "true";
        pick.setAttribute("aria-pressed", String(on));
        if (on) chosen.add(card.row); else chosen.delete(card.row);
        part.disabled = !chosen.size;
      });
      item.append(pick);
      rows.append(item);
    }
    part.addEventListener("click", async () => { if (await change({ act: "split", pile: pile.number, rows: Array.from(chosen) })) dialog.close(); });
    const merge = made("label", "Is the same as "), select = made("select"), close = made("button", "Close");
    select.append(made("option", "…"), ...piles.filter((other) => other !== pile && !(other.number < 0)).map((other) => Object.assign(made("option", other.name), { value: String(other.number) })));
    select.addEventListener("change", async () => { if (select.value !== "…" && (await change({ act: "merge", pile: Number(select.value), other: pile.number }))) dialog.close(); });
    merge.append(select);
    close.addEventListener("click", () => dialog.close());
    const acts = made("p", undefined, "actions");
    acts.append(part, merge, close);
    dialog.replaceChildren(made("h2", found.name + ", " + found.size + (found.size === 1 ? " row" : " rows")), form, rows, acts);
    players(dialog);
    dialog.showModal();
  }
  function rename(pile) {
    const name = window.prompt("What is this pile called?", pile.isNamed ? pile.name : "");
    if (!name || !name.trim() || piles.some((other) => other !== pile && other.name === name.trim())) return;
    pile.name = name.trim();
    pile.isNamed = true;
    drawPiles();
    paint();
  }

  // ---- by hand
  tiles.addEventListener("focusin", (event) => {
    const tile = event.target.closest(".tile");
    if (!tile) return;
    at = Number(tile.dataset.at);
    paint();
    const sound = tile.querySelector("audio");
    if (sound && event.target === tile && navigator.userActivation && navigator.userActivation.hasBeenActive) { sound.currentTime = 0; sound.play().catch(() => { /* the browser wants a click first */ }); }
  });
  tiles.addEventListener("dragstart", (event) => { const tile = event.target.closest(".tile"); if (!tile) return; at = Number(tile.dataset.at); event.dataTransfer.effectAllowed = "move"; event.dataTransfer.setData("text/plain", String(at)); tile.classList.add("dragged"); paintPiles(); });
  tiles.addEventListener("dragend", (event) => { const tile = event.target.closest(".tile"); if (tile) tile.classList.remove("dragged"); });
  const over = (event) => event.target.closest("[data-pile], [data-fresh], [data-off]");
  list.addEventListener("dragover", (event) => { const item = over(event); if (item) { event.preventDefault(); item.classList.add("over"); } });
  list.addEventListener("dragleave", (event) => { const item = over(event); if (item && !item.contains(event.relatedTarget)) item.classList.remove("over"); });
  list.addEventListener("drop", (event) => {
    const item = over(event);
    if (!item) return;
    event.preventDefault();
    item.classList.remove("over");
    at = Number(event.dataTransfer.getData("text/plain")) || 0;
    place(item.dataset.off ? ASIDE : item.dataset.fresh ? "new" : keyOf(item));
  });
  send.addEventListener("click", () => { warned = true; submit(); });
  root.querySelector("[data-undo]").addEventListener("click", undo);

  let next = 0;
  function play() {
    const sounds = Array.from(tiles.querySelectorAll("audio"));
    if (!sounds.length) return;
    const playing = sounds.findIndex((sound) => !sound.paused);
    if (playing >= 0) { sounds[playing].pause(); next = playing + 1; }
    const sound = sounds[next % sounds.length];
    next = (next % sounds.length) + 1;
    sound.currentTime = 0;
    sound.play();
  }
  function read(text) {
    const close = made("button", "Close");
    close.addEventListener("click", () => dialog.close());
    dialog.replaceChildren(text.cloneNode(true), close);
    dialog.showModal();
  }
  function look() {
    const tile = tiles.children[at], sound = tile && tile.querySelector("audio");
    if (sound) { if (sound.paused) { sound.currentTime = 0; sound.play(); } else sound.pause(); } else if (tile && tile.querySelector("blockquote")) read(tile.querySelector("blockquote"));
    else if (tile) window.studio.zoom(tile);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || dialog.open || /^(INPUT|SELECT|TEXTAREA|SUMMARY)$/.test(event.target.tagName)) return;
    const key = event.key.toLowerCase(), columns = narrow ? 2 : 5, row = screen && screen.rows[at];
    const isButton = event.target.tagName === "BUTTON" || event.target.tagName === "A";
    if (document.querySelector("dialog[open]")) return;
    if (key === "enter") { if (isButton && event.target !== send) return; submit(); }
    else if (key === "u") undo();
    else if (key === "p") play();
    else if (key === " " && !isButton) look();
    else if (key === "n") place("new");
    else if (key === "x") place(ASIDE);
    else if (/^arrow/.test(key) && screen && event.target.closest("#tiles, body") && !event.target.closest("#piles")) {
      const to = at + { arrowright: 1, arrowleft: -1, arrowdown: columns, arrowup: -columns }[key];
      if (to >= 0 && to < screen.rows.length) focus(to);
    } else if (row && /^[a-z]$/.test(key)) {
      const letters = letterOf(row), found = Object.keys(letters).find((number) => letters[number] === key);
      if (found === undefined) return;
      place(piles.find((pile) => String(pile.number) === found).number);
    } else return;
    event.preventDefault();
  });
  more();
})();
