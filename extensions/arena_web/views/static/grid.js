// Helpers for boards that consist of squares.

export const CELL = 40;

// Return the rows of `x../.o./...`, each as an array of marks. Throws if their lengths differ.
export function rowsOf(text, known) {
  const rows = text.trim().split("/").map((row) => [...row]);
  if (rows.some((row) => row.length !== rows[0].length)) throw new Error("rows of different lengths");
  if (rows.some((row) => row.some((mark) => !known.includes(mark)))) throw new Error("unknown mark");
  return rows;
}

// Return the squares, as `row,column`, of every line with `length` equal marks.
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

// Count how often a mark occurs.
export function count(rows, mark) {
  return rows.flat().filter((other) => other === mark).length;
}

// Return a target that covers one square.
export function square(row, column, label, actions, left = 0, top = 0) {
  const x = left + column * CELL, y = top + row * CELL;
  return { key: `${row},${column}`, row, column, x, y, width: CELL, height: CELL, label, actions };
}
