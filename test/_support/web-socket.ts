// Watches over WebSockets, as browsers open them.
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";

/** Open WebSocket of a watch. */
export interface WatchSocket extends Disposable {
  readonly socket: WebSocket;
  readonly response: IncomingMessage;
  /** Returns the next message, as text. @throws when the WebSocket closes */
  next(): Promise<string>;
  /** Resolves to the close code. */
  readonly closed: Promise<number>;
}

/** Headers and credentials of a client. */
export interface WatchSocketOptions {
  readonly protocols?: readonly string[];
  /** @default the token of alice */
  readonly headers?: Readonly<Record<string, string>>;
  /** Authorities to trust, and a client certificate, PEM. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Opens a WebSocket. @throws the Status of a rejection */
export async function openWatch(
  url: string,
  path: string,
  { protocols = [], headers = { authorization: "Bearer alice" }, ...tls }: WatchSocketOptions = {},
): Promise<WatchSocket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}${path}`, [...protocols], { headers, ...tls });
  const waiting: string[] = [];
  const readers: { readonly resolve: (text: string) => void; readonly reject: (error: Error) => void }[] = [];
  socket.on("message", (data, isBinary) => {
    const text = isBinary ? "binary" : String(data);
    const reader = readers.shift();
    if (reader === undefined) waiting.push(text);
    else reader.resolve(text);
  });
  const closed = once(socket, "close").then(([code]) => code as number);
  void closed.then((code) => {
    for (const { reject } of readers) reject(new Error(`closed with ${code}`));
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    socket.once("upgrade", resolve);
    socket.once("unexpected-response", async (_req, res: IncomingMessage) => {
      let text = "";
      for await (const piece of res) text += piece;
      reject(Object.assign(new Error(text), { status: JSON.parse(text) }));
    });
    socket.on("error", reject);
  });
  if (socket.readyState === WebSocket.CONNECTING) await once(socket, "open");
  const next = async (): Promise<string> => {
    const ready = waiting.shift();
    if (ready !== undefined) return ready;
    if (socket.readyState !== WebSocket.OPEN) throw new Error("closed");
    return new Promise((resolve, reject) => readers.push({ resolve, reject }));
  };
  return { socket, response, next, closed, [Symbol.dispose]: () => socket.terminate() };
}

/** Returns code and message of the rejection. */
export async function rejection(opening: Promise<WatchSocket>): Promise<readonly [number, string]> {
  const found = await opening.then(
    ({ socket }) => {
      socket.terminate();
      throw new Error("the WebSocket opened");
    },
    (error: { readonly status?: { readonly code: number; readonly message: string } }) => error.status,
  );
  return [found?.code ?? 0, found?.message ?? ""];
}

/** Returns an event as `TYPE name`. */
export const labelOf = (text: string): string => {
  const { type, object } = JSON.parse(text);
  return `${type} ${object.metadata?.name ?? object.code}`;
};
