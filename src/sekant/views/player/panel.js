// The list of all drawn items: show and hide, trace, follow.

const GROUPS = [
  ["bodies", "Bodies"],
  ["points", "Points"],
  ["joints", "Joints"],
  ["forces", "Springs and forces"],
  ["paths", "Paths and surfaces"],
  ["reactions", "Forces in joints"],
];

class Panel {
  constructor(player) {
    this.player = player;
    this.rows = new Map();
    const holder = byId("items");
    for (const [group, title] of GROUPS) {
      const items = this.itemsOf(group);
      if (!items.length) continue;
      const all = element("input", { type: "checkbox", "aria-label": `Show ${title.toLowerCase()}` });
      all.checked = items.some((item) => item.visible);
      const rows = items.map((item) => this.row(item));
      all.addEventListener("change", () => items.forEach((item) => this.show(item.key, all.checked)));
      const summary = element("summary", {}, all, element("span", { text: title }), element("span", { class: "count", text: items.length }));
      const details = element("details", { class: "group" }, summary, ...rows);
      details.open = group === "bodies" || (items.length <= 6 && group !== "joints" && group !== "reactions");
      holder.append(details);
    }
  }

  itemsOf(group) {
    const found = new Map();
    for (const actor of this.player.actors) {
      for (const item of actor.items.values()) if (item.group === group && !found.has(item.key)) found.set(item.key, item);
    }
    return [...found.values()];
  }

  row(item) {
    const box = element("input", { type: "checkbox", onchange: () => this.show(item.key, box.checked) });
    box.checked = item.visible;
    const dot = element("i", { class: "dot" });
    dot.style.background = THEMED[item.color] ? "var(--steel)" : item.color;
    const row = element("div", { class: "row" }, element("label", {}, box, dot, element("span", { text: item.name })));
    this.rows.set(item.key, { box });
    if (item.track >= 0 && (item.group === "bodies" || item.group === "points")) {
      const trace = element("button", { class: "icon", text: "∿", title: "Trace of its origin", "aria-label": "Trace" });
      trace.addEventListener("click", () => this.player.toggleTrace(item.track));
      const follow = element("button", { class: "icon", text: "◎", title: "Follow it with the camera", "aria-label": "Follow" });
      follow.addEventListener("click", () => this.player.follow(this.player.followed === item.track ? -1 : item.track));
      Object.assign(this.rows.get(item.key), { trace, follow, track: item.track });
      row.append(trace, follow);
    }
    return row;
  }

  show(key, visible) {
    for (const actor of this.player.actors) actor.show(key, visible);
    this.rows.get(key).box.checked = visible;
    this.player.stage.dirty = true;
  }

  update() {
    for (const { trace, follow, track } of this.rows.values()) {
      if (!trace) continue;
      trace.classList.toggle("on", this.player.traced.has(track));
      follow.classList.toggle("on", this.player.followed === track);
    }
  }
}
