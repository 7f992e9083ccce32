import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Hands connections to a process, which says of each that it has it. They are kept open here as well until then: Node would
 * keep those of a process that dies meanwhile for ever, and so would their clients.
 */
export class ConnectionHandover {
  readonly #process: ChildProcess;
  readonly #underWay: Socket[] = [];

  constructor(process: ChildProcess) {
    this.#process = process;
  }

  /** Sends `{ type: "connection" }` with it; of a process that is gone it is closed. */
  readonly hand = (connection: Socket): void => {
    if (!this.#process.connected) {
      connection.destroy();
      return;
    }
    this.#underWay.push(connection);
    this.#process.send({ type: "connection" }, connection, { keepOpen: true }, () => undefined);
  };

  /** The process has the first of those that were sent. */
  taken(): void {
    this.#underWay.shift()?.destroy();
  }

  /** The process is gone. */
  end(): void {
    for (const connection of this.#underWay.splice(0)) connection.destroy();
  }
}
