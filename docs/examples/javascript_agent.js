// An agent in JavaScript, for Node: it plays connect four a few plies deep. It speaks the protocol of docs/reference/protocol.md.
//
//     agents:
//       - {agent: {command: [node, javascript_agent.js]}, label: javascript, depth: 4}
"use strict";

const readline = require("node:readline");

class ConnectFour {
  // The position is written as rows from the top, joined by "/", with ".", "x" and "o"; an action as the column, from 1.
  constructor(start) {
    const { rows, columns, in_a_row: needed } = start.parameters;
    Object.assign(this, { rows, columns, needed, stones: [], plies: 0, nodes: 0, depth: start.options.depth ?? 4 });
    // Columns near the middle take part in more lines.
    this.order = [...Array(columns).keys()].sort((a, b) => Math.abs(2 * a + 1 - columns) - Math.abs(2 * b + 1 - columns));
  }

  place(position) {
    const lines = position.split("/").reverse();
    this.stones = this.order.map((_, column) => lines.map((line) => line[column]).filter((stone) => stone !== "."));
    this.plies = this.stones.flat().length;
  }

  play(column) {
    this.stones[column].push(this.plies % 2 === 0 ? "x" : "o"); // x begins
    this.plies += 1;
  }

  takeBack(column) {
    this.stones[column].pop();
    this.plies -= 1;
  }

  legal() {
    return this.order.filter((column) => this.stones[column].length < this.rows);
  }

  // Return whether the last stone of a column ends the game.
  wins(column) {
    const row = this.stones[column].length - 1;
    const side = this.stones[column][row];
    const run = (dx, dy) => {
      let length = 0;
      while (this.stones[column + dx * (length + 1)]?.[row + dy * (length + 1)] === side) length += 1;
      return length;
    };
    return [[1, 0], [0, 1], [1, 1], [1, -1]].some(([dx, dy]) => run(dx, dy) + 1 + run(-dx, -dy) >= this.needed);
  }

  // Return the value of a column for the side that plays it, from -1 to 1. Earlier wins are worth more.
  value(column, depth, alpha, beta) {
    this.nodes += 1;
    this.play(column);
    let value = 0; // at the depth limit, the sides count as equal
    if (this.wins(column)) value = 1 - 0.001 * (this.depth - depth);
    else if (depth > 1) value = -this.best(depth - 1, -beta, -alpha);
    this.takeBack(column);
    return value;
  }

  // Return the value of the best column, by alpha-beta; 0 on a full board.
  best(depth, alpha, beta) {
    let best = -Infinity;
    for (const column of this.legal()) {
      best = Math.max(best, this.value(column, depth, Math.max(alpha, best), beta));
      if (best >= beta) break;
    }
    return best === -Infinity ? 0 : best;
  }

  choose() {
    this.nodes = 0;
    let best = { value: -Infinity };
    for (const column of this.legal()) {
      const value = this.value(column, this.depth, best.value, Infinity);
      if (value > best.value) {
        best = { action: String(column + 1), value, depth: this.depth, nodes: this.nodes };
        say({ type: "report", ...best }); // if the time runs out before the answer, this report counts
      }
    }
    return { type: "action", ...best, nodes: this.nodes };
  }
}

let game = null;

const answers = {
  hello: () => ({ type: "hello", protocol: 2, name: "JavaScript example", can: ["choose"] }),
  start: (message) => {
    if (message.game !== "connect-four") return { type: "failed", message: `knows connect-four, not ${message.game}` };
    game = new ConnectFour(message);
    return { type: "ready" };
  },
  choose: (message) => {
    if (message.position !== undefined) game.place(message.position); // the first decision of a match
    for (const action of message.played) game.play(Number(action) - 1);
    return game.choose();
  },
};

function say(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "quit") process.exit(0);
  const answer = answers[message.type];
  if (answer) say(answer(message)); // ignore unknown messages, which later versions of the protocol may add
});
