// The page for playing against any agent in any seat, or for watching agents play.
import { begin as open, keep, list, mapping, text, whole as number } from "./address.js";
import { givenUp, post } from "./api.js";
import { amount, duration, h, worth } from "./dom.js";
import { AgentForm, GameForm, LimitsForm, inventory } from "./forms.js";
import { Line } from "./line.js";
import { Moves } from "./moves.js";
import { button, faultBox, gameAsked, head, lot, main } from "./page.js";
import { result } from "./player.js";

const PAUSE = 350;
const COVERED = { state: null };

const faults = faultBox();
const seatsBox = h("div", { class: "stack-small" });
const stage = h("div");
const reveal = button("", lift, "primary");
const curtain = h("div", { class: "curtain", hidden: true }, reveal);
const turn = h("p", { class: "turn", role: "status" });
const hintText = h("p", { class: "dim hint", "aria-live": "polite" });
const moves = new Moves((action) => line.tryPlay(action));
const start = button("New game", () => begin(), "primary");
const pause = button("Pause", () => setPaused(!paused));
const undo = button("Undo", takeBack);
const hint = button("Hint", advise);
let known, games, seats = [], line = null, paused = false, thinking = null, advice = 0, timer = null, seatNames = [], playing = null;
let watcher = null; // the person who is looking at the screen, if several persons share it and information is hidden
const limits = new LimitsForm({ nodes: "20000", seconds: "5" });

main.classList.add("board-first");
main.append(head("Play", "Take any seat, or choose agents for both seats and watch."), faults.box);
inventory().then(build).catch((error) => faults.show(error.message));

function build(found) {
  known = found;
  games = new GameForm(found.games.filter((game) => !game.puzzle), known.first.game, (other) => {
    if (other) seatForms();
    begin(); // the board belongs to the chosen game
  });
  const above = h("div", { class: "row between above" }, turn, h("div", { class: "row" }, undo, hint, pause));
  const board = h("section", { class: "card", "aria-label": "board" }, above, hintText, curtain, stage, moves.box);
  const setup = h(
    "section",
    { class: "card stack-small", "aria-label": "setup" },
    h("h2", {}, "Setup"),
    games.box,
    seatsBox,
    h("fieldset", {}, h("legend", {}, "Thinking"), h("div", { class: "fields" }, limits.fields)),
    h("div", { class: "row" }, start),
  );
  main.append(h("div", { class: "columns columns-board" }, board, setup));
  line = new Line(stage, {
    labels: () => seatNames,
    keys: true,
    onChange: changed,
    onShow: showTurn,
    onFault: fault,
    onChoose: (actions) => moves.point(actions),
    mine: (frame) => !frame.over && playing.agents[frame.to_move] === null && allowed(frame),
    seen: shownOf,
    scored: true,
  });
  return open(faults, resume, () => {
    games.choose(gameAsked(games.games, known.first.game));
    seatForms();
    return begin();
  });
}

function seatForms() {
  const game = games.game;
  const rival = game.proposed[0] ?? game.agents[0];
  seats = Array.from({ length: game.players }, (_, seat) => new AgentForm(known.agents, game, { person: true, chosen: seat === 0 ? "" : rival, name: `Seat ${seat + 1}` }));
  seatsBox.replaceChildren(...seats.map((seat, number) => h("fieldset", {}, h("legend", { class: "visually-hidden" }, `Seat ${number + 1}`), seat.box)));
}

async function begin() {
  halt();
  faults.show(null);
  sit(lot());
  setPaused(false, false);
  try {
    await line.begin(playing.game, { seed: playing.seed });
  } catch (error) {
    fault(error);
  }
}

function sit(seed) {
  playing = { game: games.value(), agents: seats.map((seat) => seat.value()), limits: limits.asked(), seed };
  seatNames = named(playing.agents);
  watcher = null;
}

// Continue a game that is kept in the address.
async function resume(saved) {
  games.set(saved.game);
  seatForms();
  const agents = list(saved.agents, "agents");
  if (agents.length !== seats.length) throw new Error(`expected ${seats.length} agents`);
  seats.forEach((seat, place) => seat.set(agents[place]));
  limits.set(saved.limits ?? {});
  sit(number(saved.seed, "seed"));
  setPaused(saved.paused === true, false);
  const { state, actions, ply = 0 } = mapping(saved.line, "line");
  const start = { state: text(state, "position"), actions: list(actions, "actions"), seed: playing.seed, ply: number(ply, "ply") };
  await line.begin(playing.game, start);
}

function remember() {
  const found = { ...playing, paused };
  keep({ ...found, line: line.story }, () => ({ ...found, line: { state: line.last.state, ply: line.last.ply, actions: [] } }));
}

// Return true if a person may not see everything yet. Everything is shown at the end of a game, and if agents play all seats.
function hidden() {
  return Boolean(line.last.seen) && !line.last.over && playing.agents.includes(null);
}

// If something is hidden, return the seat of the person who is looking. Return null while nobody may look, because the turn has
// passed to another person.
function viewer() {
  const people = playing.agents.flatMap((agent, seat) => (agent === null ? [seat] : []));
  if (people.length === 1) return people[0];
  const next = line.last.to_move;
  if (playing.agents[next] === null && next !== watcher) watcher = null;
  return watcher;
}

// Return true if the viewer may see the legal actions at a position.
function allowed(frame) {
  return !hidden() || frame.to_move === viewer();
}

// Return a frame as it is shown. A person sees only the observation of the seat, without the actions of the others.
function shownOf(frame) {
  if (!hidden()) return frame;
  const seat = viewer();
  const told = frame.seat === null || frame.seat === seat ? {} : { action: "has moved", untold: true, value: null };
  return { ...frame, ...(seat === null ? COVERED : frame.seen[seat]), ...told, actions: allowed(frame) ? frame.actions : [] };
}

function lift() {
  watcher = line.last.to_move;
  line.refresh();
  stage.querySelector("[tabindex='0']")?.focus();
}

// Return the names of the seats. If two agents have the same name, the seat is added.
function named(agents) {
  const names = agents.map((agent) => (agent === null ? "You" : agent.agent));
  return names.map((name, seat) => (names.filter((other) => other === name).length > 1 ? `${name} (${seat + 1})` : name));
}

function changed() {
  advice++; // a hint that has not arrived yet is dropped, even if the line returns to the same position later
  hintText.textContent = "";
  remember();
  go();
}

// Let an agent move if it is its turn at the end of the line.
function go() {
  clearTimeout(timer);
  const frame = line.frame;
  if (paused || frame !== line.last || frame.over || playing.agents[frame.to_move] === null) return;
  const watched = playing.agents.every((agent) => agent !== null);
  timer = setTimeout(() => answer(frame), watched ? PAUSE : 60);
}

async function answer(frame) {
  const seat = frame.to_move;
  thinking = new AbortController();
  showTurn(frame);
  try {
    const reply = await post("/api/move", { ...request(frame), agent: playing.agents[seat] }, thinking.signal);
    thinking = null;
    if (line.last === frame) line.push({ ...reply.frame, label: seatNames[seat] }, line.frames.length - 1);
  } catch (error) {
    thinking = null;
    fault(error);
    if (!givenUp(error)) setPaused(true);
  }
}

function request(frame) {
  return { game: playing.game, ...line.place(frame), limits: playing.limits };
}

function showTurn(frame) {
  const mine = line.mine(frame);
  draw();
  moves.show(mine ? frame.actions ?? [] : []);
  undo.disabled = line.frames.length < 2;
  hint.disabled = frame.over || thinking !== null || !allowed(frame);
  pause.hidden = !playing.agents.some((agent) => agent !== null);
  if (frame.over) turn.textContent = ending(frame);
  else if (thinking) turn.textContent = `${seatNames[frame.to_move]} is thinking…`;
  else if (mine) turn.textContent = seatNames[frame.to_move] === "You" ? "Your turn" : `${seatNames[frame.to_move]} to move`;
  else turn.textContent = `${seatNames[frame.to_move]} to move${paused ? ", paused" : ""}`;
}

function ending(frame) {
  const told = result({ labels: seatNames, returns: frame.returns, termination: "normal", solved: null });
  return told.replace(/^(a draw|score)/, (first) => first[0].toUpperCase() + first.slice(1));
}

// Close the curtain over the board, or open it.
function draw() {
  const next = line.last.to_move, covered = hidden() && viewer() === null;
  reveal.textContent = `${seatNames[next]}, it is your turn: show my view`;
  reveal.hidden = playing.agents[next] !== null;
  if (covered && curtain.hidden) {
    stage.hidden = true;
    curtain.hidden = false;
    reveal.focus();
  } else if (!covered) {
    stage.hidden = false;
    curtain.hidden = true;
  }
}

function takeBack() {
  halt();
  let count = 1;
  const people = playing.agents.some((agent) => agent === null);
  while (people && line.at - count > 0 && playing.agents[line.frames[line.at - count].to_move] !== null) count++;
  if (!people) setPaused(true, false);
  line.back(count);
}

async function advise() {
  const frame = line.frame, mine = ++advice;
  const agent = playing.agents.find((one) => one !== null) ?? { agent: games.game.proposed[0] ?? games.game.agents[0], options: {} };
  hintText.textContent = "Thinking…";
  hint.disabled = true;
  try {
    const { frame: found } = await post("/api/move", { ...request(frame), agent });
    if (mine !== advice || line.frame !== frame) return;
    const value = found.value === null ? "" : `, value ${worth(found.value, found.exact)}`;
    hintText.textContent = `${agent.agent} would play ${found.action}${value} (${amount(found.nodes, "node")}, ${duration(found.seconds)})`;
    if (playing.agents[frame.to_move] === null) moves.show(frame.actions ?? [], found.action);
  } catch (error) {
    if (mine !== advice) return;
    hintText.textContent = "";
    fault(error);
  }
  hint.disabled = line.frame.over || !allowed(line.frame);
}

function setPaused(wanted, goOn = true) {
  paused = wanted;
  pause.textContent = paused ? "Go on" : "Pause";
  if (paused) halt();
  if (line?.player && goOn) {
    remember();
    showTurn(line.frame);
    if (!paused) {
      line.player.go(line.frames.length - 1);
      go();
    }
  }
}

function halt() {
  clearTimeout(timer);
  thinking?.abort();
  thinking = null;
}

function fault(error) {
  if (!givenUp(error)) faults.show(error.message);
}
