// Requests to the server. An answer that is no good is an Error with the server's own message.

export function get(path, signal) {
  return ask(path, { signal });
}

export function post(path, body, signal) {
  return ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal });
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not answer");
  }
  if (response.ok && response.headers.get("content-type")?.startsWith("text/html")) return response.text(); // a page
  const answer = await response.json().catch(() => ({ error: `the server answered with status ${response.status}` }));
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status, faults: answer.faults ?? [answer.error] });
  return answer;
}

// Whether a request was given up by the page itself.
export function givenUp(error) {
  return error.name === "AbortError";
}
