// A load balancer for replicas: it gives each request, or each connection, to the next one in turn.
import { once } from "node:events";
import { createServer, request } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import type { KeyPair } from "../../_support/certificates.ts";

/** A running balancer. */
export interface Balancer extends AsyncDisposable {
  readonly port: number;
  /** Replicas; may change. */
  backends: readonly { readonly port: number }[];
  /** Number of requests or connections for each, by port. */
  readonly given: ReadonlyMap<number, number>;
}

/** Balances requests, each on its own connection, as an HTTP load balancer does. Tokens authenticate callers. */
export async function balanceRequests({
  ca,
  server,
}: {
  readonly ca: string;
  readonly server: KeyPair;
}): Promise<Balancer> {
  const turn = turns();
  const listener = createServer(server, (req, res) => {
    const port = turn.next();
    const { method, url: path, headers } = req;
    const onward = request({ host: "127.0.0.1", port, ca, method, path, headers, agent: false }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      res.flushHeaders();
      answer.on("error", () => res.destroy()).pipe(res);
      answer.on("aborted", () => res.destroy());
    });
    // After the answer, it does not matter that the rest of a body cannot be sent: a replica closes the connection behind a 413.
    onward.on("error", () => void (res.headersSent || res.writeHead(502).end()));
    res.on("close", () => onward.destroy());
    req.pipe(onward);
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  return Object.assign(turn.balancer, {
    port: (listener.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      listener.closeAllConnections();
      listener.close();
      await once(listener, "close");
    },
  });
}

/** Balances connections without reading them. */
export async function balanceConnections(): Promise<Balancer> {
  const turn = turns();
  const open = new Set<Socket>();
  const listener = createTcpServer((client) => {
    const backend = connect(turn.next(), "127.0.0.1");
    for (const [one, other] of [
      [client, backend],
      [backend, client],
    ] as const) {
      open.add(one);
      one
        .on("error", () => other.destroy())
        .on("close", () => {
          open.delete(one);
          other.destroy();
        });
      one.pipe(other);
    }
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  return Object.assign(turn.balancer, {
    port: (listener.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      listener.close();
      await once(listener, "close");
    },
  });
}

function turns(): {
  next(): number;
  balancer: Pick<Balancer, "backends" | "given"> & { backends: Balancer["backends"] };
} {
  let at = 0;
  const given = new Map<number, number>();
  const balancer: Pick<Balancer, "given"> & { backends: Balancer["backends"] } = { backends: [], given };
  const next = (): number => {
    const port = balancer.backends[at++ % balancer.backends.length]?.port ?? 0;
    given.set(port, (given.get(port) ?? 0) + 1);
    return port;
  };
  return { next, balancer };
}
