import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Failure } from "../process/failure.ts";

/** Does something with a connection. */
type Take = (connection: Socket) => void;

/**
 * A port of this machine, held from the start to the end. Connections go to whoever serves at the time, unread; with
 * nobody there they are closed.
 */
export class Port implements Disposable {
  readonly number: number;
  readonly #server: Server;
  readonly #waiting: Socket[] = [];
  #take: Take = close;

  private constructor(server: Server) {
    this.#server = server;
    this.number = (server.address() as AddressInfo).port;
    server.on("connection", (connection: Socket) => this.#take(connection));
  }

  /** Takes the first of these ports that is free. @throws Failure when none is */
  static async open(ports: readonly number[]): Promise<Port> {
    for (const port of ports) {
      const server = createServer({ pauseOnConnect: true });
      try {
        await once(server.listen(port, "127.0.0.1"), "listening");
        return new Port(server);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      }
    }
    throw new Failure(`all ports from ${ports[0]} to ${ports.at(-1)} are taken; name a free one with --port`);
  }

  /** From now on connections go here, those that waited first; to `undefined`: they are closed. */
  handTo(take: Take = close): void {
    this.#take = take;
    for (const connection of this.#waiting.splice(0)) take(connection);
  }

  /** From now on connections wait for the next who takes them. */
  hold(): void {
    this.#take = (connection) => void this.#waiting.push(connection);
  }

  [Symbol.dispose](): void {
    this.handTo(undefined);
    this.#server.close();
  }
}

function close(connection: Socket): void {
  connection.destroy();
}
