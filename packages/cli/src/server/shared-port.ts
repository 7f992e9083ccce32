import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { type ListenAddress, startFailure } from "./listening.ts";

/** A port that passes its connections unread to workers. */
export class SharedPort implements Disposable {
  readonly number: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.number = (server.address() as AddressInfo).port;
  }

  /** Listens on the port. @throws Failure when that fails */
  static async open({ bindAddress, port }: ListenAddress, take: (connection: Socket) => void): Promise<SharedPort> {
    const server = createServer({ pauseOnConnect: true }, take);
    try {
      await once(server.listen({ port, host: bindAddress }), "listening");
    } catch (error) {
      throw startFailure(error, { bindAddress, port });
    }
    return new SharedPort(server);
  }

  /** Returns the base URL. */
  urlAt({ bindAddress: host }: Pick<ListenAddress, "bindAddress">): string {
    return `https://${host.includes(":") ? `[${host}]` : host}:${this.number}`;
  }

  [Symbol.dispose](): void {
    this.#server.close();
  }
}
