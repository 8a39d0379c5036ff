// The driver's inputs: keys, mouse, touch, game pad -> steering wheel angle (rad, to the left), throttle and brake (0 to 1).

const FAST = 8; // m/s: above this, keys and sticks turn the wheel less, as its effect grows
const LEAST_LOCK = 0.05; // of the lock
const WHEEL_RATE = 9; // rad/s: of the hands on the wheel
const PEDAL_RATE = 4; // 1/s
const DEAD = 0.06; // of a stick
const REACH_PX = 220; // of a mouse or finger for the whole lock

class Controls {
  // `lock`: rad of the steering wheel to each side.
  constructor(canvas, lock) {
    this.lock = lock;
    this.pressed = new Set();
    this.wheel = 0;
    this.throttle = 0;
    this.brake = 0;
    this.drag = null; // of a mouse or a finger: { id, x, y, turn, pedal }
    this.source = "keys";
    this.actions = new Map();
    addEventListener("keydown", (event) => this.key(event, true));
    addEventListener("keyup", (event) => this.key(event, false));
    addEventListener("blur", () => this.pressed.clear());
    canvas.addEventListener("pointerdown", (event) => this.take(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.release(event));
  }

  key(event, down) {
    if (event.target.matches?.("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = this.actions.get(name);
    if (action && down && !event.repeat) action();
    if (/^(Arrow|[wasd ]$)/.test(name)) {
      event.preventDefault();
      this.source = "keys";
      if (down) this.pressed.add(name);
      else this.pressed.delete(name);
    }
  }

  take(event) {
    if (this.drag || event.button > 0) return;
    this.drag = { id: event.pointerId, x: event.clientX, y: event.clientY, turn: 0, pedal: 0 };
    this.source = "pointer";
    event.target.setPointerCapture(event.pointerId);
  }

  // To the side: the steering wheel. Up: throttle; down: brake.
  move(event) {
    if (!this.drag || event.pointerId !== this.drag.id) return;
    const limit = (x) => Math.max(-1, Math.min(1, x / REACH_PX));
    this.drag.turn = limit(this.drag.x - event.clientX);
    this.drag.pedal = limit(1.6 * (this.drag.y - event.clientY));
  }

  release(event) {
    if (this.drag && event.pointerId === this.drag.id) this.drag = null;
  }

  pad() {
    const pads = navigator.getGamepads ? [...navigator.getGamepads()].filter(Boolean) : [];
    const pad = pads[0];
    if (!pad) return null;
    const stick = Math.abs(pad.axes[0]) > DEAD ? pad.axes[0] : 0;
    const pedal = (number) => pad.buttons[number]?.value || 0;
    if (stick || pedal(7) || pedal(6)) this.source = "pad";
    return { turn: -stick, throttle: pedal(7), brake: pedal(6) };
  }

  // Move wheel and pedals for `dt` s at the speed `v` m/s.
  update(dt, v) {
    const has = (...names) => names.some((name) => this.pressed.has(name));
    const pad = this.pad();
    let turn = Number(has("ArrowLeft", "a")) - Number(has("ArrowRight", "d"));
    let throttle = Number(has("ArrowUp", "w"));
    let brake = Number(has("ArrowDown", "s", " "));
    if (this.source === "pointer" && this.drag) {
      turn = this.drag.turn;
      throttle = Math.max(0, this.drag.pedal);
      brake = Math.max(0, -this.drag.pedal);
    } else if (this.source === "pad" && pad) ({ turn, throttle, brake } = pad);
    const lock = this.lock * Math.max(LEAST_LOCK, Math.min(1, (FAST / Math.max(v, 0.1)) ** 2));
    const toward = (value, wanted, rate) => value + Math.max(-rate * dt, Math.min(rate * dt, wanted - value));
    this.wheel = toward(this.wheel, turn * lock, WHEEL_RATE);
    this.throttle = toward(this.throttle, throttle, PEDAL_RATE);
    this.brake = toward(this.brake, brake, 2 * PEDAL_RATE);
  }

  still() {
    this.wheel = this.throttle = this.brake = 0;
    this.drag = null;
    this.pressed.clear();
  }
}

// Driving aids: less throttle where driven wheels spin, less brake where wheels lock. A pedal is reduced in proportion to
// the slip beyond a limit, and comes back slowly.
const SPIN = 0.12; // longitudinal slip of a wheel, above which the throttle is reduced
const LOCKED = 0.16; // the same for the brake
const CREEP = 8; // m/s: below this speed, the slip velocity is limited, because the slip itself grows without bound
const LEAST = 0.02; // of the pedal
const RECOVER = 0.02; // of the pedal per step of the aids

class Aids {
  constructor(car) {
    this.car = car;
    this.on = true;
    this.tires = [...car.offsets.keys()].filter((name) => name.endsWith(".tire.kappa"));
    this.restart();
  }

  restart() {
    this.grip = this.hold = 1;
  }

  throttle(wanted) {
    this.grip = this.share(this.grip, Math.max(...this.slips()), SPIN);
    return this.on ? Math.min(wanted, this.grip) : wanted;
  }

  brake(wanted) {
    this.hold = this.share(this.hold, -Math.min(...this.slips()), LOCKED);
    return this.on ? Math.min(wanted, this.hold) : wanted;
  }

  slips() {
    return this.tires.map((name) => this.car.value(name));
  }

  // The fraction of a pedal that the aids allow: all up to the limit, none at three times the limit.
  share(before, slip, limit) {
    const most = limit * Math.max(1, CREEP / Math.max(Math.abs(this.car.value("speed")), 0.05));
    return Math.min(1, before + RECOVER, Math.max(LEAST, 1.5 - (0.5 * slip) / most));
  }
}
