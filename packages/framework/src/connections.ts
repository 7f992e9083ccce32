import type { EventEmitter } from "node:events";
import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * The connections of a server, and how many answers are under way on each, so that closing takes the idle ones at once
 * and the others behind their last answer. Node's own way cuts an answer whose end is written but not yet sent, and
 * knows neither upgraded connections nor TLS handshakes.
 */
export class Connections {
  readonly #answers = new Map<Socket, number>();
  /** Connections that are not yet TLS, by their peer: the socket they become is another object. */
  readonly #handshakes = new Map<string, Socket>();
  readonly #gone = Promise.withResolvers<void>();
  #closing = false;

  constructor(server: Server, { tls }: { readonly tls: boolean }) {
    if (tls) server.on("connection", (socket: Socket) => this.#greet(socket));
    server.on(tls ? "secureConnection" : "connection", (socket: Socket) => this.#open(socket));
    // What `close` calls.
    server.closeIdleConnections = () => this.#closeIdle();
  }

  /** An answer is under way on `socket` until `stream` closes. @returns how many are */
  answer(socket: Socket, stream: EventEmitter): number {
    const answers = (this.#answers.get(socket) ?? 0) + 1;
    this.#answers.set(socket, answers);
    stream.once("close", () => this.#answered(socket));
    return answers;
  }

  /** Resolves when, after closing has begun, the last connection has closed and whoever listens to that has heard. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /** Cuts whatever is left. */
  cut(): void {
    for (const socket of [...this.#answers.keys(), ...this.#handshakes.values()]) socket.destroy();
  }

  #greet(socket: Socket): void {
    const peer = peerOf(socket);
    this.#handshakes.set(peer, socket);
    socket.once("close", () => {
      if (this.#handshakes.get(peer) === socket) this.#handshakes.delete(peer);
      this.#closed();
    });
  }

  #open(socket: Socket): void {
    this.#handshakes.delete(peerOf(socket));
    this.#answers.set(socket, 0);
    socket.once("close", () => {
      this.#answers.delete(socket);
      this.#closed();
    });
    if (this.#closing) socket.destroy();
  }

  #answered(socket: Socket): void {
    const answers = this.#answers.get(socket);
    if (answers === undefined) return;
    this.#answers.set(socket, answers - 1);
    if (this.#closing && answers === 1) socket.destroySoon();
  }

  #closeIdle(): void {
    this.#closing = true;
    for (const [socket, answers] of this.#answers) if (answers === 0) socket.destroySoon();
    for (const socket of this.#handshakes.values()) socket.destroy();
    this.#closed();
  }

  #closed(): void {
    if (this.#closing && this.#answers.size + this.#handshakes.size === 0) this.#gone.resolve();
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
