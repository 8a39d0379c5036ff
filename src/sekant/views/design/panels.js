// Tables beside the picture: hard points, set-up changes and lengths of links, targets.

const mm = (value) => 1e3 * value;
const spaced = (name) => name.replaceAll("_", " ").replaceAll(".", ", ");

// A field for a number: `shown` and `taken` convert between SI and the display unit.
function numberField({ label, step = 1, get, set, factor = 1e3, digits = 4 }) {
  const field = element("input", { type: "number", step: String(step), inputmode: "decimal", "aria-label": label, class: "number" });
  const show = () => {
    if (document.activeElement !== field) field.value = String(Number((get() * factor).toFixed(digits)));
  };
  const take = (last) => {
    const value = Number(field.value);
    if (field.value === "" || !Number.isFinite(value)) {
      if (last) show();
      return;
    }
    if (value !== Number((get() * factor).toFixed(digits))) set(value / factor, last);
    else if (last) set(get(), true);
  };
  field.addEventListener("input", () => take(false));
  field.addEventListener("change", () => {
    take(true);
    field.blur();
  });
  field.addEventListener("keydown", (event) => event.stopPropagation());
  return { field, show };
}

class PointsPanel {
  constructor(page, holder) {
    this.page = page;
    const { design } = page;
    this.rows = design.told.points.map(({ name, about, parameters, held }, point) => {
      const fields = parameters.map((index, axis) =>
        numberField({ label: `${name} ${"xyz"[axis]} in mm`, get: () => design.p[index], set: (value, last) => page.set({ [index]: value }, last) }),
      );
      fields.forEach(({ field }, axis) => (field.disabled = held[axis]));
      const reset = element("button", { class: "icon", text: "↺", title: "Reset to the first design", onclick: () => page.set(Object.fromEntries(parameters.map((i) => [i, design.first[i]])), true) });
      const button = element("button", { class: "point-name", text: spaced(name), title: about, onclick: () => page.choose(point) });
      const row = element("tr", { "data-point": name }, element("th", {}, button), ...fields.map(({ field }) => element("td", {}, field)), element("td", {}, reset));
      row.addEventListener("focusin", (event) => event.target.matches("input") && page.choose(point));
      return { row, fields, reset, parameters };
    });
    const head = element("tr", {}, element("th", { text: "point" }), ...["x", "y", "z"].map((axis) => element("th", { text: `${axis} mm` })), element("th", {}));
    holder.append(element("p", { class: "hint", text: "x forward, y to the left, z up; points of the side that the file describes." }), element("table", { class: "points" }, element("thead", {}, head), element("tbody", {}, ...this.rows.map(({ row }) => row))));
  }

  update() {
    const { design, picture } = this.page;
    this.rows.forEach(({ row, fields, reset, parameters }, point) => {
      fields.forEach(({ field, show }, axis) => {
        show();
        field.classList.toggle("changed", design.p[parameters[axis]] !== design.first[parameters[axis]]);
      });
      const changed = parameters.some((i) => design.p[i] !== design.first[i]);
      reset.style.visibility = changed ? "" : "hidden";
      row.classList.toggle("chosen", picture.chosen?.point === point);
    });
  }
}

class SetUpPanel {
  constructor(page, holder) {
    this.page = page;
    const { design } = page;
    const { told } = design;
    const names = [...new Set(told.setUp.map(({ name }) => name.slice(name.indexOf(".") + 1)))];
    this.apart = told.setUp.some(({ name, parameter }) => name.startsWith("left.") && design.p[parameter] !== design.p[told.setUp.find((one) => one.name === name.replace("left.", "right.")).parameter]);
    const list = element("div", { class: "set-up" });
    const build = () => {
      this.rows = names.flatMap((own) => {
        const all = told.setUp.filter(({ name }) => name === own || name.endsWith(`.${own}`));
        const groups = this.apart && all.length > 1 ? all.map((one) => [one]) : [all];
        return groups.map((group) => {
          const indices = group.map(({ parameter }) => parameter);
          const label = spaced(group.length > 1 ? own : group[0].name);
          const set = (value, last) => page.set(Object.fromEntries(indices.map((i) => [i, value])), last);
          const { field, show } = numberField({ label: `${label} in mm`, step: 0.5, get: () => design.p[indices[0]], set });
          const slider = element("input", { type: "range", min: -20, max: 20, step: 0.1, "aria-label": label });
          slider.addEventListener("input", () => set(slider.value / 1e3, false));
          slider.addEventListener("change", () => set(slider.value / 1e3, true));
          const row = element("div", { class: "set-up-row", "data-change": group.length > 1 ? own : group[0].name },
            element("div", { class: "set-up-head" }, element("span", { class: "set-up-name", text: label }), field, element("span", { class: "unit", text: "mm" })), slider, element("p", { class: "hint", text: group[0].about }));
          return { row, field, show, slider, indices };
        });
      });
      list.replaceChildren(...this.rows.map(({ row }) => row));
    };
    build();
    if (!names.length) list.append(element("p", { class: "hint", text: "This type of suspension has no set-up changes." }));
    if (told.setUp.some(({ name }) => name.includes("."))) {
      const box = element("input", { type: "checkbox", onchange: () => {
        this.apart = box.checked;
        build();
        this.update();
      } });
      box.checked = this.apart;
      holder.append(element("label", { class: "check" }, box, element("span", { text: "left and right separately" })));
    }
    holder.append(list);
    this.links = told.links.map((name) => ({ now: element("td"), change: element("td", { class: "change" }), name }));
    if (this.links.length) {
      const rows = this.links.map(({ name, now, change }) => element("tr", { "data-link": name }, element("th", { text: name }), now, change));
      holder.append(element("h2", { text: "Lengths of links" }), element("table", { class: "links" }, element("thead", {}, element("tr", {}, element("th", { text: "link" }), element("th", { text: "mm" }), element("th", { text: "change" }))), element("tbody", {}, ...rows)));
    }
  }

  update() {
    const { design } = this.page;
    for (const { field, show, slider, indices } of this.rows) {
      show();
      field.classList.toggle("changed", design.p[indices[0]] !== design.first[indices[0]]);
      if (document.activeElement !== slider) slider.value = mm(design.p[indices[0]]);
    }
    this.links.forEach(({ now, change }, k) => {
      const [length, first] = [design.lengths[k], design.firstLengths[k]];
      now.textContent = mm(length).toFixed(2);
      change.textContent = Math.abs(length - first) > 5e-6 ? `${length > first ? "+" : "−"}${Math.abs(mm(length - first)).toFixed(2)}` : "";
    });
  }
}

class TargetsPanel {
  constructor(page, holder) {
    this.page = page;
    this.list = element("div");
    const { told } = page.design;
    this.pick = element("select", { "aria-label": "Curve" }, ...told.curves.map(({ name }) => element("option", { value: name, text: spaced(name) })));
    this.pick.value = told.curves.some(({ name }) => name === "left.toe") ? "left.toe" : "toe";
    const add = element("button", { text: "Add", id: "add-target", onclick: () => this.add(this.pick.value) });
    const save = element("button", { text: "Download targets", onclick: () => download(`${fileStem(told)}_targets.yaml`, targetsText(page.design), "text/yaml") });
    holder.append(element("p", { class: "hint", text: "A target is a band over the travel, at zero rack travel and roll. The largest deviation is shown next to the curve." }), element("div", { class: "row" }, this.pick, add), this.list, element("div", { class: "row" }, save));
    this.shown = "";
  }

  // Through the ends and the middle of the current curve.
  add(curve) {
    const { design } = this.page;
    const index = design.told.curves.findIndex(({ name }) => name === curve);
    const { columns } = design.onTravel();
    const grid = design.told.travel;
    const known = grid.map((_, k) => k).filter((k) => Number.isFinite(columns[index][k]));
    if (!known.length) return;
    const chosen = [...new Set([known[0], known.reduce((best, k) => (Math.abs(grid[k]) < Math.abs(grid[best]) ? k : best), known[0]), known.at(-1)])];
    const { unit, factor } = design.told.curves[index];
    const size = { rad: 0.1 / factor, m: 1e-3 }[unit] ?? 0.02 * Math.max(1e-6, ...known.map((k) => Math.abs(columns[index][k])));
    const rounded = (value) => Number((value * factor).toPrecision(3)) / factor;
    design.targets.push({ curve, travel: chosen.map((k) => grid[k]), values: chosen.map((k) => rounded(columns[index][k])), band: size });
    this.page.changed(true);
  }

  update(deviations) {
    const { design } = this.page;
    const key = JSON.stringify(design.targets);
    if (key !== this.shown && !this.list.contains(document.activeElement)) {
      this.shown = key;
      this.build();
    }
    this.rows.forEach(({ worst, index }) => {
      const found = deviations.get(design.targets[index]);
      worst.textContent = found ? found.text : "";
      worst.classList.toggle("off", Boolean(found) && !found.inside);
    });
  }

  build() {
    const { page } = this;
    const { design } = page;
    this.rows = design.targets.map((target, index) => {
      const { shown, factor } = design.told.curves.find(({ name }) => name === target.curve);
      const change = (alter) => (value, last) => {
        alter(value);
        page.changed(last);
      };
      const field = (label, get, alter, by, step) => {
        const made = numberField({ label, get, set: change(alter), factor: by, step, digits: 6 });
        made.show();
        return made.field;
      };
      const worst = element("span", { class: "worst" });
      const remove = element("button", { class: "icon", text: "×", title: "Remove", onclick: () => {
        design.targets.splice(index, 1);
        page.changed(true);
      } });
      const points = target.travel.map((_, k) =>
        element("tr", {}, element("td", {}, field("travel in mm", () => target.travel[k], (value) => (target.travel[k] = value), 1e3, 5)),
          element("td", {}, field(`value in ${shown || "1"}`, () => target.values[k], (value) => (target.values[k] = value), factor, 0.1)),
          element("td", {}, target.travel.length > 2 ? element("button", { class: "icon", text: "−", title: "Remove this point", onclick: () => {
            target.travel.splice(k, 1);
            target.values.splice(k, 1);
            page.changed(true);
          } }) : ""),
        ));
      const more = element("button", { text: "+ point", onclick: () => {
        const n = target.travel.length;
        target.travel.push(target.travel[n - 1] + 0.01);
        target.values.push(target.values[n - 1]);
        page.changed(true);
      } });
      const band = field(`band in ${shown || "1"}`, () => target.band, (value) => (target.band = Math.abs(value)), factor, 0.05);
      const root = element("section", { class: "target", "data-curve": target.curve },
        element("div", { class: "plot-head" }, element("span", { class: "plot-name", text: spaced(target.curve) }), worst, remove),
        element("div", { class: "row" }, element("span", { text: "within ±" }), band, element("span", { class: "unit", text: formatUnit(shown) }), more),
        element("table", { class: "target-points" }, element("thead", {}, element("tr", {}, element("th", { text: "travel mm" }), element("th", { text: formatUnit(shown) || "value" }), element("th"))), element("tbody", {}, ...points)));
      return { root, worst, index };
    });
    this.list.replaceChildren(...this.rows.map(({ root }) => root));
    if (!this.rows.length) this.list.append(element("p", { class: "hint", text: "No targets yet." }));
  }
}
