import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Failure } from "../process/failure.ts";

/** Receiver of connections. */
type Take = (connection: Socket) => void;

/** A local port, held from start to end. It passes connections unread to the current receiver, and closes them when there is none. */
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

  /** Listens on the first of these ports that is free. @throws Failure when none is */
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
    throw new Failure(`ports ${ports[0]} to ${ports.at(-1)} are in use: set a free one with --port`);
  }

  /** Sends connections to `take` from now on, the waiting ones first. Without `take` it closes them. */
  handTo(take: Take = close): void {
    this.#take = take;
    for (const connection of this.#waiting.splice(0)) take(connection);
  }

  /** Makes connections wait for the next receiver. */
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
