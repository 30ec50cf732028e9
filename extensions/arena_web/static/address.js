// The settings of a page are kept in its address after the #. So they are still there after a reload, after the back button, and
// when the link is sent to somebody.

const LONGEST = 12000;

// Keep plain values in the address. `shorter` returns other values to be used if these are too long.
export function keep(values, shorter = () => values) {
  const write = (found) => `#${encodeURIComponent(JSON.stringify(found))}`;
  const whole = write(values);
  history.replaceState(null, "", whole.length > LONGEST ? write(shorter()) : whole);
}

// Return the values in the address, or null if it has none. The values are input and may be anything. Throws an Error if the
// address cannot be parsed.
export function kept() {
  if (location.hash.length < 2) return null;
  let found;
  try {
    found = JSON.parse(decodeURIComponent(location.hash.slice(1)));
  } catch {
    throw new Error("expected data written by this page");
  }
  return mapping(found, "all of it");
}

// Set up a page from its address with `restore`. If the address has no values, call `usual`. If the values cannot be used, call
// `usual` and show the error.
export async function begin(faults, restore, usual) {
  let message = null;
  try {
    const found = kept();
    if (found !== null) return await restore(found);
  } catch (error) {
    message = `The address of this page is invalid: ${error.message}. The page uses its defaults.`;
  }
  await usual();
  if (message !== null) faults.show(message);
  return undefined;
}

// A link to the same page may have other values. A window that another page has opened is left alone, because that page can
// change the address behind the # at any time.
addEventListener("hashchange", () => opener === null && location.reload());

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
