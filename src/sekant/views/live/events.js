// Runs from event to event, as `EventLoop` of `analyses/simulation/events.py`: at events, reactors call the engine's
// procedures; clocks add further stops of the loop. An instant is {t, x, p, stop} and is never modified.

class Refusal extends Error {}

const ON_TIME = 1e-9; // times closer than this to a sample, relative to its period, count as its time
const SMOOTH = 3; // passages through delays after which a kink is negligible

// Sticking, sliding and contact, and the values that declared events set.
class Reactor {
  constructor(loop, told) {
    Object.assign(this, { loop, told, module: loop.module, last: [-Infinity, -1, 0] });
    this.module.restart(told.run);
  }

  put(now) {
    const { module, told } = this;
    const [nq, nv, nz] = this.loop.sizes;
    const parts = { t: [now.t], q: now.x.subarray(0, nq), v: now.x.subarray(nq, nq + nv), z: now.x.subarray(nq + nv, nq + nv + nz), p: now.p };
    for (const [name, values] of Object.entries(parts)) module.field(told.run, name, values.length).set(values);
  }

  // The instant after a procedure; v, z and the held values may have changed.
  taken(now) {
    const { module, told } = this;
    const [nq, nv, nz] = this.loop.sizes;
    const x = now.x.slice();
    x.set(module.field(told.run, "v", nv), nq);
    x.set(module.field(told.run, "z", nz), nq + nv);
    return { ...now, x, p: module.field(told.run, "p", now.p.length).slice() };
  }
}

class BoundForces extends Reactor {
  settled(now, before) {
    return before ? this.after(now, "decide", this.loop.told.beyond, 0) : this.after(now, "begin", 0, 0);
  }

  reaction(now, number) {
    const [t, k, times] = this.last;
    const again = t === now.t && k === number ? times + 1 : 0;
    this.last = [now.t, number, again];
    return this.after(now, "react", number, again > 1 ? 1 : 0);
  }

  after(now, procedure, a, b) {
    const { module, told, loop } = this;
    const { run, names } = told;
    this.put(now);
    const gained = module.field(run, "gained");
    gained.fill(0);
    const code = module.proceed(run, procedure, a, b);
    if (code === 2) throw new Refusal(`Contact '${names[module.integer(run, "blame")]}' starts with a penetration. Choose other values.`);
    const found = this.taken(now);
    gained.forEach((energy, e) => {
      if (energy) found.x[loop.works + loop.told.works.indexOf(names[e])] += energy;
    });
    if (module.integer(run, "several") && !loop.warnings.includes(told.several)) loop.warnings.push(told.several);
    if (code === 1) found.stop = `The run stops: ${told.jams.replace("{t}", Number(now.t.toPrecision(9)))}.`;
    return found;
  }
}

class DeclaredEvents extends Reactor {
  settled(now, before) {
    if (before) {
      this.put(before);
      this.module.proceed(this.told.run, "note");
    }
    return this.after(now, "follow", before ? 0 : 1);
  }

  reaction(now, number) {
    return this.after(now, "react", number);
  }

  after(now, procedure, a) {
    const { module, told } = this;
    const { run, events } = told;
    this.put(now);
    module.setInteger(run, "stopped", -1);
    const at = `t = ${Number(now.t.toPrecision(9))} s`;
    if (module.proceed(run, procedure, a) === 1) {
      throw new Refusal(`Event '${events[module.integer(run, "blame")].name}' at ${at} triggers other events endlessly.`);
    }
    const found = this.taken(now);
    const stopped = module.integer(run, "stopped");
    return stopped < 0 ? found : { ...found, stop: `The run ends: ${events[stopped].stop} at ${at}.` };
  }
}

// Held values that are set at regular times; values set at the same time use the state just before it.
class Samples {
  constructor(loop, told) {
    Object.assign(this, { loop, told });
    this.ticks = told.period.map((period, i) => Math.max(0, Math.ceil((loop.begin - told.offset[i]) / period - ON_TIME)));
  }

  time(i) {
    return this.told.offset[i] + this.ticks[i] * this.told.period[i];
  }

  kink(t) {
    return this.due(t).length ? 0 : SMOOTH;
  }

  due(t) {
    return this.told.period.flatMap((one, i) => (this.time(i) <= t + ON_TIME * one ? [i] : []));
  }

  get next() {
    return Math.min(...this.ticks.map((_, i) => this.time(i)));
  }

  struck(before, now) {
    const { call, place } = this.told;
    const due = this.due(before.t);
    if (!due.length) return now;
    const [nq, nv, nz] = this.loop.sizes;
    const { x, p, t } = before;
    const given = { t: [t], q: x.subarray(0, nq), v: x.subarray(nq, nq + nv), z: x.subarray(nq + nv, nq + nv + nz), p };
    const { fresh } = this.loop.module.ask(call, given);
    const held = now.p.slice();
    for (const i of due) {
      held[place[i]] = fresh[i];
      this.ticks[i] += 1;
    }
    return { ...now, p: held };
  }
}

// Times at which a function of time jumps or kinks: nothing is changed, but reactors are called.
class TimeStops {
  constructor(stops) {
    Object.assign(this, { stops, at: 0 });
  }

  get next() {
    return this.stops[this.at] ?? Infinity;
  }

  kink(t) {
    return this.next <= t + 1e-12 * Math.max(Math.abs(t), 1) ? 0 : SMOOTH;
  }

  struck(before, now) {
    while (this.next <= now.t + 1e-12 * Math.max(Math.abs(now.t), 1)) this.at += 1;
    return now;
  }
}

class EventLoop {
  constructor(simulation, stops) {
    const { module, told, begin, end, apart, warnings } = simulation;
    Object.assign(this, { simulation, module, told, begin, end, apart, warnings, sizes: told.sizes });
    this.works = told.sizes[0] + told.sizes[1] + told.sizes[2]; // index of the work in x
    const kinds = { bound: BoundForces, declared: DeclaredEvents };
    this.reactors = told.reactors.map((one) => new kinds[one.kind](this, one));
    this.delays = told.delays ? new Delays(this, told.delays) : null;
    this.clocks = [told.samples && new Samples(this, told.samples), this.delays, new TimeStops(stops)].filter(Boolean);
    this.last = [-1, -Infinity];
    this.usual = 0;
    this.events = 0;
  }

  *run(start) {
    let now = this.settled(this.struck(start), null, this.reactors);
    while (!now.stop) {
      let mark = Math.min(this.end, ...this.clocks.map((clock) => clock.next));
      if (this.end - mark <= this.apart) mark = this.end;
      if (this.end - now.t <= this.apart) {
        while (this.simulation.done < this.simulation.times.length) this.simulation.put(now.x, now.p);
        return { code: FINISHED };
      }
      if (mark < this.end && mark - now.t <= this.apart) {
        now = this.passed(now);
        continue;
      }
      const [begin, from] = [now.t, now];
      const found = yield* this.stretch(now, mark);
      now = { ...now, t: found.t, x: found.x };
      if (found.code === EVENT) {
        const again = this.last[0] === found.number && this.last[1] === begin && now.t - begin <= this.apart;
        if (!again) yield* this.tell(from, now, null);
        now = again ? this.beyond(now) : this.event(now, found);
      } else if (found.code !== FINISHED) return { code: found.code, message: this.simulation.explain(found) };
      else if (mark >= this.end) return { code: FINISHED };
      else {
        yield* this.tell(from, now, found.nodes);
        now = this.passed(now);
      }
    }
    const { simulation } = this;
    if (simulation.done < simulation.times.length) {
      simulation.times[simulation.done] = now.t;
      simulation.put(now.x, now.p);
    }
    return { code: STOPPED, message: now.stop };
  }

  // Run to `mark` or to the next event, with the rows in between.
  *stretch(now, mark) {
    const { simulation, apart } = this;
    const { times, done } = simulation;
    const last = mark >= this.end;
    const kept = [now.t];
    let count = done; // rows of this stretch if no event ends it
    while (count < times.length && (last || times[count] < mark - apart)) {
      if (times[count] > now.t + apart) kept.push(times[count]);
      count += 1;
    }
    if (kept.at(-1) < mark) kept.push(mark);
    const wanted = kept.slice();
    const nodes = this.nodes(now.t, mark).filter((t) => wanted.every((other) => Math.abs(other - t) > apart));
    if (nodes.length) kept.splice(0, Infinity, ...[...wanted, ...nodes].sort((s, t) => s - t));
    const stretch = simulation.stretches.over(kept, [now.t, mark], now.x, now.p, this.usual);
    const found = yield* simulation.part(stretch);
    for (let i = done, at = 0; i < count; i++) {
      while (kept[at] < times[i] && times[i] > now.t + apart) at += 1;
      if (at >= found.rows) break;
      simulation.put(found.row(at), now.p);
    }
    const at = new Set(nodes);
    found.nodes = kept.flatMap((t, i) => (at.has(t) && i < found.rows ? [{ t, x: found.row(i).slice() }] : []));
    this.usual = found.usual;
    return found;
  }

  nodes(begin, end) {
    return this.delays ? this.delays.nodes(begin, end) : [];
  }

  // Pass the motion from `start` to `end` to the delays; `rows` at their nodes, null if an event came before the mark.
  *tell(start, end, rows) {
    if (!this.delays) return;
    let known = rows;
    if (!known) {
      const nodes = this.nodes(start.t, end.t).filter((t) => t > start.t && t < end.t);
      const times = [start.t, ...nodes, end.t];
      if (end.t > start.t) {
        const found = yield* this.simulation.part(this.simulation.stretches.over(times, [start.t, end.t], start.x, start.p, this.usual));
        known = nodes.slice(0, Math.max(0, found.rows - 1)).map((t, i) => ({ t, x: found.row(i + 1).slice() }));
      } else known = [];
    }
    const kink = rows ? Math.min(...this.clocks.map((clock) => clock.kink(end.t))) : 0;
    this.delays.passed(start, end.t, known, kink);
  }

  event(before, found) {
    this.events += 1;
    if (this.events > MOST_EVENTS) throw new Refusal(`More than ${MOST_EVENTS} events by t = ${Number(before.t.toPrecision(6))} s. Choose other values.`);
    const from = found.jumped ? this.beyond(before) : before;
    let { number } = found;
    for (const reactor of this.reactors) {
      if (number < reactor.told.count) {
        const now = reactor.reaction(from, number);
        this.last = [found.number, now.t];
        return this.settled(now, from, this.reactors.filter((other) => other !== reactor));
      }
      number -= reactor.told.count;
    }
    throw new Error(`event ${found.number} belongs to no event function`);
  }

  settled(now, before, reactors) {
    return reactors.reduce((reached, reactor) => reactor.settled(reached, before), now);
  }

  struck(now) {
    return this.clocks.reduce((reached, clock) => clock.struck(now, reached), now);
  }

  // The instant after the clocks, at which reactors react to jumps in time.
  passed(now) {
    const before = { ...now, t: now.t - this.apart };
    const after = { ...this.struck(now), t: now.t + this.apart };
    return { ...this.settled(after, before, this.reactors), t: now.t };
  }

  // A step beyond the event at the current time, so short that its error is negligible.
  beyond(now) {
    const h = this.apart;
    const given = { t: [now.t], x: now.x.subarray(0, this.works), p: now.p };
    const { rate0 } = this.module.ask(this.told.rates, given);
    const x = now.x.slice();
    for (let i = 0; i < this.works; i++) x[i] += h * rate0[i];
    return { ...now, t: now.t + h, x };
  }
}
