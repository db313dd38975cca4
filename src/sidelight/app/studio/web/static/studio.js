// What the studio's pages do: ask by key with the next question loaded, send what people say, and correct clusters.
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

  // ---- buttons and forms that send something
  for (const button of document.querySelectorAll("[data-post]")) {
    button.addEventListener("click", async () => {
      button.disabled = true;
      if (button.dataset.busy) button.textContent = button.dataset.busy;
      try { await call(button.dataset.post, JSON.parse(button.dataset.body || "{}")); location.reload(); }
      catch (error) { say(error.message); button.disabled = false; }
    });
  }
  for (const form of document.querySelectorAll("[data-post-form], [data-upload]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const data = new FormData(form), button = form.querySelector("button[type=submit]");
      if (button) button.disabled = true;
      try {
        if (form.dataset.upload) {
          const table = data.get("table");
          if (table && !table.name) data.delete("table");
          const images = data.getAll("images").filter((file) => file.name);
          data.delete("images");
          for (const image of images) data.append("images", image);
          location.href = (await call(form.dataset.upload, data)).go;
        } else {
          const answer = await call(form.dataset.postForm, Object.fromEntries(data));
          if (answer.go) location.href = answer.go; else location.reload();
        }
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

  // ---- corrections of a cluster: by key, by button, by dragging
  const finish = document.querySelector(".finish");
  if (finish) {
    const own = Number(finish.dataset.cluster), saved = document.getElementById("saved");
    async function correct(item, cluster, isMember, isConfirmation) {
      try {
        const answer = await call(finish.dataset.corrections, { row: Number(item.dataset.row), cluster, is_member: isMember, is_confirmation: isConfirmation });
        item.classList.add(isConfirmation ? "sure" : "done");
        if (saved) saved.textContent = answer.sentence;
        say("");
        const next = item.nextElementSibling;
        if (next) next.focus();
      } catch (error) { say(error.message); }
    }
    const strike = (item) => correct(item, own, false, false), confirm = (item) => correct(item, own, true, true);
    finish.addEventListener("click", (event) => {
      const item = event.target.closest("li"), act = event.target.dataset ? event.target.dataset.act : "";
      if (act === "strike") strike(item);
      else if (act === "confirm") confirm(item);
      else if (item) item.focus();
    });
    finish.addEventListener("keydown", (event) => {
      const item = event.target.closest("li");
      if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
      const key = event.key.toLowerCase();
      if (key === "x" || key === "delete") strike(item);
      else if (key === "c" || key === "y") confirm(item);
      else if (/^[0-9]$/.test(key) && document.querySelector('.target[data-cluster="' + key + '"]') && Number(key) !== own) correct(item, Number(key), true, false);
      else if (key === "arrowright" && item.nextElementSibling) item.nextElementSibling.focus();
      else if (key === "arrowleft" && item.previousElementSibling) item.previousElementSibling.focus();
      else return;
      event.preventDefault();
    });
    let dragged = null;
    finish.addEventListener("dragstart", (event) => { dragged = event.target.closest("li"); });
    for (const target of document.querySelectorAll(".target")) {
      target.addEventListener("dragover", (event) => { event.preventDefault(); target.classList.add("over"); });
      target.addEventListener("dragleave", () => target.classList.remove("over"));
      target.addEventListener("drop", (event) => {
        event.preventDefault();
        target.classList.remove("over");
        const cluster = Number(target.dataset.cluster);
        if (dragged) correct(dragged, cluster, true, cluster === own);
        dragged = null;
      });
    }
  }

  // ---- asking: the question on the screen, the next one loaded, answers sent behind
  const ask = document.getElementById("ask");
  if (!ask) return;
  const place = document.getElementById("question"), waiting = document.getElementById("next");
  const saving = document.getElementById("saving");
  const words = ask.dataset.kind === "pair" ? { s: "same", d: "different", u: "unsure" } : { 1: "a", 2: "b", 3: "c", n: "none", 0: "none", u: "unsure" };
  const PATIENCE = 60;  // milliseconds
  const same = (a, b) => a.rows.length === b.rows.length && a.rows.every((row) => b.rows.includes(row));
  let current = null, upcoming = [], since = 0, unsent = [], sending = false, answered = [], pressed = 0, trouble = false;

  function draw(question) {
    const holder = document.createElement("div");
    holder.className = "pair";
    for (const card of question.cards) {
      const figure = document.createElement("figure"), caption = document.createElement("figcaption");
      const inside = document.createElement("template");
      inside.innerHTML = card.html;
      caption.textContent = card.id;
      caption.classList.toggle("said", inside.content.textContent.trim() === card.id);
      figure.append(inside.content, caption);
      holder.append(figure);
    }
    return holder;
  }

  function show() {
    if (current || !upcoming.length) return idle();
    current = upcoming.shift();
    place.replaceChildren(current.drawn);
    since = performance.now();
    if (pressed) {
      const from = pressed;
      pressed = 0;
      requestAnimationFrame(() => requestAnimationFrame(() => {
        const list = (ask.dataset.latency || "").split(" ").filter(Boolean);
        list.push((performance.now() - from).toFixed(1));
        ask.dataset.latency = list.slice(-200).join(" ");
      }));
    }
  }
  function idle() { if (!current) place.textContent = ask.dataset.done || "The next question comes …"; }

  function take(questions) {
    const known = [current, ...answered, ...unsent].filter(Boolean);
    upcoming = questions.filter((question) => !known.some((other) => same(other, question)))
      .map((question) => { const old = upcoming.find((other) => same(other, question)); return old || question; });
    for (const question of upcoming) if (!question.drawn) { question.drawn = draw(question); waiting.append(question.drawn); }
    show();
  }

  function progress(status) {
    if (!status) return;
    document.getElementById("n-answers").textContent = status.answers + unsent.length;
    document.getElementById("sentence").textContent = status.sentence;
    const parts = [];
    if (status.clusters) parts.push(status.clusters + " clusters");
    if (status.agreement !== null && status.agreement !== undefined) parts.push("agreement with the key " + status.agreement.toFixed(2));
    if (status.moved) parts.push("the last " + (status.moved_by > 1 ? status.moved_by + " answers" : "answer") + " moved " + status.moved.toLocaleString("en") + (status.moved === 1 ? " row" : " rows"));
    document.getElementById("more").textContent = parts.length ? ", " + parts.join(", ") : "";
  }

  // A study goes on to its next part: other rows, other questions, or the questionnaire.
  function over(found) {
    const isOver = Boolean(ask.dataset.part) && (found.go || found.part !== ask.dataset.part) && !unsent.length;
    if (isOver) location.href = location.pathname;
    return isOver;
  }

  async function more() {
    try {
      const found = await call(ask.dataset.base);
      if (over(found)) return;
      take(found.questions);
      progress(found.status);
      if (!current && !found.questions.length) { ask.dataset.done = found.status.failure || "There is nothing left to ask."; idle(); }
      if (upcoming.length < 1 && current && found.questions.length) setTimeout(more, 400);
      say("");
    } catch (error) { say(error.message); setTimeout(more, 2000); }
  }

  async function send() {
    if (sending) return;
    sending = true;
    while (unsent.length) {
      const item = unsent[0];
      saving.textContent = trouble ? "Not saved yet: " + unsent.length + " to send." : "";
      try {
        const kept = await call(ask.dataset.base + "/answers", item.body);
        unsent.shift();
        answered = [item, ...answered].slice(0, 20);
        trouble = false;
        say("");
        saving.textContent = kept.words || "Saved.";
        if (over(kept)) return;
        take(kept.questions);
        progress(kept.status);
      } catch (error) {
        if (error.lost || error.status === 503) {
          trouble = true;
          say(error.message + " Your last answer is kept on this page and sent again.");
          await new Promise((done) => setTimeout(done, 1500));
        } else { unsent.shift(); answered = [item, ...answered].slice(0, 20); say(error.message); }
      }
    }
    sending = false;
    if (!upcoming.length) more();
    else setTimeout(async () => { try { if (!unsent.length) progress(ask.dataset.part ? null : await call(ask.dataset.base + "/status")); } catch { /* the next answer says so */ } }, 700);
  }

  function answer(word) {
    if (!current || unsent.length > 4 || !(current.words.includes(word))) return;
    pressed = performance.now();
    const key = Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("");
    const item = { rows: current.rows, body: { rows: current.rows, answer: word, seconds: (performance.now() - since) / 1000, key } };
    unsent.push(item);
    current = null;
    send();
    // The answer comes back with a question that knows of it; if that takes longer, the loaded one is shown.
    if (ask.dataset.part) show(); else setTimeout(show, PATIENCE);
  }

  async function undo() {
    if (unsent.length) return say("One moment: the last answer is on its way.");
    try {
      const found = await call(ask.dataset.base + "/undo", {});
      answered = [];
      current = null;
      waiting.replaceChildren();
      upcoming = [];
      take(found.questions);
      progress(found.status);
      say("");
      saving.textContent = "Taken back: " + found.answer + ".";
    } catch (error) { say(error.message); }
  }

  for (const button of ask.querySelectorAll("[data-answer]")) button.addEventListener("click", () => answer(button.dataset.answer));
  const back = ask.querySelector("[data-undo]");
  if (back) back.addEventListener("click", undo);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const key = event.key.toLowerCase(), sheet = document.getElementById("reference");
    if (words[key]) answer(words[key]);
    else if (back && (key === "z" || key === "backspace")) undo();
    else if (key === "r" && sheet) sheet.open = !sheet.open;
    else return;
    event.preventDefault();
  });
  more();
})();
