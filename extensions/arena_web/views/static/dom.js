// Elements of the page. Everything that comes from a record is inserted as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

// Return an element with attributes, listeners (`onclick`) and children, which are elements or texts. Nulls are left out.
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

// Return an SVG element; the arguments are the same.
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  const shown = children.flat().filter((child) => child !== null && child !== undefined);
  element.append(...shown.map((child) => (typeof child === "string" ? visible(child) : child)));
  return element;
}

// Return a text in which the characters that control a terminal or reverse text are replaced, as in reports.
export function visible(text) {
  return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

// Return a sentence as nodes; text between backticks becomes code.
export function prose(text) {
  return text.split("`").map((part, place) => (place % 2 ? h("code", {}, part) : part));
}

// Return a label as nodes that may be broken before a bracket and after a comma, rather than in the middle of a word.
export function breakable(label) {
  return label.split(/(?=\()|(?<=,)/).flatMap((part, place) => (place ? [h("wbr"), part] : [part]));
}

// Return a whole number with separators between the thousands.
export function whole(value) {
  return value === null || value === undefined ? "-" : Math.round(value).toLocaleString("en");
}

// Return a whole number with its noun in the singular or plural.
export function amount(value, noun, several = `${noun}s`) {
  return `${whole(value)} ${value === 1 ? noun : several}`;
}

// Return a number with `digits` significant digits, as the function `figure` in arena/results/figures.py writes it.
export function figure(value, digits = 3) {
  if (value === null || value === undefined) return "-";
  const size = Math.abs(value);
  const rounded = size < 1000 ? Number(size.toPrecision(digits)) : Math.round(size);
  const sign = value < 0 && rounded ? "-" : "";
  if (size >= 1e16) return (value < 0 ? "-" : "") + size.toExponential(digits - 1).replace(/\.?0+e/, "e");
  if (rounded >= 1000) return sign + BigInt(rounded).toLocaleString("en");
  if (rounded && rounded < 1e-7) return sign + size.toExponential(digits - 1).replace(/\.?0+e/, "e");
  return sign + rounded.toFixed(digits + 6).replace(/\.?0+$/, "");
}

// Return a duration in words, as short as possible.
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "-";
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(seconds >= 5e-8 && seconds < 1e-5 ? 1 : 0)} µs`;
  if (seconds < 1) return `${(seconds * 1e3).toFixed(seconds < 0.1 ? 1 : 0)} ms`;
  return seconds < 100 ? `${seconds.toFixed(2)} s` : `${Math.round(seconds).toLocaleString("en")} s`;
}

// Return the value of a search as text. Only a proven (exact) value of 1 or 1 - n * 1e-6 is a win, in n plies.
export function worth(value, exact) {
  if (value === null || value === undefined) return "-";
  const size = Math.abs(value), plies = Math.round((1 - size) * 1e6);
  if (exact && plies >= 0 && plies <= 2000 && (size === 1 - plies * 1e-6 || 1 - size < 1e-9)) {
    return `${value > 0 ? "win" : "loss"}${plies > 0 ? ` in ${plies}` : ""}`;
  }
  return figure(value, 4);
}
