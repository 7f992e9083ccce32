import { isUtf8 } from "node:buffer";
import type { ClientRequest, IncomingMessage } from "node:http";
import { delayOf } from "../../numbers.ts";

/** The longest answer that is read of an issuer, bytes. */
const LONGEST_ANSWER = 1024 * 1024;

export interface FetchOptions {
  /** PEM of the authorities that the server's certificate must come from, and no others. */
  readonly ca: string | undefined;
  /** For all of it, ms. */
  readonly timeout: number;
}

/**
 * Gets a JSON document over TLS, as text. Follows no redirect: keys come from where the configuration says.
 *
 * @throws Error that says what and where, but for the query
 */
export async function fetchText(url: string, { ca, timeout }: FetchOptions): Promise<string> {
  const target = parsed(url);
  const signal = AbortSignal.timeout(delayOf(timeout));
  try {
    // Whatever becomes of the request: who asks for keys must not wait for ever.
    return await Promise.race([get(target, { ca, signal }), end(signal)]);
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

async function get(target: URL, { ca, signal }: { ca: string | undefined; signal: AbortSignal }): Promise<string> {
  const { Agent, get: request } = await import("node:https");
  // A connection of its own, never one that another issuer's authorities have vouched for.
  const agent = new Agent({ keepAlive: false, maxCachedSessions: 0 });
  const headers = { Accept: "application/json" };
  const options = { agent, headers, signal, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) };
  const response = await answerTo(request(target, options));
  try {
    if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
    return await read(response);
  } finally {
    response.destroy();
  }
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
