// What a page is set to stands in its address behind the #, so that a reload, the back button or a link that is sent brings it back.

const LONGEST = 12000;

// Keep plain values in the address; `shorter` gives others where these are too long.
export function keep(values, shorter = () => values) {
  const write = (found) => `#${encodeURIComponent(JSON.stringify(found))}`;
  const whole = write(values);
  history.replaceState(null, "", whole.length > LONGEST ? write(shorter()) : whole);
}

// The values of the address, null where it has none. Like all input they may be anything; an Error says that they are no values.
export function kept() {
  if (location.hash.length < 2) return null;
  let found;
  try {
    found = JSON.parse(decodeURIComponent(location.hash.slice(1)));
  } catch {
    throw new Error("expected what this page has written there");
  }
  return mapping(found, "all of it");
}

// Give a page what its address says with `restore`, else, or where that cannot be, what is usual; say what was wrong.
export async function begin(faults, restore, usual) {
  let message = null;
  try {
    const found = kept();
    if (found !== null) return await restore(found);
  } catch (error) {
    message = `The address of this page says what cannot be: ${error.message}. So it starts as usual.`;
  }
  await usual();
  if (message !== null) faults.show(message);
  return undefined;
}

addEventListener("hashchange", () => location.reload()); // a link to the same page with other values

export function mapping(value, what) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error(`${what}: expected names with values`);
  return value;
}

export function list(value, what) {
  if (!Array.isArray(value)) throw new Error(`${what}: expected a list`);
  return value;
}

export function text(value, what) {
  if (typeof value !== "string") throw new Error(`${what}: expected text`);
  return value;
}

export function whole(value, what) {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${what}: expected a whole number`);
  return value;
}
