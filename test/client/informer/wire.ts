// A wire that goes dead as wires do: nothing comes through, and nobody is told.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Wire extends AsyncDisposable {
  readonly port: number;
  /** Connections open now. */
  readonly open: number;
  /** From now on the connections there are carry nothing more; new ones do, unless `all`. */
  deaden(options?: { readonly all: boolean }): void;
  /** New connections carry again. */
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
