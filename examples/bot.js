// A bot in JavaScript: geo-patrol join URL --command "node examples/bot.js"
// It reads the server's messages from standard input and writes its own to standard output, one JSON object a line.
// With a link as its argument it connects by itself, by the WebSocket of Node 22: node examples/bot.js URL
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

let last = null; // the orders that were sent, to be replaced if they are refused

/** Returns the answer to a message of the server, or null. */
function answer(message) {
  if (message.type === "your_turn" && message.submitted === null) {
    const { game, turn, phase, options } = message;
    const chosen = Object.entries(options)
      .filter(([satellite]) => satellite !== "HVA" || phase === "engagement") // the HVA stays in its orbit
      .map(([, list]) => choose(list));
    last = { type: "orders", game, turn, phase, orders: chosen.filter(Boolean).map((option) => option.order) };
    return last;
  }
  if (message.type === "error") process.stderr.write(`${message.code}: ${message.text}\n`);
  return message.type === "error" && message.code.startsWith("bad_") ? { ...last, orders: [] } : null;
}

/** Answers messages, one JSON object each, until the game is over. */
function play(text, send, close) {
  const message = JSON.parse(text);
  const answered = answer(message);
  if (answered) send(JSON.stringify(answered));
  if (message.type === "event" && message.event.kind === "end") close();
}

if (process.argv[2]) {
  const link = new URL(process.argv[2]);
  const { table, secret } = Object.fromEntries(new URLSearchParams(link.hash.slice(1)));
  const socket = new WebSocket(`${link.protocol.replace("http", "ws")}//${link.host}/ws/${table}`);
  socket.onopen = () => socket.send(JSON.stringify({ type: "hello", table, secret, name: "bot.js" }));
  socket.onmessage = (event) => play(event.data, (line) => socket.send(line), () => socket.close());
} else {
  const lines = readline.createInterface({ input: process.stdin });
  lines.on("line", (line) => play(line, console.log, () => lines.close()));
}
