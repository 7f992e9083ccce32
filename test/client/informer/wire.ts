// Network connection that goes dead silently, as real ones do.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Wire extends AsyncDisposable {
  readonly port: number;
  /** Number of open connections. */
  readonly open: number;
  /** Stops all traffic on existing connections, with `all` also on new ones. */
  deaden(options?: { readonly all: boolean }): void;
  /** Lets new connections work again. */
  revive(): void;
}

export async function startWire(target: number): Promise<Wire> {
  const sockets = new Set<Socket>();
  let dead = false;
  const listener = createServer((client) => {
    const server = connect(target, "127.0.0.1");
    if (!dead) {
      client.pipe(server);
      server.pipe(client);
    }
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  return {
    port: (listener.address() as AddressInfo).port,
    get open() {
      return sockets.size / 2;
    },
    deaden: ({ all } = { all: false }) => {
      dead = all;
      for (const socket of sockets) socket.unpipe().resume();
    },
    revive: () => {
      dead = false;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, "close");
    },
  };
}
