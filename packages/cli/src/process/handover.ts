import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Hands connections to a process, which confirms each. They also stay open here until then: Node.js, and so the clients,
 * would keep those of a dying process forever.
 */
export class ConnectionHandover {
  readonly #process: ChildProcess;
  readonly #underWay: Socket[] = [];

  constructor(process: ChildProcess) {
    this.#process = process;
  }

  /** Sends `{ type: "connection" }` with the connection, or closes it if the process has ended. */
  readonly hand = (connection: Socket): void => {
    if (!this.#process.connected) {
      connection.destroy();
      return;
    }
    this.#underWay.push(connection);
    this.#process.send({ type: "connection" }, connection, { keepOpen: true }, () => undefined);
  };

  /** Closes this process's copy of the oldest connection, which the other process has confirmed. */
  taken(): void {
    this.#underWay.shift()?.destroy();
  }

  /** Closes the unconfirmed connections after the end of the process. */
  end(): void {
    for (const connection of this.#underWay.splice(0)) connection.destroy();
  }
}
