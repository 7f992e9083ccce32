import { isUtf8 } from "node:buffer";
import type { ClientRequest, IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect } from "node:tls";
import { type Dial, hostOf } from "@virtual-workspaces/transport";
import { delayOf } from "../../util/numbers.ts";

/** The longest answer that is read of an issuer, bytes. */
const LONGEST_ANSWER = 1024 * 1024;

export interface FetchOptions {
  /** PEM of the authorities that the server's certificate must come from, and no others. */
  readonly ca: string | undefined;
  /** For all of it, ms. */
  readonly timeout: number;
  /** Opens the connection. @default to wherever the URL leads */
  readonly dial?: Dial | undefined;
}

/**
 * Gets a JSON document over TLS, as text. Follows no redirect: keys come from where the configuration says.
 *
 * @throws Error that says what and where, but for the query
 */
export async function fetchText(url: string, { ca, timeout, dial }: FetchOptions): Promise<string> {
  const target = parsed(url);
  const signal = AbortSignal.timeout(delayOf(timeout));
  try {
    // Whatever becomes of the request: who asks for keys must not wait for ever.
    return await Promise.race([get(target, { ca, signal, dial }), end(signal)]);
  } catch (error) {
    const why = signal.aborted ? `no whole answer within ${timeout} ms` : (error as Error).message;
    throw new Error(`GET ${target.origin}${target.pathname}: ${why}`);
  }
}

function parsed(url: string): URL {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (target?.protocol !== "https:") throw new Error("what it names is no https URL");
  return target;
}

function end(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

interface Asked extends Pick<FetchOptions, "ca" | "dial"> {
  readonly signal: AbortSignal;
}

async function get(target: URL, { ca, signal, dial }: Asked): Promise<string> {
  const { Agent, get: request } = await import("node:https");
  const headers = { Accept: "application/json" };
  const verified = { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) };
  // A connection of its own, never one that another issuer's authorities have vouched for.
  const connection =
    dial === undefined
      ? { agent: new Agent({ keepAlive: false, maxCachedSessions: 0 }), ...verified }
      : { createConnection: await secured(target, { dial, signal, verified }) };
  const response = await answerTo(request(target, { headers, signal, ...connection }));
  try {
    if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
    return await read(response);
  } finally {
    response.destroy();
  }
}

interface Secured extends Required<Pick<Asked, "signal">> {
  readonly dial: Dial;
  readonly verified: ConnectionOptions;
}

/** TLS on a connection that somebody else has opened: the request sees to its errors, and ends it. */
async function secured(target: URL, { dial, signal, verified }: Secured): Promise<() => Duplex> {
  const host = hostOf(target);
  const socket = await dial({ host, port: Number(target.port) || 443 }, { signal });
  if (signal.aborted) socket.destroy();
  signal.throwIfAborted();
  return () => connect({ ...verified, socket, host, ...(isIP(host) === 0 && { servername: host }) });
}

/** Node ends a request that is answered with an upgrade nobody listens for, and tells neither of a response nor of an error. */
function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve).once("error", reject);
    request.once("close", () => reject(new Error("ended without an answer")));
    request.once("upgrade", ({ statusCode }, socket) => {
      socket.destroy();
      reject(new Error(`answered ${statusCode}`));
    });
  });
}

async function read(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > LONGEST_ANSWER) throw new Error(`answered more than ${LONGEST_ANSWER} bytes`);
    pieces.push(piece);
  }
  const body = Buffer.concat(pieces);
  if (!isUtf8(body)) throw new Error("answered what is not UTF-8");
  return body.toString("utf8");
}
