// HTTP server without TLS, on a port of its own.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export interface Listener extends AsyncDisposable {
  readonly url: string;
}

/** Starts a server. Its disposal cuts open connections. */
export async function startListener(listener: RequestListener): Promise<Listener> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
