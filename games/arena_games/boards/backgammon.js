// Backgammon: points 25 (the bar) to 1 and off, of a, then of b in its own view, the seat and its throw, as in `0.2.0... 0.2... a 3-1`.

const STEP = 24, BAR = 26, SIDE = 34, WIDTH = 12 * STEP + BAR + SIDE, HEIGHT = 260, DEEP = 104;
const OFF = 0, ENTRY = 25;

export const style = `
  .felt { fill: light-dark(#e8dcc3, #2e2a24); }
  .wood { fill: light-dark(#a77b4e, #4a3826); }
  .point-dark { fill: light-dark(#b4664a, #7d4433); }
  .point-light { fill: light-dark(#cdb48a, #57503f); }
  .man { stroke: #00000066; stroke-width: 1; }
  .man-a { fill: light-dark(#faf7f0, #f3efe6); }
  .man-b { fill: light-dark(#2d3440, #15181e); stroke: #ffffff80; }
  .man-count { font-size: 11px; font-weight: 680; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
  .count-a { fill: #23262d; }
  .count-b { fill: #f4f4f4; }
  .number { fill: var(--dim); font-size: 9px; text-anchor: middle; dominant-baseline: central; }
  .on-wood { fill: #ffffff; font-size: 11px; font-weight: 640; text-anchor: middle; dominant-baseline: central; }
  .die { fill: light-dark(#ffffff, #efece5); stroke: #00000059; stroke-width: 1; }
  .die-text { fill: #23262d; font-size: 14px; font-weight: 680; text-anchor: middle; dominant-baseline: central; }
  .leaves { fill: none; stroke: var(--accent); stroke-width: 1.6; }
`;

export function parse(text) {
  const [first, second, seat, roll = ""] = text.trim().split(/\s+/);
  const sides = [first, second].map((side) => side.split(".").map(Number).reverse()); // by point: off, 1 to 24, the bar
  if (sides.some((side) => side.length !== 26 || side.some(Number.isNaN))) throw new Error("expected 26 points per side");
  return { sides, seat: seat === "a" ? 0 : 1, roll };
}

export function extent() {
  return { width: WIDTH, height: HEIGHT + 24, most: "36rem" };
}

// Where a point of `a` stands: the middle of its foot, and the way its checkers are stacked.
function place(point) {
  const upper = point > 12, along = upper ? point - 13 : 12 - point;
  return { x: along * STEP + STEP / 2 + (along >= 6 ? BAR : 0), y: upper ? 12 : HEIGHT + 12, up: upper ? 1 : -1 };
}

const seen = (seat, point) => (seat ? ENTRY - point : point);

export function draw(scene, model, { last, actions }) {
  scene.put("ground", "wood", "rect", { class: "wood", y: 12, width: WIDTH, height: HEIGHT, rx: 6 });
  for (const left of [0, 6 * STEP + BAR]) scene.put("ground", `f${left}`, "rect", { class: "felt", x: left, y: 12, width: 6 * STEP, height: HEIGHT });
  for (let point = 1; point <= 24; point++) {
    const { x, y, up } = place(point), kind = point % 2 ? "point-dark" : "point-light";
    scene.put("ground", `p${point}`, "path", { class: kind, d: `M${x - STEP / 2 + 1} ${y}h${STEP - 2}L${x} ${y + up * DEEP}Z` });
    scene.put("ground", `n${point}`, "text", { class: "number", x, y: y - 6 * up, text: String(model.seat ? ENTRY - point : point) });
  }
  const leaving = new Set((actions ?? []).map((action) => origin(action)).filter((point) => point !== null));
  const reached = last && !/^\d-\d$/.test(last) ? ends(last) : [];
  model.sides.forEach((side, seat) => side.forEach((count, point) => {
    if (!count) return;
    if (point === OFF) shelf(scene, seat, count);
    else if (point === ENTRY) onBar(scene, seat, count, leaving.has(ENTRY) && seat === model.seat);
    else stack(scene, seat, point, count, { leaving: seat === model.seat && leaving.has(point), reached: seat !== model.seat && reached.includes(point) });
  }));
  dice(scene, model);
}

function stack(scene, seat, point, count, { leaving, reached }) {
  const { x, y, up } = place(seen(seat, point)), step = Math.min(20, (DEEP - 20) / Math.max(1, count - 1));
  for (let n = 0; n < count; n++) {
    scene.put("pieces", `${seat}:${point}:${n}`, "circle", { class: `man man-${"ab"[seat]}`, at: [x, y + up * (11 + n * step)], r: 10 });
  }
  const at = [x, y + up * (11 + (count - 1) * step)];
  if (count > 5) scene.put("over", `k${seat}:${point}`, "text", { class: `man-count count-${"ab"[seat]}`, at, text: String(count) });
  if (leaving) scene.put("over", `m${seat}:${point}`, "circle", { class: "leaves", at, r: 10 });
  if (reached) scene.put("over", `l${seat}:${point}`, "circle", { class: "last", at, r: 10 });
}

function onBar(scene, seat, count, leaving) {
  const at = [6 * STEP + BAR / 2, 12 + HEIGHT / 2 + (seat ? 1 : -1) * 46];
  scene.put("pieces", `bar${seat}`, "circle", { class: `man man-${"ab"[seat]}`, at, r: 10 });
  if (count > 1) scene.put("over", `b${seat}`, "text", { class: `man-count count-${"ab"[seat]}`, at, text: String(count) });
  if (leaving) scene.put("over", `mb${seat}`, "circle", { class: "leaves", at, r: 10 });
}

function shelf(scene, seat, count) {
  const at = [WIDTH - SIDE / 2, seat ? 30 : HEIGHT - 6];
  scene.put("pieces", `off${seat}`, "circle", { class: `man man-${"ab"[seat]}`, at, r: 10 });
  scene.put("over", `o${seat}`, "text", { class: `man-count count-${"ab"[seat]}`, at, text: String(count) });
}

function dice(scene, { seat, roll }) {
  const left = (seat ? 0 : 6 * STEP + BAR) + 3 * STEP;
  [...roll.replace("-", "")].forEach((face, n) => {
    const at = [left - 28 + n * 32, 12 + HEIGHT / 2 - 12];
    scene.put("over", `die${n}`, "rect", { class: "die", at, width: 24, height: 24, rx: 5 });
    scene.put("over", `face${n}`, "text", { class: "die-text", at, x: 12, y: 12.5, text: face });
  });
}

// The point that the first move of an action leaves, and the points that its moves reach; null where it has none.
function origin(action) {
  const from = action.split("/")[0];
  return from === "bar" ? ENTRY : Number(from) || null;
}

function ends(action) {
  return action.split(" ").map((move) => Number(move.split("/")[1])).filter(Boolean);
}

// A click on a point offers the actions that begin with it; all of them stand below the board, too.
export function targets(actions, model) {
  const groups = new Map();
  for (const action of actions) {
    const point = origin(action);
    if (point !== null) groups.set(point, [...(groups.get(point) ?? []), action]);
  }
  return [...groups].map(([point, group]) => {
    const label = `${point === ENTRY ? "bar" : `point ${point}`}: ${group.length === 1 ? group[0] : `${group.length} actions`}`;
    if (point === ENTRY) {
      const y = 12 + HEIGHT / 2 + (model.seat ? 1 : -1) * 46;
      return { key: "bar", row: 1, column: 6, x: 6 * STEP, y: y - BAR / 2, width: BAR, height: BAR, label, actions: group };
    }
    const { x, y, up } = place(seen(model.seat, point));
    const column = Math.round(x / STEP);
    return { key: String(point), row: up > 0 ? 0 : 2, column, x: x - STEP / 2, y: up > 0 ? y : y - DEEP, width: STEP, height: DEEP, label, actions: group };
  });
}

export function describe({ sides, seat, roll }) {
  const words = sides.map((side, number) => {
    const points = side.flatMap((count, point) => (count && point !== OFF && point !== ENTRY ? [`${count} on ${point}`] : [])).reverse();
    return `${"ab"[number]} has ${[...points, ...(side[ENTRY] ? [`${side[ENTRY]} on the bar`] : []), `${side[OFF]} off`].join(", ")}`;
  });
  if (sides.some((side) => side[OFF] === 15)) return `${words.join("; ")}; ${sides[0][OFF] === 15 ? "a" : "b"} has won`;
  return `${words.join("; ")}; ${"ab"[seat]} ${roll ? `has thrown ${roll}` : "to throw"}`;
}
