// Servers with invalid responses to reviews.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Misbehaving extends AsyncDisposable {
  readonly url: string;
  /** Number of requests so far. */
  readonly requests: number;
  /** Number of open connections. */
  readonly open: Promise<number>;
}

/** Answers each request by its number, from 1; an unanswered one stays open. */
export async function misbehaving(
  answer: (res: ServerResponse, count: number, req: IncomingMessage) => void,
): Promise<Misbehaving> {
  let requests = 0;
  const server = createServer((req, res) => {
    req.resume();
    req.once("end", () => {
      requests += 1;
      answer(res, requests, req);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests;
    },
    get open() {
      // In a turn of its own: a tight loop would let no connection close.
      return new Promise<number>((resolve) => {
        setImmediate(() => server.getConnections((_error, count) => resolve(count)));
      });
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Sends JSON. */
export function json(res: ServerResponse, body: unknown, status = 201): void {
  res.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

/** Returns a URL on which no server listens any more. */
export async function nowhere(): Promise<string> {
  const { url, [Symbol.asyncDispose]: close } = await misbehaving(() => undefined);
  await close();
  return url;
}
