// What a flame graph does when a browser opens it: zoom, search, details. Without it the picture is complete.
// Only the boxes in the file are known here; each says who it is in its <title>, name first.
"use strict";
(() => {
  const svg = document.currentScript.closest("svg");
  const NS = "http://www.w3.org/2000/svg";
  const one = (name) => svg.querySelector("." + name);
  const area = one("frames"), details = one("details"), legend = one("legend");
  const pitch = Number(area.dataset.pitch), rootsOnTop = area.dataset.icicle === "1";
  const fileWidth = Number(area.dataset.width), margin = Number(area.dataset.margin);
  let width = fileWidth, view = null, current = null, letter = 6.7;

  const frames = [...area.children].map((g) => {
    const box = g.querySelector("rect"), title = g.querySelector("title").textContent;
    const at = Number(box.getAttribute("x")) / fileWidth, wide = Number(box.getAttribute("width")) / fileWidth;
    const row = Math.round(Number(box.getAttribute("y")) / pitch);
    const hatch = g.querySelector(".h");
    return { g, box, hatch, title, name: title.split("\n")[0], at, wide, row, level: 0, label: g.querySelector("text") };
  });
  for (const f of frames) f.level = Math.abs(f.row - frames[0].row);
  const all = frames[0];
  view = all;

  // The name in as many letters as there are; what is cut first is what says least.
  const shorten = (name, room) => {
    if (room < 3) return "";
    if (name.length <= room) return name;
    let bare = name.replace(/ \[clone.*$/, ""), before = "";
    while (bare !== before) {
      before = bare;
      bare = bare.replace(/<[^<>\u2026]*>/g, "<\u2026>").replace(/<(?:[^<>]|<\u2026>)+>/g, "<\u2026>");
      bare = bare.replace(/\((?!anonymous namespace\))[^()]*\)/g, "");
    }
    bare = bare.replace(/ const$/, "");
    if (/::|</.test(bare)) bare = bare.replace(/^.* (?=\S)/, "");
    if (bare.length <= room) return bare;
    const scopes = bare.split("::");
    while (scopes.length > 1) {
      scopes.shift();
      const rest = "\u2026" + scopes.join("::");
      if (rest.length <= room) return rest;
    }
    return scopes[0].slice(0, room - 1) + "\u2026";
  };

  // Black or white, as the letters that are there already.
  const inkOn = (fill) => {
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(fill.slice(i, i + 2), 16));
    return (0.2126 * r * r + 0.7152 * g * g + 0.0722 * b * b) / 65025 < 0.18 ? "#ffffff" : "#000000";
  };

  const place = (f) => {
    const from = (f.at - view.at) / view.wide * width, to = (f.at + f.wide - view.at) / view.wide * width;
    const left = Math.max(from, 0), right = Math.min(to, width), isShown = right - left > 0.3;
    f.g.style.display = isShown ? "" : "none";
    if (!isShown) return;
    for (const box of [f.box, f.hatch]) {
      if (!box) continue;
      box.setAttribute("x", left);
      box.setAttribute("width", right - left);
    }
    f.g.classList.toggle("up", f.level < view.level);
    const text = shorten(f.name, Math.floor((right - left - 6) / letter));
    if (text && !f.label) {
      f.label = document.createElementNS(NS, "text");
      f.label.setAttribute("y", f.row * pitch + 11.5);
      f.label.setAttribute("fill", inkOn(f.box.getAttribute("fill")));
      f.g.append(f.label);
    }
    if (!f.label) return;
    f.label.setAttribute("x", left + 3);
    f.label.textContent = text;
  };

  const draw = () => frames.forEach(place);

  const zoom = (f) => {
    view = f;
    reset.style.display = f === all ? "none" : "";
    draw();
  };

  // What is known of a frame, in place of the legend; a long name must not push the numbers out of sight.
  const tell = (f) => {
    legend.style.display = f ? "none" : "";
    const [name, ...rest] = f ? f.title.split("\n") : [""];
    const room = Math.max(20, Math.floor(width / 6.5) - rest.join("     ").length);
    details.textContent = [name.length > room ? name.slice(0, room - 1) + "\u2026" : name, ...rest].join("  \u00b7  ");
  };

  // A frame inside one that matches is part of it already: only the outermost are added up.
  const search = (text) => {
    let wanted = null, sum = 0, inside = Infinity, hits = 0;
    field.style.borderColor = "";
    try { wanted = text ? new RegExp(text, "i") : null; } catch { field.style.borderColor = "#e33"; }
    for (const f of frames) {
      if (f.level <= inside) inside = Infinity;
      const isHit = wanted !== null && f !== all && wanted.test(f.name);
      f.g.classList.toggle("hit", isHit);
      hits += isHit;
      if (isHit && inside === Infinity) { sum += f.wide; inside = f.level; }
    }
    matched.textContent = wanted ? `${hits} frame${hits === 1 ? "" : "s"}, ${(100 * sum).toFixed(2)} %` : "";
    svg.classList.toggle("searching", wanted !== null);
  };

  // Controls are only there where somebody can use them.
  const controls = document.createElementNS(NS, "foreignObject");
  const div = document.createElementNS("http://www.w3.org/1999/xhtml", "div");
  div.setAttribute("class", "controls");
  const make = (tag, props) => {
    const e = Object.assign(document.createElementNS("http://www.w3.org/1999/xhtml", tag), props);
    div.append(e);
    return e;
  };
  const reset = make("button", { type: "button", textContent: "Reset zoom" });
  const matched = make("span", {});
  const keys = "A regular expression over function names. Keys: / goes here, arrows move, Enter zooms, Esc resets";
  const field = make("input", { type: "search", placeholder: "Search (regex)", title: keys });
  matched.setAttribute("role", "status");
  field.setAttribute("aria-label", "Search function names");
  controls.append(div);
  svg.append(controls);

  const resize = () => {
    const isPage = document.documentElement === svg;
    if (isPage) {
      const wide = Math.max(320, document.documentElement.clientWidth || window.innerWidth);
      const high = svg.viewBox.baseVal.height;
      svg.setAttribute("width", wide);
      svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
      width = wide - 2 * margin;
    }
    controls.setAttribute("x", width + 2 * margin - 430);
    controls.setAttribute("width", 420);
    controls.setAttribute("height", 30);
    draw();
  };

  // In a deep picture the controls stay in sight.
  const follow = () => controls.setAttribute("y", 8 + (document.documentElement === svg ? window.scrollY : 0));

  const related = (key) => {
    const i = frames.indexOf(current);
    const deeper = rootsOnTop ? "ArrowDown" : "ArrowUp";
    if (key === deeper) return frames[i + 1] && frames[i + 1].level === current.level + 1 ? frames[i + 1] : current;
    if (key === "ArrowUp" || key === "ArrowDown") {
      for (let k = i; k >= 0; k--) if (frames[k].level === current.level - 1) return frames[k];
      return current;
    }
    const step = key === "ArrowRight" ? 1 : -1;
    for (let k = i + step; k >= 0 && k < frames.length; k += step) if (frames[k].level === current.level) return frames[k];
    return current;
  };

  const move = (f) => {
    if (current) current.g.classList.remove("at");
    current = f;
    f.g.classList.add("at");
    tell(f);
  };

  document.addEventListener("keydown", (e) => {
    const isTyping = document.activeElement === field;
    if (e.key === "Escape") {
      field.value = "";
      field.blur();
      search("");
      zoom(all);
    } else if ((e.key === "/" && !isTyping) || (e.key === "f" && (e.ctrlKey || e.metaKey))) {
      field.focus();
    } else if (e.key.startsWith("Arrow") && !isTyping) {
      move(current ? related(e.key) : view);
    } else if (e.key === "Enter" && !isTyping && current) {
      zoom(current);
    } else {
      return;
    }
    e.preventDefault();
  });
  const frameOf = (e) => frames.find((f) => f.g === e.target.closest("g")) || null;
  area.addEventListener("click", (e) => { const f = frameOf(e); if (f) zoom(f); });
  area.addEventListener("mouseover", (e) => tell(frameOf(e)));
  area.addEventListener("mouseleave", () => tell(null));
  reset.addEventListener("click", () => zoom(all));
  field.addEventListener("input", () => search(field.value));
  window.addEventListener("resize", resize);
  window.addEventListener("scroll", follow);

  const ruler = document.createElementNS(NS, "text");
  ruler.textContent = "0".repeat(50);
  area.append(ruler);
  letter = ruler.getComputedTextLength() / 50 || letter;
  ruler.remove();
  reset.style.display = "none";
  resize();
  if (document.documentElement === svg && !rootsOnTop) window.scrollTo(0, svg.viewBox.baseVal.height);
  follow();
})();
