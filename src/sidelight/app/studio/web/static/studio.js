// What the studio's pages do: buttons and forms that send something, corrections of clusters, the run that is repeated.
// Text from data is only ever set as text; the markup of a row is made by the server from escaped parts.
"use strict";
(() => {
  const message = document.getElementById("message");
  const say = (text) => { if (message) message.textContent = text; };

  async function call(path, body, method) {
    const options = { method: method || (body === undefined ? "GET" : "POST"), headers: { "X-Sidelight": "1" } };
    if (body instanceof FormData) options.body = body;
    else if (body !== undefined) { options.body = JSON.stringify(body); options.headers["Content-Type"] = "application/json"; }
    let response;
    try { response = await fetch(path, options); } catch { throw Object.assign(new Error("The studio does not answer."), { lost: true }); }
    let content = {};
    try { content = await response.json(); } catch { content = { error: "The studio gave no answer that can be read." }; }
    if (!response.ok) throw Object.assign(new Error(content.error || "This did not work."), { status: response.status });
    return content;
  }

  // ---- a sound is one play button on its spectrogram
  function players(root) {
    for (const sound of root.querySelectorAll("audio[controls]")) {
      const holder = sound.parentElement, picture = holder.querySelector(".spectrogram");
      if (!picture || holder.closest(".lone-audio")) continue;
      sound.removeAttribute("controls");
      holder.classList.add("player");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "play";
      button.setAttribute("aria-label", "Play " + (sound.getAttribute("aria-label") || ""));
      button.addEventListener("click", (event) => { event.stopPropagation(); if (sound.paused) { sound.currentTime = 0; sound.play(); } else sound.pause(); });
      for (const name of ["play", "pause", "ended"]) sound.addEventListener(name, () => holder.classList.toggle("playing", name === "play"));
      holder.append(button);
    }
  }
  players(document);

  window.studio = { call, say, players };  // for ask.js, sort.js and map.js

  // ---- buttons and forms that send something
  for (const button of document.querySelectorAll("[data-post]")) {
    button.addEventListener("click", async () => {
      if (button.dataset.sure && !window.confirm(button.dataset.sure)) return;
      button.disabled = true;
      if (button.dataset.busy) button.textContent = button.dataset.busy;
      try { await call(button.dataset.post, JSON.parse(button.dataset.body || "{}")); location.reload(); }
      catch (error) { say(error.message); button.disabled = false; }
    });
  }
  for (const form of document.querySelectorAll("[data-post-form]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const data = new FormData(form), button = form.querySelector("button[type=submit]");
      if (button) button.disabled = true;
      try {
        const sent = form.dataset.files === undefined ? Object.fromEntries(data) : data;
        for (const name of (form.dataset.numbers || "").split(" ").filter(Boolean)) sent[name] = Number(sent[name]);
        const answer = await call(form.dataset.postForm, sent);
        if (answer.go) location.href = answer.go; else location.reload();
      } catch (error) { say(error.message); if (button) button.disabled = false; }
    });
  }
  for (const select of document.querySelectorAll("[data-edit]")) {
    select.addEventListener("change", async () => {
      if (!select.value) return;
      try { await call(select.dataset.edit, { answer: select.value === "null" ? null : select.value }); location.reload(); }
      catch (error) { say(error.message); select.value = ""; }
    });
  }

  // ---- a page that waits for something to be made
  if (document.getElementById("preparing")) setTimeout(() => location.reload(), 3000);

  // ---- a cluster as a wall of tiles: several are chosen, struck, confirmed or moved, by click, key or dragging
  const wall = document.getElementById("wall");
  if (wall) {
    const own = Number(wall.dataset.cluster), saved = document.getElementById("saved"), done = document.getElementById("wall-done");
    const tiles = Array.from(wall.querySelectorAll(".finish > li")), left = () => tiles.filter((tile) => !tile.matches(".done, .sure"));
    const pressed = (tile) => tile.querySelector("button[data-row]").getAttribute("aria-pressed") === "true";
    const count = () => { const n = left().filter(pressed).length; done.textContent = n ? "Strike " + n + ", the others here are right" : "All of these are right"; };
    const choose = (tile, is) => { tile.querySelector("button[data-row]").setAttribute("aria-pressed", String(is)); count(); };
    const meant = (tile) => { const some = left().filter(pressed); return some.length && (!tile || pressed(tile)) ? some : tile ? [tile] : []; };
    async function correct(some, cluster, isMember, isConfirmation) {
      if (!some.length) return say("Choose some tiles first.");
      const focused = tiles.indexOf(document.activeElement && document.activeElement.closest(".finish > li"));
      try {
        let answer;
        for (const tile of some) {
          answer = await call(wall.dataset.corrections, { row: Number(tile.dataset.row), cluster, is_member: isMember, is_confirmation: isConfirmation });
          choose(tile, false);
          tile.classList.add(isConfirmation ? "sure" : "done");
        }
        saved.textContent = answer.sentence;
        say("");
        const next = tiles.slice(focused + 1).find((tile) => !some.includes(tile));
        if (focused >= 0 && next) next.focus();
      } catch (error) { say(error.message); }
      count();
    }
    const strike = (some) => correct(some, own, false, false), confirm = (some) => correct(some, own, true, true), move = (some, to) => correct(some, to, true, false);
    wall.addEventListener("click", (event) => {
      const tile = event.target.closest(".finish > li"), name = event.target.closest("button[data-row]"), act = event.target.closest("[data-act]"), target = event.target.closest(".target");
      if (name) choose(tile, !pressed(tile));
      else if (tile) tile.focus();
      else if (act) (act.dataset.act === "strike" ? strike : confirm)(meant(null));
      else if (target) move(meant(null), Number(target.dataset.cluster));
    });
    wall.addEventListener("keydown", (event) => {
      const tile = event.target.closest(".finish > li");
      if (!tile || event.ctrlKey || event.metaKey || event.altKey) return;
      const key = event.key.toLowerCase(), target = key.length === 1 && wall.querySelector('.target[data-key="' + CSS.escape(key) + '"]'), at = tiles.indexOf(tile);
      const sound = tile.querySelector("audio");
      if (key === "x" || key === "delete") strike(meant(tile));
      else if (key === "c" || key === "y") confirm(meant(tile));
      else if (key === " ") choose(tile, !pressed(tile));
      else if (key === "p") { if (!sound) window.studio.zoom(tile); else if (sound.paused) { sound.currentTime = 0; sound.play(); } else sound.pause(); }
      else if (target) move(meant(tile), Number(target.dataset.cluster));
      else if (key === "arrowright" || key === "arrowleft") tiles[at + (key === "arrowright" ? 1 : -1)]?.focus();
      else return;
      event.preventDefault();
    });
    let dragged = null;
    wall.addEventListener("dragstart", (event) => { dragged = event.target.closest(".finish > li"); });
    for (const target of wall.querySelectorAll(".target")) {
      target.addEventListener("dragover", (event) => { event.preventDefault(); target.classList.add("over"); });
      target.addEventListener("dragleave", () => target.classList.remove("over"));
      target.addEventListener("drop", (event) => {
        event.preventDefault();
        target.classList.remove("over");
        if (dragged) move(meant(dragged), Number(target.dataset.cluster));
        dragged = null;
      });
    }
    done.addEventListener("click", async () => {
      const rows = (is) => left().filter((tile) => pressed(tile) === is).map((tile) => Number(tile.dataset.row));
      done.disabled = true;
      try { await call(wall.dataset.wall, { struck: rows(true), right: rows(false) }); if (wall.dataset.next) location.href = wall.dataset.next; else location.reload(); }
      catch (error) { say(error.message); done.disabled = false; }
    });
  }

  // ---- a run that is repeated: how far it is, and what it changed
  const again = document.getElementById("again");
  if (again) {
    const bar = again.querySelector("progress"), words = again.querySelector("[role=status]"), button = again.querySelector("button");
    const follow = async () => {
      let found;
      try { found = await call(again.dataset.run); } catch (error) { say(error.message); return setTimeout(follow, 2000); }
      if (found.state === "running") {
        bar.hidden = false;
        if (found.total) { bar.max = found.total; bar.value = found.done; } else bar.removeAttribute("value");
        words.textContent = "Running: " + found.stage + " …";
        return setTimeout(follow, 400);
      }
      bar.hidden = true;
      if (found.state === "failed") { words.textContent = found.words; button.disabled = false; } else if (found.state === "done") location.reload();
    };
    button.addEventListener("click", async () => {
      button.disabled = true;
      try { await call(again.dataset.run, {}); follow(); } catch (error) { say(error.message); button.disabled = false; }
    });
    if (again.dataset.state === "running") { button.disabled = true; follow(); }
  }

  // ---- pictures grow on a click, one sound at a time
  document.addEventListener("play", (event) => { for (const sound of document.querySelectorAll("audio")) if (sound !== event.target) sound.pause(); }, true);
  document.addEventListener("dblclick", (event) => { if (event.target instanceof HTMLImageElement && event.target.closest(".tile") && !event.target.closest(".player")) zoom(event.target); });
  const dialog = document.createElement("dialog");
  dialog.className = "zoomed";
  dialog.addEventListener("click", () => dialog.close());
  document.body.append(dialog);
  function zoom(picture) {
    const large = new Image();
    large.src = picture.src.replace(/\/media(\?|$)/, "/large$1");  // the larger copy, where one was made
    large.alt = picture.alt;
    large.className = picture.className;
    dialog.replaceChildren(large);
    dialog.showModal();
  }
  window.studio.zoom = (root) => {
    if (dialog.open) dialog.close();
    else { const picture = root.querySelector(".zooms img"); if (picture) zoom(picture); }
  };
  document.addEventListener("click", (event) => {
    const picture = event.target;
    if (picture instanceof HTMLImageElement && picture.closest(".zooms") && !picture.closest(".tile, .player")) zoom(picture);
  });
})();
