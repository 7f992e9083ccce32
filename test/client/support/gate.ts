// An address where nobody answers until a test says so: connections are cut at once, as by a server that is not there yet.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Gate extends AsyncDisposable {
  readonly port: number;
  /** How many connections were cut. */
  readonly refused: number;
  open(): void;
  /** Ends all connections; new ones are made again. */
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
  // Not with a reset: Node leaks a handle that is reset while its end is being sent.
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
