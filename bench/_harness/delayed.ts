// A connection that takes its time: bytes come out at the other end so long after they went in, as many as there are.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Delayed extends AsyncDisposable {
  readonly port: number;
  /** From now on nothing is passed on any more, and nobody is told. */
  silence(): void;
}

/** @param port where it leads. @param milliseconds each way */
export async function delayed(port: number, milliseconds: number): Promise<Delayed> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: "127.0.0.1", noDelay: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => undefined).once("close", () => !isSilent && to.destroy());
      from.on("data", (piece) => {
        if (isSilent) return;
        if (milliseconds === 0) to.write(piece);
        else setTimeout(() => to.write(piece), milliseconds);
      });
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    silence: () => {
      isSilent = true;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
