import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Site } from "./dev-messages.ts";

/** Time limit for a connection to send a request, ms. */
const PATIENCE = 10_000;

/**
 * Answers connections with 503 while no process serves: a client that finds connections closed tries again for a minute.
 * Without Retry-After, which would make clients wait, too.
 */
export class Outage implements Disposable {
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  #reason: Reason = { message: "" };

  constructor({ tls, ca }: Site) {
    const own = { ...tls, ca, requestCert: true, rejectUnauthorized: false, handshakeTimeout: PATIENCE };
    this.#server = createServer(own, (req, res) => {
      const { message, error } = this.#reason;
      const isUser = (req.socket as TLSSocket).authorized;
      const text = error === undefined || !isUser ? message : `${message}. ${printableLine(error)}`;
      // kubectl does not print the message of a failed discovery, but warnings.
      res.writeHead(503, { "content-type": "application/json", warning: warningOf(text), connection: "close" });
      res.end(JSON.stringify(ApiError.serviceUnavailable(text).status));
    });
    this.#server.timeout = PATIENCE;
  }

  /** Returns the receiver of connections, which answers with this reason from now on. */
  because(reason: Reason): (connection: Socket) => void {
    this.#reason = reason;
    return this.#take;
  }

  readonly #take = (connection: Socket): void => {
    this.#connections.add(connection);
    connection.once("close", () => this.#connections.delete(connection));
    this.#server.emit("connection", connection);
  };

  [Symbol.dispose](): void {
    for (const connection of this.#connections) connection.destroy();
  }
}

/** Reason why no process serves. */
export interface Reason {
  /** Event and remedy, for every client. */
  readonly message: string;
  /** Error of the views. Security: only users with a certificate get its first line, without the credentials in URLs. */
  readonly error?: string;
}

function printableLine(error: string): string {
  const [line = ""] = error.trim().split("\n");
  return line.replace(/:\/\/[^/@\s]*@/g, "://***@").slice(0, 500);
}

function warningOf(text: string): string {
  return `299 - "${text.replace(/[^\x20-\x7e]/g, "?").replace(/["\\]/g, "\\$&")}"`;
}
