// A bot in JavaScript. For the seat of a link it connects by itself (Node 22): node examples/bot.js URL
// or it reads and writes messages, one JSON object a line: geo-patrol join URL --command "node examples/bot.js"
"use strict";

/** Returns one of a satellite's options: the best engagement, or half of the time a move; undefined holds. */
function choose(options) {
  const worth = ({ probability, target }) => probability + target.includes(":HVA:");
  const engagements = options.filter((option) => option.probability !== null);
  engagements.sort((a, b) => worth(b) - worth(a) || a.cost - b.cost);
  return engagements[0] ?? options[Math.floor(Math.random() * 2 * options.length)];
}

let sent = null; // the last orders, replaced by none if they are refused

/** Returns the answer to a message of the server, or null. */
function answer(message) {
  if (message.type === "your_turn" && message.submitted === null) {
    const { HVA, ...patrols } = message.options; // the HVA stays in its orbit
    const orders = Object.values(patrols).map(choose).filter(Boolean).map((option) => option.order);
    sent = { type: "orders", game: message.game, turn: message.turn, phase: message.phase, orders };
    return sent;
  }
  if (message.type === "error") console.error(`${message.code}: ${message.text}`);
  return message.type === "error" && message.code.startsWith("bad_") ? { ...sent, orders: [] } : null;
}

function play(text, send) {
  const message = JSON.parse(text);
  const answered = answer(message);
  if (answered) send(JSON.stringify(answered));
  if ([message, ...(message.events ?? [])].some(({ event }) => event?.kind === "end")) process.exit();
}

if (process.argv[2]) {
  const { protocol, host, hash } = new URL(process.argv[2]);
  const { table, secret } = Object.fromEntries(new URLSearchParams(hash.slice(1)));
  const socket = new WebSocket(`${protocol.replace("http", "ws")}//${host}/ws/${table}`);
  socket.onopen = () => socket.send(JSON.stringify({ type: "hello", table, secret, name: "bot.js" }));
  socket.onmessage = (event) => play(event.data, (line) => socket.send(line));
} else require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => play(line, console.log));
