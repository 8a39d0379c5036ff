// The picture: the car as the player draws it, the ground that goes with it, three cameras.

const CAMERAS = ["chase", "cockpit", "top"];
const SEEN = 60; // m: of the grid around the car
const FORCE_SCALE = 3e-4; // m/N: of tire forces
const EYES = [-0.35, 0.32, 0.62]; // m, of the driver in the axes of the chassis, before its size is known

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
    for (const arrow of this.actor.arrows) arrow.scale = FORCE_SCALE;
    this.chassis = Math.max(0, told.tracks.findIndex((track) => track.position?.startsWith("chassis.")));
    const box = new L.Box3().setFromObject(this.actor.groups[this.chassis]);
    this.extent = box.isEmpty() ? new L.Vector3(4, 1.8, 1.4) : box.getSize(new L.Vector3());
    this.camera = "chase";
    this.arrows = true;
    this.heading = 0;
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  }

  setTheme(name) {
    this.themeName = name;
    document.documentElement.dataset.theme = name;
    this.stage.setTheme(THEMES[name]);
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

  // The car at a row of outputs; `at`: the first moment, from where the camera does not glide.
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

  // The grid goes with the car, in steps of its own lines.
  moveGround(position) {
    const step = 25;
    const { floor } = this.stage;
    const wanted = [Math.round(position.x / step) * step, Math.round(position.y / step) * step];
    floor.position.set(wanted[0], wanted[1], 0);
  }

  look(position, turn, at) {
    const { camera } = this.stage;
    const forward = new L.Vector3(1, 0, 0).applyQuaternion(turn);
    const heading = Math.atan2(forward.y, forward.x);
    const off = Math.atan2(Math.sin(heading - this.heading), Math.cos(heading - this.heading));
    this.heading = at ? heading : this.heading + 0.12 * off;
    camera.up.set(0, 0, 1);
    if (this.camera === "cockpit") {
      const eyes = new L.Vector3(EYES[0], EYES[1], 0.32 * this.extent.z + 0.3);
      camera.position.copy(eyes.applyQuaternion(turn).add(position));
      camera.up.set(0, 0, 1).applyQuaternion(turn);
      camera.lookAt(camera.position.clone().addScaledVector(forward, 10));
    } else if (this.camera === "top") {
      camera.position.set(position.x, position.y, position.z + 45);
      camera.up.set(Math.cos(this.heading), Math.sin(this.heading), 0);
      camera.lookAt(position);
    } else {
      const back = new L.Vector3(Math.cos(this.heading), Math.sin(this.heading), 0);
      const distance = 1.9 * Math.max(this.extent.x, 2.5);
      camera.position.copy(position).addScaledVector(back, -distance);
      camera.position.z += 0.3 * distance;
      camera.lookAt(position.clone().addScaledVector(back, 0.9 * distance));
    }
    camera.updateMatrixWorld();
  }

  nextCamera() {
    this.camera = CAMERAS[(CAMERAS.indexOf(this.camera) + 1) % CAMERAS.length];
    return this.camera;
  }

  resize(width, height) {
    this.stage.resize(width, height, 1);
    this.stage.camera.near = 0.1;
    this.stage.camera.far = 900;
    this.stage.camera.fov = this.camera === "cockpit" ? 60 : 42;
    this.stage.camera.updateProjectionMatrix();
  }

  // `milliseconds`: since the last frame, by which the picture gets as fine as there is time for.
  draw(milliseconds) {
    this.stage.adapt(milliseconds);
    this.stage.render([[]]);
  }
}
