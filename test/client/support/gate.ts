// Address that cuts connections at once, like a server that has not started, until a test opens it.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Gate extends AsyncDisposable {
  readonly port: number;
  /** Number of cut connections. */
  readonly refused: number;
  open(): void;
  /** Cuts all open connections; new ones succeed. */
  cut(): void;
}

export async function startGate(target: number): Promise<Gate> {
  const sockets = new Set<Socket>();
  let isOpen = false;
  let refused = 0;
  const server = createServer((client) => {
    if (!isOpen) {
      refused++;
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(target, "127.0.0.1");
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket
        .on("error", () => undefined)
        .on("close", () => {
          sockets.delete(socket);
          other.destroy();
        });
      socket.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // Without a reset: Node leaks a handle that is reset while its end is sent.
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get refused() {
      return refused;
    },
    open: () => {
      isOpen = true;
    },
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
