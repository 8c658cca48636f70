"use strict";

/** Sends a request, with a body if there is one; returns its answer, or throws an error with the server's words. */
async function request(path, body) {
  const response = await fetch(path, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }).catch(() => {
    throw new Error("The server does not answer. Try again in a moment.");
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.text);
  return answer;
}

/** Runs an action; says in a notice what went wrong. */
async function attempt(action, notice) {
  try {
    await action();
  } catch (error) {
    notice.textContent = error.message;
  }
}
