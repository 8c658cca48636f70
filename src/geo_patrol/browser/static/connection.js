"use strict";

const PING_SECONDS = 10;
const SILENCE_SECONDS = 25; // after which a connection counts as dead
const MAX_RETRY_SECONDS = 8;

/** A connection to a table that comes back by itself and goes on after the last event that arrived. */
class Connection {
  /**
   * @param {string} table identifier of the table.
   * @param {?string} secret of the seat; null watches.
   * @param {?string} name what to call who plays; null leaves it.
   * @param {function(object)} receive called with every message of the server.
   * @param {function(boolean)} changed called with whether there is a connection.
   */
  constructor(table, secret, name, receive, changed) {
    Object.assign(this, { table, secret, name, receive, changed });
    this.lastEvent = 0;
    this.failures = 0;
    this.isClosed = false;
    this.socket = null;
    setInterval(() => this.#beat(), PING_SECONDS * 1000);
    window.addEventListener("offline", () => this.changed(false));
    window.addEventListener("online", () => this.#retryAtOnce());
    this.#connect();
  }

  /** Sends a message; returns whether there is a connection. */
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** Ends it for good. */
  close() {
    this.isClosed = true;
    this.socket?.close();
  }

  #connect() {
    const address = new URL(`/ws/${encodeURIComponent(this.table)}`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    this.socket = socket;
    this.heard = Date.now();
    socket.addEventListener("open", () => {
      const { table, secret, name, lastEvent } = this;
      this.send({ type: "hello", version: 1, table, secret, name, last_event: lastEvent, scene: true });
    });
    socket.addEventListener("message", ({ data }) => this.#read(JSON.parse(data)));
    socket.addEventListener("close", () => {
      if (socket === this.socket) this.#lost();
    });
  }

  #read(message) {
    this.heard = Date.now();
    if (message.type === "welcome") {
      this.failures = 0;
      this.changed(true);
    }
    this.receive(message);
    const events = message.type === "event" ? [message] : message.events ?? []; // of a welcome, or of the history after it
    for (const { number } of events) this.lastEvent = number;
  }

  #beat() {
    if (Date.now() - this.heard > SILENCE_SECONDS * 1000) this.socket.close();
    else this.send({ type: "ping", number: 0 });
  }

  #lost() {
    if (this.isClosed) return;
    this.changed(false);
    const seconds = Math.min(0.5 * 2 ** this.failures, MAX_RETRY_SECONDS);
    this.failures += 1;
    this.timer = setTimeout(() => this.#connect(), seconds * 1000);
  }

  #retryAtOnce() {
    if (this.isClosed || this.socket.readyState === WebSocket.CONNECTING) return;
    if (this.socket.readyState === WebSocket.OPEN) {
      this.changed(true);
    } else {
      clearTimeout(this.timer);
      this.#connect();
    }
  }
}
