import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { startFailure } from "../../start/failures.ts";
import type { ServeOptions } from "../options.ts";

/** A port whose connections are handed on unread. */
export class SharedPort implements Disposable {
  readonly number: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.number = (server.address() as AddressInfo).port;
  }

  /** @throws Failure when it cannot be had */
  static async open(
    { bindAddress, port }: Pick<ServeOptions, "bindAddress" | "port">,
    take: (connection: Socket) => void,
  ): Promise<SharedPort> {
    const server = createServer({ pauseOnConnect: true }, take);
    try {
      await once(server.listen({ port, host: bindAddress }), "listening");
    } catch (error) {
      throw startFailure(error, { bindAddress, port });
    }
    return new SharedPort(server);
  }

  [Symbol.dispose](): void {
    this.#server.close();
  }
}
