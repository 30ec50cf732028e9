// The matches of a report: a list with filters, and a player that steps through the positions of one match.
(() => {
  const listing = JSON.parse(document.getElementById("listing").textContent);
  const packs = [...document.querySelectorAll("script.pack")];
  const unpacked = new Map();
  const ROWS = 10;
  const FAILED = 0;
  const state = { page: 0, found: [], current: null, player: null, asked: 0 };

  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  // The text of a line in the list.

  const matches = listing.matches.map((match) => {
    const board = listing.boards[match.board];
    const labels = match.seats.map((entry) => board.labels[entry]);
    const whole = { ...match, labels, title: board.title, versus: board.versus };
    whole.result = arena.result(whole);
    whole.text = [match.id, board.title, whole.result, match.termination, ...labels].join("\n").toLowerCase();
    return whole;
  });

  function wins(match, label) {
    const winners = arena.winners(match);
    return winners.length === 1 && winners[0] === label;
  }

  const decided = (match) => match.versus && match.termination !== "void" && arena.winners(match).length < match.labels.length;
  const RESULTS = {
    "any": () => true,
    "won": (match, agent) => decided(match) && (!agent || wins(match, agent)),
    "lost": (match, agent) => decided(match) && (!agent || !wins(match, agent)),
    "draw": (match) => match.versus && match.termination !== "void" && !decided(match),
    "solved": (match) => match.solved === true,
    "not solved": (match) => match.solved === false && match.termination !== "void",
    "failure or void": (match) => match.rank === FAILED && (match.versus || !["adjudicated", "move-limit", "stuck", "gave-up", "out-of-budget", "normal"].includes(match.termination)),
  };

  // The form.

  const form = {
    text: make("input", { type: "search", autocomplete: "off", spellcheck: "false", oninput: () => show(0) }),
    board: choice(["any", ...listing.boards.map((board) => board.title)]),
    agent: choice(["any", ...new Set(listing.boards.flatMap((board) => board.labels))]),
    result: choice(Object.keys(RESULTS).filter((name) => name === "any" || matches.some((match) => RESULTS[name](match, "")))),
    ending: choice(["any", ...[...new Set(matches.map((match) => match.termination))].sort()]),
  };

  // Return a select element. Its values are indices in the list, because two agents may have the same name, and an agent may be
  // named like another choice.
  function choice(names) {
    return make("select", { onchange: () => show(0) }, ...names.map((name, place) => make("option", { value: String(place) }, name)));
  }

  const chosen = (select) => (select.selectedIndex > 0 ? select.options[select.selectedIndex].textContent : "");

  function field(name, control, wide = false) {
    return make("label", { class: wide ? "field wide" : "field" }, make("span", {}, name), control);
  }

  const count = make("p", { class: "count", role: "status" });
  const entries = make("ol", { class: "entries" });
  const earlier = make("button", { type: "button", onclick: () => show(state.page - 1) }, "Back");
  const later = make("button", { type: "button", onclick: () => show(state.page + 1) }, "More");
  const pageNumber = make("span", { class: "small dim" });
  const several = listing.boards.length > 1;
  document.getElementById("match-list").append(
    make(
      "div", { class: "filters", role: "search" },
      field("Search", form.text, true),
      several ? field("Board", form.board, true) : null,
      field("Agent", form.agent, true),
      field("Result", form.result),
      field("Ending", form.ending),
    ),
    count, entries, make("div", { class: "pages" }, earlier, pageNumber, later),
  );

  // The list.

  function show(page) {
    const words = form.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const agent = chosen(form.agent), ending = chosen(form.ending);
    const result = RESULTS[form.result.options[form.result.selectedIndex].textContent];
    state.found = matches.filter((match) =>
      (!form.board.selectedIndex || match.board === form.board.selectedIndex - 1)
      && (!agent || match.labels.includes(agent))
      && (!ending || match.termination === ending)
      && result(match, agent)
      && words.every((word) => match.text.includes(word)));
    const last = Math.max(0, Math.ceil(state.found.length / ROWS) - 1);
    state.page = Math.max(0, Math.min(page, last));
    count.textContent = `${state.found.length.toLocaleString("en")} of ${matches.length.toLocaleString("en")} matches`;
    pageNumber.textContent = `${state.page + 1} / ${last + 1}`;
    earlier.setAttribute("aria-disabled", String(state.page === 0));
    later.setAttribute("aria-disabled", String(state.page === last));
    entries.replaceChildren(...state.found.slice(state.page * ROWS, (state.page + 1) * ROWS).map(entry));
  }

  function entry(match) {
    const moves = match.moves === null ? null : `${match.moves} ${match.moves === 1 ? "move" : "moves"}`;
    const about = [match.result, moves, several ? match.title : null].filter(Boolean).join(" · ");
    const button = make(
      "button", { type: "button", class: "entry", onclick: () => open(match, true), "aria-current": match === state.current ? "true" : null },
      make("strong", {}, match.labels.join(" – ")),
      make("span", { class: "about" }, about),
    );
    return make("li", {}, button);
  }

  // One match.

  async function pack(number) {
    if (!unpacked.has(number)) {
      const bytes = Uint8Array.from(atob(packs[number].textContent), (sign) => sign.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      unpacked.set(number, await new Response(stream).json());
    }
    return unpacked.get(number);
  }

  function framed(match) {
    const frames = match.frames.map((values) => {
      const frame = Object.fromEntries(listing.frame.map((name, place) => [name, values[place]]));
      return { ...frame, label: frame.seat === null ? null : match.labels[frame.seat] };
    });
    return { ...match, frames };
  }

  const stage = document.getElementById("match");
  stage.addEventListener("arena-position", ({ detail }) => state.player?.go(detail)); // a panel requests a position

  async function open(match, focus) {
    const asked = ++state.asked;
    let whole;
    try {
      whole = framed((await pack(match.pack))[match.at]);
    } catch (error) {
      return stage.replaceChildren(make("p", { class: "fault" }, `this browser cannot unpack the match: ${error.message}`));
    }
    if (asked !== state.asked) return undefined;
    state.player?.destroy();
    state.current = match;
    const at = state.found.indexOf(match);
    show(at < 0 ? state.page : Math.floor(at / ROWS));
    stage.replaceChildren(head(match, whole));
    state.player = arena.mountPlayer(stage, whole);
    if (whole.panels) stage.append(...whole.panels.map((panel) => arenaModules["panels.js"].panelOf(panel, "h4")));
    history.replaceState(null, "", `#match-${match.id}`);
    if (focus) {
      stage.focus({ preventScroll: true });
      const top = stage.getBoundingClientRect().top;
      if (top > innerHeight * 0.6 || top < 0) stage.scrollIntoView({ block: "start" });
    }
    return undefined;
  }

  function head(match, whole) {
    const about = [match.title, match.result,
      whole.cost === null ? null : `cost ${arenaModules["dom.js"].figure(whole.cost, 6)}`,
      whole.fallbacks ? `${whole.fallbacks} random moves, because the budget ran out` : null];
    return make(
      "div", { class: "match-head" },
      make("h3", {}, match.labels.join(" – ")),
      make("p", { class: "dim small" }, about.filter(Boolean).join(" · ")),
      whole.message ? make("p", { class: match.termination === "adjudicated" ? "dim small" : "fault small" }, whole.message) : null,
      ...whole.differences.map((text) => make("p", { class: "fault small" }, text)),
      make("code", { class: "command" }, `${listing.replay}${match.id}`),
    );
  }

  // Light or dark.

  const theme = document.getElementById("theme");
  const THEMES = ["system", "light", "dark"];
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme ?? "system") + 1) % THEMES.length];
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    theme.textContent = `Theme: ${next}`;
  });

  function follow(focus) {
    const wanted = matches.find((match) => location.hash === `#match-${match.id}`);
    if (wanted && wanted !== state.current) open(wanted, focus);
    return Boolean(wanted);
  }

  document.getElementById("browser").hidden = false;
  show(0);
  addEventListener("hashchange", () => follow(true));
  if (!follow(true) && matches.length) open(matches[0], false);
})();
