// Server whose answers a test writes byte by byte, for answers that our servers would never send.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

/** Received request. */
export interface RawRequest {
  /** Head and the part of the body that arrived with it. Each character is one byte. */
  readonly text: string;
  readonly socket: Socket;
  /** Number of earlier requests, on all connections. */
  readonly nth: number;
}

export interface RawServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Open sockets. */
  readonly sockets: ReadonlySet<Socket>;
  readonly requests: readonly RawRequest[];
  /** Number of connections since the start. */
  readonly opened: number;
  /** Resolves when the condition holds. @throws after five seconds */
  until(condition: () => boolean): Promise<void>;
}

/** Starts a server. @param answer called with each request as soon as its head has arrived; by default there is no answer */
export async function startRaw(answer: (request: RawRequest) => void = () => {}, tls?: TlsOptions): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const requests: RawRequest[] = [];
  let changed = Promise.withResolvers<void>();
  let opened = 0;
  const tell = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const each = (socket: Socket): void => {
    opened += 1;
    sockets.add(socket);
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      if (!text.includes("\r\n\r\n")) return;
      const request = { text, socket, nth: requests.length };
      text = "";
      requests.push(request);
      tell();
      answer(request);
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      tell();
    });
    tell();
  };
  const server = tls === undefined ? createServer(each) : createTlsServer(tls, each);
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    sockets,
    requests,
    get opened() {
      return opened;
    },
    until: async (condition) => {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(new Error(`not within 15 s: ${condition}`)), 15_000);
      try {
        while (!condition()) await Promise.race([changed.promise, late.promise]);
      } finally {
        clearTimeout(timer);
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Returns an answer with a length. */
export function plainAnswer(body: string, ...headers: readonly string[]): string {
  return ["HTTP/1.1 200 OK", `Content-Length: ${Buffer.byteLength(body)}`, ...headers, "", body].join("\r\n");
}

/** Returns the error with which a promise rejects. */
export async function thrown<E = { readonly code?: string; readonly message: string; readonly delivered?: boolean }>(
  work: Promise<unknown>,
): Promise<E> {
  try {
    await work;
  } catch (error) {
    return error as E;
  }
  throw new Error("the promise was not rejected");
}
