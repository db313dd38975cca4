// Tags of photographs: what they have, what is suggested and where it comes from, confirmed and refused by key or click.
// Text from data is only ever set as text; the markup of a row is made by the server from escaped parts.
"use strict";
(() => {
  const { call, say, players } = window.studio;
  const list = document.getElementById("tags"), left = document.getElementById("tags-left"), pages = document.getElementById("tags-pages");
  const base = list.dataset.base, what = list.dataset.what, looks = Boolean(list.dataset.looks), HALF = 0.5, NEWS = 2000;
  const made = (tag, name, text) => { const node = document.createElement(tag); if (name) node.className = name; if (text !== undefined) node.textContent = text; return node; };
  const button = (name, text, label, act) => { const node = made("button", name, text); node.type = "button"; if (label) node.setAttribute("aria-label", label); node.addEventListener("click", act); return node; };
  const many = (n, one) => n.toLocaleString("en") + " " + one + (n === 1 ? "" : "s");
  const has = (tag) => tag.state === "listed" || tag.state === "there";
  const words = { listed: "on its list", suggested: "suggested", there: "confirmed", absent: "refused" };
  let start = 0, without = true, last = 0, items = new Map();

  function light(item, tag) {
    for (const box of item.querySelectorAll("[data-row]")) box.classList.toggle("lit", Boolean(tag) && tag.rows.includes(Number(box.dataset.row)));
    item.classList.toggle("lighting", Boolean(tag) && tag.rows.length > 0);
  }

  async function send(item, said) {
    if (looks) return;
    try { take(await call(base + "?after=" + last, { bag: item.bag.bag, said })); say(""); }
    catch (error) { say(error.message); }
  }

  function chip(item, tag) {
    const node = made("li", "tag " + tag.state), sure = tag.chance === null ? "" : " " + Math.min(99, Math.round(100 * tag.chance)) + "%";
    const name = button("name", tag.label, tag.label + sure + ", " + words[tag.state] + (tag.by ? " by " + tag.by : ""), () => choose(node));
    if (sure) name.append(made("span", "faint", sure));
    node.tag = tag;
    node.append(name);
    if (tag.by) node.title = words[tag.state] + " by " + tag.by;
    if (!looks) {
      node.append(button("yes", "✓", "Confirm " + tag.label, () => send(item, { [tag.label]: tag.state === "there" ? null : true })));
      node.append(button("no", "✗", "Refuse " + tag.label, () => send(item, { [tag.label]: tag.state === "absent" ? null : false })));
    }
    node.addEventListener("pointerenter", () => light(item, tag));
    node.addEventListener("pointerleave", () => light(item, chosen(item)?.tag));
    name.addEventListener("focus", () => choose(node));
    return node;
  }
  const chosen = (item) => item.querySelector(".tag.now");
  function choose(node) {
    const item = node.closest(".photograph");
    for (const one of list.querySelectorAll(".tag.now")) if (one !== node) one.classList.remove("now");
    for (const one of list.querySelectorAll(".photograph.lighting")) if (one !== item) light(one, null);
    node.classList.add("now");
    light(item, node.tag);
  }

  function fill(item) {
    const bag = item.bag, tags = item.querySelector(".tags"), before = chosen(item), at = before ? before.tag.label : "", held = before !== null && tags.contains(document.activeElement);
    tags.replaceChildren(...bag.tags.map((tag) => chip(item, tag)));
    if (!bag.tags.length) tags.append(made("li", "faint", "Nothing is suggested."));
    item.classList.toggle("done", bag.is_all || bag.is_listed);
    item.querySelector(".state").textContent = bag.is_all ? "these are all" : bag.is_listed ? "listed" : "no list";
    const again = Array.from(tags.querySelectorAll(".tag")).find((node) => node.tag.label === at);
    if (again && before) { choose(again); if (held) again.querySelector(".name").focus(); }
  }

  function draw(bag) {
    const item = made("li", "photograph"), head = made("p", "about"), photo = made("div", "photo"), tags = made("ul", "tags");
    item.bag = bag;
    if (bag.whole) {
      const picture = new Image();
      picture.src = bag.whole;
      picture.alt = bag.bag;
      photo.append(picture);
      for (const [row, box] of Object.entries(bag.boxes)) {
        const part = made("span", "box");
        part.dataset.row = row;
        ["left", "top", "width", "height"].forEach((side, i) => { part.style[side] = box[i] + "%"; });
        photo.append(part);
      }
    } else {
      const rows = made("ul", "members");
      for (const card of bag.cards) { const row = made("li"); row.dataset.row = card.row; row.innerHTML = card.html; rows.append(row); }
      photo.append(rows);
      players(photo);
    }
    head.append(made("b", "", bag.bag), " ", made("span", "faint state"));
    item.append(photo, head, tags);
    if (!looks) {
      const form = made("form", "inline"), field = made("input");
      field.setAttribute("list", "tags-known");
      field.setAttribute("aria-label", "Another tag of " + bag.bag);
      field.placeholder = "another tag";
      field.maxLength = 80;
      form.append(field, button("all", "These are its tags", "These are the tags of " + bag.bag, () => finish(item)));
      form.addEventListener("submit", (event) => { event.preventDefault(); const label = field.value.trim(); field.value = ""; if (label) send(item, { [label]: true }); });
      item.append(form);
    }
    fill(item);
    return item;
  }

  async function finish(item) {
    const said = { "": true };
    for (const tag of item.bag.tags) if (tag.state === "suggested" && tag.chance !== null && tag.chance > HALF) said[tag.label] = true;
    await send(item, said);
    const next = item.nextElementSibling;
    if (next) enter(next);
  }
  function enter(item) {
    const tags = Array.from(item.querySelectorAll(".tag")), open = tags.find((node) => node.tag.state === "suggested") || tags[0];
    (open ? open.querySelector(".name") : item.querySelector("input, button"))?.focus();
    item.scrollIntoView({ block: "nearest" });
  }

  function take(found) {
    last = Math.max(last, found.last);
    for (const bag of found.bags) { const item = items.get(bag.bag); if (item) { Object.assign(item.bag, bag); fill(item); } }
    left.textContent = found.n_open ? many(found.n_open, what) + " of " + found.n_bags.toLocaleString("en") + " came without tags; " + (found.n_left ? many(found.n_left, what) + " left to look at." : "all of them were looked at.") : "All of " + many(found.n_bags, what) + " came with tags.";
  }

  async function turn(by) {
    try {
      let found = await call(base + "?start=" + Math.max(0, start + by) + "&without=" + without);
      if (!found.n && without) { without = false; press(); found = await call(base + "?start=0&without=false"); }
      start = found.start;
      items = new Map(found.bags.map((bag) => [bag.bag, draw(bag)]));
      list.replaceChildren(...items.values());
      last = found.last;
      take({ ...found, bags: [] });
      pages.querySelector('[data-turn="-1"]').hidden = !start;
      pages.querySelector('[data-turn="1"]').hidden = start + found.step >= found.n;
      pages.dataset.step = found.step;
      if (by) { window.scrollTo(0, 0); if (list.firstElementChild) enter(list.firstElementChild); }
    } catch (error) { say(error.message); }
  }
  const shows = Array.from(document.querySelectorAll("[data-show]"));
  const press = () => shows.forEach((node) => node.setAttribute("aria-pressed", String((node.dataset.show === "without") === without)));
  for (const node of shows) node.addEventListener("click", () => { without = node.dataset.show === "without"; start = 0; press(); turn(0); });
  for (const node of pages.querySelectorAll("button")) node.addEventListener("click", () => turn(Number(node.dataset.turn) * Number(pages.dataset.step)));

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target instanceof HTMLInputElement, key = event.key.toLowerCase();
    if (typing) { if (key === "escape") event.target.closest(".photograph") && enter(event.target.closest(".photograph")); return; }
    const now = list.querySelector(".tag.now"), item = now ? now.closest(".photograph") : null;
    if (!item) { if (key.startsWith("arrow") && list.firstElementChild) { enter(list.firstElementChild); event.preventDefault(); } return; }
    const step = (node) => node && node.querySelector(".name")?.focus(), tag = now.tag;
    const open = (label) => send(item, { [tag.label]: label });
    if (key === "arrowright") step(now.nextElementSibling);
    else if (key === "arrowleft") step(now.previousElementSibling);
    else if (key === "arrowdown") { if (item.nextElementSibling) enter(item.nextElementSibling); }
    else if (key === "arrowup") { if (item.previousElementSibling) enter(item.previousElementSibling); }
    else if (key === "y" || key === "c") open(true).then(() => step(chosen(item)?.nextElementSibling));
    else if (key === "n" || key === "x") open(false).then(() => step(chosen(item)?.nextElementSibling));
    else if (key === "u") open(null);
    else if (key === "t") item.querySelector("input")?.focus();
    else if (key === "enter" && !looks && !event.target.closest("button:not(.name), a, summary")) finish(item);
    else return;
    event.preventDefault();
  });

  async function hear() {
    if (!document.hidden) { try { const found = await call(base + "/news?after=" + last); if (found.last > last) take(found); } catch { /* the next one may succeed */ } }
    setTimeout(hear, NEWS);
  }
  turn(0).then(() => setTimeout(hear, NEWS));
})();
