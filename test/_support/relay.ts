// TCP relay that can be cut at a chosen moment, as a network does to watches.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Running relay. */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** Resets all connections at once; clients may open new ones. */
  cut(): void;
  /** Stops forwarding the server's bytes after this many more; resolves when it has stopped. */
  hold(bytes: number): Promise<void>;
  /** Resumes forwarding. */
  release(): void;
}

/** Starts a relay to a port of this machine, which may change. */
export async function startRelay(target: number | (() => number)): Promise<Relay> {
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket }>();
  let allowance = Number.POSITIVE_INFINITY;
  let held: (() => void) | undefined;

  const listener = createServer((client) => {
    const server = connect(typeof target === "number" ? target : target(), "127.0.0.1");
    const pair = { client, server };
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on("error", end).on("close", end);
    client.pipe(server);
    server.on("data", (bytes) => {
      client.write(bytes);
      allowance -= bytes.length;
      if (allowance > 0) return;
      server.pause();
      held?.();
    });
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");

  const cut = (): void => {
    for (const { client, server } of [...pairs]) {
      client.resetAndDestroy();
      server.destroy();
    }
  };
  return {
    port: (listener.address() as AddressInfo).port,
    cut,
    hold: (bytes) => {
      allowance = bytes;
      return new Promise((resolve) => {
        held = resolve;
      });
    },
    release: () => {
      allowance = Number.POSITIVE_INFINITY;
      for (const { server } of pairs) server.resume();
    },
    [Symbol.asyncDispose]: async () => {
      cut();
      listener.close();
      await once(listener, "close");
    },
  };
}
