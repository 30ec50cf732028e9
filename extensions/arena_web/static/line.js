// A line of successive positions, on a board that accepts moves. The moves come from a person, from an agent or from a solution.
import { post } from "./api.js";
import { mountPlayer } from "./player.js";

export class Line {
  // `onChange` is called after every change of the line, and `onShow` when another position is shown. `onFault(error)` is called
  // when something fails, and `onChoose(actions)` when one square stands for several actions. `seen(frame)` returns the part of a
  // frame that is shown. With `scored`, the last position says who has won.
  constructor(element, { labels, keys = false, onChange, onShow = () => {}, onFault, onChoose = () => {}, mine = () => true, seen = (frame) => frame, scored = false }) {
    Object.assign(this, { element, labels, keys, onChange, onShow, onFault, onChoose, mine, seen, scored });
    this.frames = [];
    this.player = null;
    this.asking = null;
    this.beginning = null;
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

  // Start again at a position that is given as text or drawn from a seed, and play the `actions` of `start` from there. The
  // outcomes of chance follow from the seed and the number of actions so far, which is `ply` at the start.
  async begin(game, start) {
    const mine = (this.beginning = {});
    this.element.ariaBusy = "true";
    try {
      const { game: known, frames } = await this.#ask("/api/position", { game, ...start });
      this.game = game;
      this.seed = start.seed ?? 0;
      this.described = known;
      this.frames = frames.map((frame, number) => ({ ...frame, number, label: frame.seat === null ? null : this.labels()[frame.seat] }));
    } finally {
      if (this.beginning === mine) this.beginning = this.element.ariaBusy = null;
    }
    this.#load(this.frames.length - 1);
  }

  // Return the first position of the line and the actions played from there, up to an answer.
  get story() {
    const answer = this.frames.findIndex((frame, place) => place > 0 && frame.action === null);
    const played = answer < 0 ? this.frames : this.frames.slice(0, answer);
    return { state: played[0].state, ply: played[0].ply, actions: played.slice(1).map((frame) => frame.action) };
  }

  // Play an action at the position that is shown. All later positions are dropped.
  async play(action) {
    const at = this.player.at;
    this.player.stop();
    const { frame } = await this.#ask("/api/apply", { game: this.game, ...this.place(this.frame), action });
    this.push({ ...frame, label: this.labels()[frame.seat] }, at);
  }

  // Return the part of a request that describes the position of a frame.
  place(frame) {
    return { state: frame.state, seed: this.seed, ply: frame.ply ?? 0 };
  }

  push(frame, at = this.player.at) {
    this.frames = [...this.frames.slice(0, at + 1), { ...frame, number: at + 1 }];
    this.#load(at + 1);
  }

  // Append the frames of a solution after the position that is shown.
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

  // Cancel the requests in progress.
  cancel() {
    this.asking?.abort();
  }

  async #ask(path, body) {
    this.cancel();
    this.asking = new AbortController();
    return post(path, body, this.asking.signal);
  }

  // Show the same positions again, for example after the viewer has changed.
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

  // Play an action that a person has chosen. This does nothing while another position is about to replace the one that is shown.
  async tryPlay(action) {
    if (this.beginning || !this.mine(this.frame)) return;
    try {
      await this.play(action);
    } catch (error) {
      this.onFault(error);
    }
  }

  // The legal actions at a position of a solution are requested only if somebody stays at this position.
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
