// The picture: the car as the player draws it, a ground that moves with it, three cameras.

const SEEN = 60; // m: visible grid around the car
const FORCE_LENGTH = 0.22; // length of the arrow of a tire's force at rest, relative to the car
const FOLLOWS = 0.12; // fraction of the car's turn that the camera follows per frame

class DriveScene {
  constructor(canvas, told) {
    this.told = told;
    this.run = decodeRun(told.run);
    this.stage = new Stage(canvas, [this.run]);
    this.near = this.stage.near;
    this.stage.size = SEEN;
    this.actor = new Actor(this.run, this.near);
    this.actor.run = this.run;
    this.stage.scene.add(this.actor.root);
    this.stage.controls.enabled = false;
    this.stage.hurry();
    for (const { userData } of this.actor.materials.values()) if (userData.color === "sheet") userData.opacity = 1; // the road
    this.chassis = Math.max(0, told.tracks.findIndex((track) => track.position?.startsWith("chassis.")));
    const box = new L.Box3().setFromObject(this.actor.groups[this.chassis]);
    const extent = box.isEmpty() ? new L.Vector3(4, 1.8, 1.4) : box.getSize(new L.Vector3());
    this.length = Math.max(extent.x, 2.5);
    const forces = this.actor.arrows.map(({ columns }) => Math.hypot(...columns.map((column) => column[0])));
    const mean = forces.reduce((sum, force) => sum + force, 0) / forces.length;
    for (const arrow of this.actor.arrows) arrow.scale = (FORCE_LENGTH * this.length) / mean;
    this.eyes = { position: new L.Vector3(...told.eyes), turn: new L.Quaternion() };
    this.behind = new L.Quaternion();
    this.camera = "chase";
    this.arrows = true;
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  }

  setTheme(name) {
    this.themeName = name;
    document.documentElement.dataset.theme = name;
    this.stage.setTheme(THEMES[name]);
    for (const { material } of this.stage.floor.children) material.depthTest = false; // below all else, however far
    this.stage.floor.renderOrder = -1;
    this.actor.paint(THEMES[name], false);
    for (const arrow of this.actor.arrows) arrow.item.visible = this.arrows;
  }

  showArrows(on) {
    this.arrows = on;
    for (const arrow of this.actor.arrows) {
      arrow.item.visible = on;
      arrow.holder.visible = on;
    }
  }

  // Show the car at a row of outputs; `at`: the first moment, at which the camera jumps.
  place(car, row, at = false) {
    const columns = (name) => car.values(name, row).map((value) => Float64Array.of(value));
    this.run.times = Float64Array.of(0);
    this.told.tracks.forEach((track, i) => (this.run.poses[i] = posesOf(track, columns, 1, 1)));
    for (const arrow of this.actor.arrows) arrow.columns = columns(arrow.channel);
    this.actor.setTime(0);
    const [x, y, z, w, qx, qy, qz] = this.run.poses[this.chassis].map((column) => column[0]);
    const position = new L.Vector3(x, y, z);
    const turn = new L.Quaternion(qx, qy, qz, w);
    this.moveGround(position);
    this.look(position, turn, at);
    this.stage.light(position);
  }

  // The grid moves with the car, in steps of its line spacing.
  moveGround(position) {
    const step = 25;
    const { floor } = this.stage;
    const wanted = [Math.round(position.x / step) * step, Math.round(position.y / step) * step];
    floor.position.set(wanted[0], wanted[1], this.told.course.floor);
  }

  look(position, turn, at) {
    if (at) this.behind.copy(turn);
    else this.behind.slerp(turn, FOLLOWS);
    goAlong(this.stage.camera, this.camera, { position, turn, behind: this.behind, length: this.length, eyes: this.eyes }, this.stage.up);
  }

  nextCamera() {
    this.camera = CAMERAS[(CAMERAS.indexOf(this.camera) + 1) % CAMERAS.length];
    return this.camera;
  }

  resize(width, height) {
    this.stage.resize(width, height, 1);
    setLens(this.stage.camera, this.camera, this.length, 900);
  }

  // `milliseconds`: since the last frame, from which the resolution follows.
  draw(milliseconds) {
    this.stage.adapt(milliseconds);
    this.stage.render([[]]);
  }
}
