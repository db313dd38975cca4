// A new project: files are sorted by their endings, a table is described as a form, and everything is sent in one go.
"use strict";
(() => {
  const { call, say } = window.studio;
  const form = document.getElementById("new"), understood = document.getElementById("understood"), described = document.getElementById("described");
  const endings = (name) => form.dataset[name].split(",");
  const ending = (file) => { const dot = file.name.lastIndexOf("."); return dot < 0 ? "" : file.name.slice(dot).toLowerCase(); };
  const made = (tag, text) => { const node = document.createElement(tag); if (text !== undefined) node.textContent = text; return node; };
  const ROLES = [["id", "names each row"], ["feature", "number that is used"], ["show", "shown to people"], ["label", "known class, only to judge"], ["ignored", "not used"]];
  const many = (n, one) => n.toLocaleString("en") + " " + one + (n === 1 ? "" : "s");
  const places = new WeakMap(); // where a file lies in a folder that was dropped
  const placeOf = (file) => places.get(file) || file.webkitRelativePath || file.name;
  let found = null, sent = { table: null, images: [], material: [] };

  function sorted(files) {
    const of = (name) => files.filter((file) => endings(name).includes(ending(file)));
    const images = of("images"), texts = files.filter((file) => ending(file) === ".txt");
    const tables = of("tables").filter((file) => ending(file) !== ".txt" || texts.length === 1);
    const table = tables.length ? tables[0] : null;
    return { table, images, material: table ? [] : of("others"), left: files.length - images.length - (table ? 1 : of("others").length) };
  }

  function column(role) {
    const line = made("tr"), cell = made("td"), select = made("select");
    const known = ROLES.some(([name]) => name === role.role);
    select.dataset.column = role.name;
    select.dataset.guessed = known ? role.role : "ignored";
    select.setAttribute("aria-label", "What " + role.name + " is");
    for (const [value, words] of ROLES) { const option = made("option", words); option.value = value; option.selected = value === select.dataset.guessed; select.append(option); }
    cell.append(select);
    const why = made("td", role.why + (known ? "" : " (taken for " + role.role + ", which questions do not need)"));
    why.className = "faint";
    line.append(made("td", role.name), cell, why);
    return line;
  }

  function doubt(one, number) {
    const set = made("fieldset");
    set.className = "doubt";
    set.append(made("legend", one.question));
    one.readings.forEach((reading, i) => {
      const label = made("label"), radio = made("input");
      radio.type = "radio";
      radio.name = "doubt" + number;
      radio.value = JSON.stringify(reading.settings);
      radio.checked = i === 0;
      label.append(radio, " " + reading.words);
      set.append(label);
    });
    return set;
  }

  function show() {
    described.hidden = !found;
    if (!found) return;
    document.getElementById("columns").replaceChildren(...found.columns.map(column));
    const listed = found.columns.filter((role) => role.role === "feature").length;
    document.getElementById("features").textContent = listed < found.n_features ? many(found.n_features, "column") + " of numbers " + (found.n_features === 1 ? "is" : "are") + " used." : "";
    document.getElementById("doubts").replaceChildren(...found.doubts.map(doubt));
    document.getElementById("gaps").hidden = !found.missing;
    document.getElementById("warnings").replaceChildren(...found.warnings.map((words) => Object.assign(made("p", words), { className: "faint" })));
    const head = made("tr"), preview = document.getElementById("preview"), top = made("thead"), body = made("tbody");
    head.append(...found.preview.columns.map((name) => made("th", name)));
    top.append(head);
    body.append(...found.preview.rows.map((cells) => { const row = made("tr"); row.append(...cells.map((cell) => made("td", cell))); return row; }));
    preview.replaceChildren(top, body);
  }

  // What the form says about columns, where it differs from the guess; and how weak guesses were decided.
  function said() {
    const roles = {};
    if (!found) return roles;
    for (const radio of form.querySelectorAll(".doubt input:checked")) Object.assign(roles, JSON.parse(radio.value));
    const selects = Array.from(form.querySelectorAll("#columns select"));
    const of = (role, key) => selects.filter((select) => (key ? select.dataset.guessed : select.value) === role).map((select) => select.dataset.column);
    for (const role of ["id", "label"]) {
      const now = of(role), before = of(role, true);
      if (now.join("\n") !== before.join("\n")) roles[role] = now.length ? now[0] : false;
    }
    if (of("show").join("\n") !== of("show", true).join("\n")) roles.show = of("show").length ? of("show") : false;
    const ignored = of("ignored").filter((name) => !of("ignored", true).includes(name));
    if (ignored.length) roles.ignore = ignored;
    const used = of("feature");
    if (used.some((name) => !of("feature", true).includes(name))) roles.features = used;
    if (found.missing) roles.missing = form.elements.missing.value;
    return roles;
  }

  // Files of a folder that was dropped, as a folder that was chosen has them.
  async function within(entry) {
    if (entry.isFile) {
      const file = await new Promise((found, failed) => entry.file(found, failed));
      places.set(file, entry.fullPath.replace(/^[/]/, ""));
      return [file];
    }
    const reader = entry.createReader(), found = [];
    for (;;) {
      const some = await new Promise((read, failed) => reader.readEntries(read, failed));
      if (!some.length) break;
      for (const one of some) found.push(...await within(one));
    }
    return found;
  }
  async function dropped(transfer) {
    const entries = Array.from(transfer.items || [], (item) => item.webkitGetAsEntry && item.webkitGetAsEntry()).filter(Boolean);
    if (!entries.length) return Array.from(transfer.files);
    const found = [];
    for (const entry of entries) found.push(...await within(entry));
    return found;
  }

  async function look(files) {
    sent = sorted(files);
    found = null;
    const name = form.elements.name, place = files.length ? placeOf(files[0]).split("/") : [];
    if (files.length && !name.value) name.value = (place.length > 1 ? place[0] : (sent.table || files[0]).name.replace(/\.[^.]*$/, "")).slice(0, 80);
    const parts = [];
    if (sent.table) parts.push("the table " + sent.table.name);
    if (sent.images.length) parts.push(many(sent.images.length, "picture"));
    if (sent.material.length) parts.push(many(sent.material.length, "recording or text").replace("texts", "texts"));
    understood.textContent = parts.length ? "Found " + parts.join(" and ") + (sent.left ? "; " + many(sent.left, "other file") + " left out" : "") + "." : "None of these files can be used.";
    if (sent.table) {
      const data = new FormData();
      data.append("table", sent.table);
      understood.textContent += " Reading the table …";
      try {
        found = await call("/api/describe", data);
        understood.textContent = many(found.rows, "row") + " and " + many(found.n_features, "number") + " a row: " + found.format + ".";
        say("");
      } catch (error) { say(error.message); understood.textContent = ""; }
    }
    show();
  }
  for (const input of [form.elements.chosen, form.elements.folder]) {
    input.addEventListener("change", () => look(Array.from(input.files)));
    if (input.files.length) look(Array.from(input.files)); // chosen before this script ran, or kept by the browser
  }
  const drop = document.getElementById("drop");
  document.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  document.addEventListener("dragleave", () => drop.classList.remove("over"));
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    try { await look(await dropped(event.dataTransfer)); } catch { say("What was dropped cannot be read. Choose it instead."); }
  });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const data = new FormData(), button = form.querySelector("button[type=submit]"), bar = document.getElementById("sending");
    if (!sent.table && !sent.images.length && !sent.material.length) return say("Choose some files first.");
    for (const name of ["name", "kind", "strategy", "clusters"]) data.append(name, form.elements[name].value);
    if (sent.table) data.append("table", sent.table);
    for (const file of sent.images) data.append("images", file, placeOf(file));
    for (const file of sent.material) data.append("material", file, file.name);
    data.append("roles", JSON.stringify(said()));
    button.disabled = true;
    bar.hidden = false;
    say("");
    try { location.href = (await call("/api/projects", data)).go; }
    catch (error) { say(error.message); button.disabled = false; bar.hidden = true; }
  });
})();
