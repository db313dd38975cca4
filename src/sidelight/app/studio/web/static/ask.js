// Asking: the question on the screen, the next one loaded, answers sent behind. A question is about two or three rows, or
// about what one row is. Text from data is only ever set as text; the markup of a row is made by the server.
"use strict";
(() => {
  const { call, say, players } = window.studio;
  const ask = document.getElementById("ask");
  const place = document.getElementById("question"), waiting = document.getElementById("next"), title = document.getElementById("title");
  const saving = document.getElementById("saving"), keys = document.getElementById("answers");
  const other = document.getElementById("other");
  const PATIENCE = 60;  // milliseconds
  const FIXED = {
    pair: [["s", "same", "same"], ["d", "different", "different"], ["u", "unsure", "unsure"]],
    triplet: [["1", "a", "the first"], ["2", "b", "the second"], ["3", "c", "the third"], ["n", "none", "none: all alike, or all different"], ["u", "unsure", "unsure"]],
  };
  const TITLES = { pair: "Do these belong to the same class?", triplet: "Which one does not belong with the other two?", label: "What is this?" };
  const same = (a, b) => a.rows.length === b.rows.length && a.rows.every((row) => b.rows.includes(row));
  let current = null, upcoming = [], since = 0, unsent = [], sending = false, answered = [], pressed = 0, trouble = false, byKey = {}, shown = "";

  const made = (tag, text, kind) => { const node = document.createElement(tag); if (text !== undefined) node.textContent = text; if (kind) node.className = kind; return node; };
  const percent = (share) => (share < 1 && share > 0.999 ? ">99.9" : share < 1 && share >= 0.995 ? (100 * share).toFixed(1) : Math.round(100 * share)) + "%";

  function figure(card, words) {
    const holder = made("figure", undefined, "zooms"), caption = made("figcaption", card.id), inside = document.createElement("template");
    inside.innerHTML = card.html;
    for (const picture of inside.content.querySelectorAll("img.thumb:not(.pixels)")) picture.src = picture.src.replace(/\/media(\?|$)/, "/large$1");
    for (const picture of inside.content.querySelectorAll("img.thumb")) picture.tabIndex = 0;
    caption.classList.toggle("said", inside.content.textContent.trim() === card.id);
    holder.append(inside.content, caption);
    if (words) caption.append(made("span", words, "faint"));
    return holder;
  }

  function draw(question) {
    const holder = made("div", undefined, "pair" + (question.rows.length === 1 ? " one" : ""));
    holder.append(...question.cards.map((card) => figure(card)));
    players(holder);
    if (question.kind === "pair") differing(holder);
    if (question.kind !== "label") return holder;
    const side = made("aside", undefined, "beside");
    side.append(made("p", "The run says " + question.said + ", " + percent(question.sure) + " sure.", "faint guess"));
    if (question.beside.length) {
      side.append(made("h2", "Also in " + question.bag));
      const list = made("ul", undefined, "members");
      list.tabIndex = 0;  // it scrolls
      list.setAttribute("aria-label", "Other rows of " + question.bag);
      for (const card of question.beside) { const item = made("li"); item.append(figure(card, ", " + card.name + " " + percent(card.sure))); list.append(item); }
      side.append(list);
      players(list);
    }
    holder.append(side);
    return holder;
  }

  // Of two texts, mark the words that only one of them has.
  function differing(holder) {
    const texts = Array.from(holder.querySelectorAll("blockquote"));
    if (texts.length !== 2) return;
    const parts = texts.map((text) => text.textContent.split(/(\s+)/)), plain = (word) => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
    const known = parts.map((words) => new Set(words.map(plain)));
    texts.forEach((text, i) => text.replaceChildren(...parts[i].map((word) => (plain(word) && !known[1 - i].has(plain(word)) ? made("mark", word) : document.createTextNode(word)))));
  }

  function buttons(question) {
    const of = FIXED[question.kind] || [];
    const choices = question.kind === "label"
      ? question.words.map((word, i) => (word === "unsure" ? ["u", word, word] : [i < 9 ? String(i + 1) : "", word, word]))
      : of.filter((choice) => question.words.includes(choice[1]));
    const key = JSON.stringify(choices);
    byKey = Object.fromEntries(choices.filter((choice) => choice[0]).map((choice) => [choice[0], choice[1]]));
    if (question.kind === "triplet") byKey["0"] = "none";
    if (other) other.hidden = question.kind !== "label";
    if (title && title.dataset.fixed === undefined) title.textContent = TITLES[question.kind];
    if (key === shown) return;
    shown = key;
    keys.replaceChildren(...choices.map(([letter, word, text]) => {
      const button = made("button");
      button.dataset.answer = word;
      if (letter) button.append(made("kbd", letter.toUpperCase()), " ");
      button.append(document.createTextNode(text));
      button.addEventListener("click", () => answer(word));
      return button;
    }));
  }

  function show() {
    if (current || !upcoming.length) return idle();
    current = upcoming.shift();
    for (const sound of document.querySelectorAll("audio")) sound.pause();
    place.replaceChildren(current.drawn);
    buttons(current);
    live(true);
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
  // Buttons of a question that is gone are not live: whoever is faster than the next question answers nothing.
  function live(is) { for (const button of keys.children) button.disabled = !is; }
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
    const n = status.answers + unsent.length;
    const write = (id, text) => { const node = document.getElementById(id); if (node) node.textContent = text; };  // a study shows less
    write("n-answers", n);
    write("answers-word", n === 1 ? "answer" : "answers");
    write("sentence", status.sentence);
    const parts = [];
    if (status.placed) parts.push(status.placed.toLocaleString("en") + (status.placed === 1 ? " row" : " rows") + " sorted");
    if (status.clusters) parts.push(status.clusters + " clusters");
    if (status.agreement !== null && status.agreement !== undefined) parts.push("agreement with the key " + status.agreement.toFixed(2));
    if (status.moved) parts.push("the last " + (status.moved_by > 1 ? status.moved_by + " answers" : "answer") + " moved " + status.moved.toLocaleString("en") + (status.moved === 1 ? " row" : " rows"));
    write("more", parts.length ? ", " + parts.join(", ") : "");
  }

  // A study goes on to its next part: other rows, other questions, or the questionnaire.
  function over(found) {
    const isOver = Boolean(ask.dataset.part) && (found.go || found.part !== ask.dataset.part) && !unsent.length;
    if (isOver) location.href = location.pathname;
    return isOver;
  }

  async function more(words) {
    try {
      const found = await call(ask.dataset.base);
      if (over(found)) return;
      take(found.questions);
      progress(found.status);
      if (!current && !found.questions.length) { ask.dataset.done = found.status.failure || "There is nothing left to ask."; idle(); }
      if (upcoming.length < 1 && current && found.questions.length) setTimeout(more, 400);
      say(words || "");
    } catch (error) { say(error.message); setTimeout(more, 2000); }
  }

  // What was loaded is out of date: somebody took an answer back, answered in another window, or the run was repeated.
  function renew(words) {
    current = null;
    upcoming = [];
    answered = [];
    waiting.replaceChildren();
    return more(words);
  }

  async function send() {
    if (sending) return;
    sending = true;
    while (unsent.length) {
      const item = unsent[0];
      saving.textContent = trouble ? "Not saved yet: " + unsent.length + " to send." : "";
      let kept;
      try {
        kept = await call(ask.dataset.base + "/answers", item.body);
      } catch (error) {
        if (error.lost || error.status === 503) {
          trouble = true;
          say(error.message + " Your last answer is kept on this page and sent again.");
          await new Promise((done) => setTimeout(done, 1500));
        } else if (error.status === 409) {
          unsent.shift();
          sending = false;
          return renew("This page was out of date, and is up to date now. " + error.message);
        } else { unsent.shift(); answered = [item, ...answered].slice(0, 20); say(error.message); }
        continue;
      }
      unsent.shift();
      answered = [item, ...answered].slice(0, 20);
      trouble = false;
      say("");
      saving.textContent = kept.words || "Saved.";
      if (over(kept)) return;
      take(kept.questions);
      progress(kept.status);
    }
    sending = false;
    if (!upcoming.length) more();
    else setTimeout(async () => { try { if (!unsent.length) progress(ask.dataset.part ? null : await call(ask.dataset.base + "/status")); } catch { /* the next answer says so */ } }, 700);
  }

  function answer(word, isNew) {
    if (!current || unsent.length > 4 || !(isNew || current.words.includes(word))) return;
    pressed = performance.now();
    const key = Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("");
    const item = { rows: current.rows, body: { rows: current.rows, answer: word, seconds: (performance.now() - since) / 1000, key } };
    unsent.push(item);
    current = null;
    live(false);
    if (ask.dataset.by === "auto" && ++nSaid % 10 === 0) look();
    send();
    // The answer comes back with a question that knows of it; if that takes longer, the loaded one is shown.
    if (ask.dataset.part) show(); else setTimeout(show, PATIENCE);
  }

  // Every ten answers: does sorting promise more a second than the next questions?
  let nSaid = 0;
  async function look() {
    try { if ((await call(ask.dataset.base + "/way")).way === "piles" && !unsent.length) location.reload(); } catch { /* the next ten say so */ }
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

  async function later() {
    if (!current || unsent.length) return;
    const item = current;
    try {
      const found = await call(ask.dataset.base + "/later", { rows: item.rows });
      answered = [item, ...answered].slice(0, 20);
      current = null;
      take(found.questions);
      if (!current) more();
      saving.textContent = "Put off: it is asked again at the end.";
    } catch (error) { say(error.message); }
  }

  // One sound after the other by one key.
  let next = 0;
  function play() {
    const sounds = Array.from(place.querySelectorAll("audio"));
    if (!sounds.length) return false;
    const playing = sounds.findIndex((sound) => !sound.paused);
    if (playing >= 0) sounds[playing].pause();
    next = playing >= 0 ? (playing + 1) % sounds.length : next % sounds.length;
    sounds[next].currentTime = 0;
    sounds[next].play();
    next += 1;
    return true;
  }

  for (const [name, act] of [["data-undo", undo], ["data-later", later]]) {
    const button = ask.querySelector("[" + name + "]");
    if (button) button.addEventListener("click", act);
  }
  const hasUndo = Boolean(ask.querySelector("[data-undo]")), hasLater = Boolean(ask.querySelector("[data-later]"));
  if (other) other.addEventListener("submit", (event) => {
    event.preventDefault();
    const field = other.querySelector("input"), word = field.value.trim();
    if (!word) return;
    field.value = "";
    field.blur();
    answer(word, true);
  });
  const note = document.getElementById("note");
  if (note) note.addEventListener("submit", async (event) => {
    event.preventDefault();
    const field = note.querySelector("input"), text = field.value.trim();
    if (!text || !current) return;
    try { await call(ask.dataset.base + "/notes", { row: current.rows[0], text }); field.value = ""; field.blur(); saving.textContent = "Note kept."; }
    catch (error) { say(error.message); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const key = event.key.toLowerCase(), sheet = document.getElementById("reference");
    if (byKey[key]) answer(byKey[key]);
    else if (hasUndo && (key === "z" || key === "backspace")) undo();
    else if (hasLater && key === "l") later();
    else if (key === "e" || (key === "enter" && event.target instanceof HTMLImageElement)) window.studio.zoom(event.target instanceof HTMLImageElement ? event.target.parentElement.parentElement : place);
    else if (key === "p" && play()) { /* it plays */ }
    else if (key === "o" && other && !other.hidden) other.querySelector("input").focus();
    else if (key === "m" && note) { note.closest("details").open = true; note.querySelector("input").focus(); }
    else if (key === "r" && sheet) sheet.open = !sheet.open;
    else return;
    event.preventDefault();
  });
  more();
})();
