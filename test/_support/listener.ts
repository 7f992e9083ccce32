// A plain HTTP server on a port of its own, for as long as a test needs one.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export interface Listener extends AsyncDisposable {
  readonly url: string;
}

/** Starts one. What is still open when it is disposed of is cut. */
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
