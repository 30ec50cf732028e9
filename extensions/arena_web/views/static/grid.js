// What boards of squares have in common.

export const CELL = 40;

// The rows of `x../.o./...`, each an array of marks. Throws where they are not of one length.
export function rowsOf(text, known) {
  const rows = text.trim().split("/").map((row) => [...row]);
  if (rows.some((row) => row.length !== rows[0].length)) throw new Error("rows of different lengths");
  if (rows.some((row) => row.some((mark) => !known.includes(mark)))) throw new Error("unknown mark");
  return rows;
}

// The squares, as `row,column`, of every line of `length` equal marks.
export function lines(rows, length) {
  const found = new Set();
  for (let row = 0; row < rows.length; row++) {
    for (let column = 0; column < rows[0].length; column++) {
      for (const [down, right] of [[0, 1], [1, 0], [1, 1], [1, -1]]) {
        const line = along(rows, row, column, down, right, length);
        if (line) line.forEach((place) => found.add(place));
      }
    }
  }
  return found;
}

function along(rows, row, column, down, right, length) {
  const mark = rows[row][column];
  if (mark === ".") return null;
  const places = [];
  for (let k = 0; k < length; k++) {
    if (rows[row + k * down]?.[column + k * right] !== mark) return null;
    places.push(`${row + k * down},${column + k * right}`);
  }
  return places;
}

// How many of a mark there are.
export function count(rows, mark) {
  return rows.flat().filter((other) => other === mark).length;
}

// A target that covers one square.
export function square(row, column, label, actions, left = 0, top = 0) {
  const x = left + column * CELL, y = top + row * CELL;
  return { key: `${row},${column}`, row, column, x, y, width: CELL, height: CELL, label, actions };
}
