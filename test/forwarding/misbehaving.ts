// Servers that answer reviews otherwise than they should.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Misbehaving extends AsyncDisposable {
  readonly url: string;
  /** Requests so far. */
  readonly requests: number;
  /** Connections that are open. */
  readonly open: Promise<number>;
}

/** Answers each request by its number, from 1; what is not answered stays open. */
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
      // In a turn of its own: who asks again and again would let no connection close.
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

/** Answers JSON. */
export function json(res: ServerResponse, body: unknown, status = 201): void {
  res.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

/** Where nobody listens any more. */
export async function nowhere(): Promise<string> {
  const { url, [Symbol.asyncDispose]: close } = await misbehaving(() => undefined);
  await close();
  return url;
}
