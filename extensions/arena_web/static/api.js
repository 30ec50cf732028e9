// Requests to the server. If a request fails, an Error is thrown with the message of the server.

// Return the address of a path on this server. If a process hosts several ladders, the addresses of a ladder begin with its root.
export function at(path) {
  return `${document.body.dataset.root ?? ""}${path}`;
}

export function get(path, signal) {
  return ask(path, { signal });
}

export function post(path, body, signal) {
  return ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal });
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(at(path), options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not respond");
  }
  if (response.ok && response.headers.get("content-type")?.startsWith("text/html")) return response.text(); // a page
  const answer = await response.json().catch(() => ({ error: `the server answered with status ${response.status}` }));
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status, faults: answer.faults ?? [answer.error] });
  return answer;
}

// Return true if the page itself gave up a request.
export function givenUp(error) {
  return error.name === "AbortError";
}
