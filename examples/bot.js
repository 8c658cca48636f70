// A bot in JavaScript: geo-patrol join URL --command "node examples/bot.js"
// It reads the server's messages from standard input and writes its own to standard output, one JSON object a line.
"use strict";

const readline = require("node:readline");

/** Returns the most promising of a satellite's options, or undefined to hold. */
function choose(options) {
  const engagements = options.filter((option) => option.probability !== null);
  if (engagements.length > 0) {
    const isHva = (option) => option.target.includes(":HVA:");
    engagements.sort((a, b) => isHva(b) - isHva(a) || b.probability - a.probability || a.cost - b.cost);
    return engagements[0];
  }
  return Math.random() < 0.5 ? options[Math.floor(Math.random() * options.length)] : undefined;
}

function send(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

let last = null; // the orders that were sent, to be replaced if they are refused

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "your_turn" && message.submitted === null) {
    const { game, turn, phase, options } = message;
    const chosen = Object.entries(options)
      .filter(([satellite]) => satellite !== "HVA" || phase === "engagement") // the HVA stays in its orbit
      .map(([, list]) => choose(list));
    last = { type: "orders", game, turn, phase, orders: chosen.filter(Boolean).map((option) => option.order) };
    send(last);
  } else if (message.type === "error") {
    process.stderr.write(`${message.code}: ${message.text}\n`);
    send({ ...last, orders: [] });
  }
});
