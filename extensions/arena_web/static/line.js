// Positions that follow one another on a board that takes moves: by hand, by an agent, or from a solution.
import { post } from "./api.js";
import { mountPlayer } from "./player.js";

export class Line {
  // `onChange` is called after every change of the line, `onShow` when another position of it is shown; `onFault(error)` when
  // something cannot be done; `onChoose(actions)` when a square stands for several. `seen(frame)` is what is shown of a frame, and
  // with `scored` the last position says who has won.
  constructor(element, { labels, keys = false, onChange, onShow = () => {}, onFault, onChoose = () => {}, mine = () => true, seen = (frame) => frame, scored = false }) {
    Object.assign(this, { element, labels, keys, onChange, onShow, onFault, onChoose, mine, seen, scored });
    this.frames = [];
    this.player = null;
    this.asking = null;
  }

  get at() {
    return this.player.at;
  }

  get frame() {
    return this.frames[this.player.at];
  }

  get last() {
    return this.frames.at(-1);
  }

  // Begin anew at a position, given by its text or drawn by lot from a seed, with the `actions` of `start` played from there. What
  // chance does follows from the seed and the number of actions so far, `ply` at the start.
  async begin(game, start) {
    const { game: known, frames } = await this.#ask("/api/position", { game, ...start });
    this.game = game;
    this.seed = start.seed ?? 0;
    this.described = known;
    this.frames = frames.map((frame, number) => ({ ...frame, number, label: frame.seat === null ? null : this.labels()[frame.seat] }));
    this.#load(this.frames.length - 1);
  }

  // How it came about: where it began and what was played, as far as it was.
  get story() {
    const answer = this.frames.findIndex((frame, place) => place > 0 && frame.action === null);
    const played = answer < 0 ? this.frames : this.frames.slice(0, answer);
    return { state: played[0].state, ply: played[0].ply, actions: played.slice(1).map((frame) => frame.action) };
  }

  // Play an action at the position that is shown; whatever came after it is gone.
  async play(action) {
    const at = this.player.at;
    this.player.stop();
    const { frame } = await this.#ask("/api/apply", { game: this.game, ...this.place(this.frame), action });
    this.push({ ...frame, label: this.labels()[frame.seat] }, at);
  }

  // What a request says of where a frame stands.
  place(frame) {
    return { state: frame.state, seed: this.seed, ply: frame.ply ?? 0 };
  }

  push(frame, at = this.player.at) {
    this.frames = [...this.frames.slice(0, at + 1), { ...frame, number: at + 1 }];
    this.#load(at + 1);
  }

  // Put the frames of a solution behind the position that is shown.
  extend(frames) {
    const at = this.player.at;
    const more = frames.map((frame, place) => ({ ...frame, number: frame.number < 0 ? -1 : at + 1 + place }));
    this.frames = [...this.frames.slice(0, at + 1), ...more];
    this.#load(at);
  }

  back(count) {
    this.frames = this.frames.slice(0, Math.max(1, this.player.at + 1 - count));
    this.#load(this.frames.length - 1);
  }

  // Give up what is being asked.
  cancel() {
    this.asking?.abort();
  }

  async #ask(path, body) {
    this.cancel();
    this.asking = new AbortController();
    return post(path, body, this.asking.signal);
  }

  // Show the same positions again, where they are seen by another.
  refresh() {
    this.player.load(this.#match(), this.player.at);
  }

  #match() {
    return {
      game: this.described, labels: this.labels(), frames: this.frames.map(this.seen), left_out: 0, termination: "normal",
      returns: (this.scored && this.last.returns) || [], solved: null,
    };
  }

  #load(at) {
    const match = this.#match();
    if (this.player) this.player.load(match, at);
    else {
      this.player = mountPlayer(this.element, match, {
        keys: this.keys,
        onMove: (action) => this.tryPlay(action),
        onChoose: this.onChoose,
        onShow: () => this.player && this.#shown(this.frame),
      });
      if (at > 0) this.player.go(at);
    }
    this.#shown(this.frame);
    this.onChange();
  }

  async tryPlay(action) {
    if (!this.mine(this.frame)) return;
    try {
      await this.play(action);
    } catch (error) {
      this.onFault(error);
    }
  }

  // What can be done at a position of a solution is asked for when somebody stays there.
  #shown(frame) {
    clearTimeout(this.waiting);
    this.onShow(frame);
    if (frame.actions !== undefined) return;
    this.waiting = setTimeout(async () => {
      if (this.player.playing || this.frame !== frame) return;
      try {
        const found = await post("/api/position", { game: this.game, state: frame.state });
        Object.assign(frame, { over: found.frame.over, to_move: found.frame.to_move });
        if (this.frame === frame) this.player.offer(found.frame.actions);
        this.onShow(frame);
      } catch (error) {
        this.onFault(error);
      }
    }, 250);
  }
}
