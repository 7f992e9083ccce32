import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Failure } from "../usage.ts";

/**
 * A port of this machine, held from the start to the end. Connections go to whoever serves at the time, unread; with
 * nobody there they are closed.
 */
export class Port implements Disposable {
  readonly number: number;
  readonly #server: Server;
  #take: ((connection: Socket) => void) | undefined;

  private constructor(server: Server) {
    this.#server = server;
    this.number = (server.address() as AddressInfo).port;
    server.on("connection", (connection: Socket) => {
      if (this.#take === undefined) connection.destroy();
      else this.#take(connection);
    });
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

  /** From now on connections go here. */
  handTo(take: ((connection: Socket) => void) | undefined): void {
    this.#take = take;
  }

  [Symbol.dispose](): void {
    this.#server.close();
  }
}
