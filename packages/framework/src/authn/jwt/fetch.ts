import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";

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
  const signal = AbortSignal.timeout(timeout);
  try {
    return await get(target, { ca, signal });
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

async function get(target: URL, { ca, signal }: { ca: string | undefined; signal: AbortSignal }): Promise<string> {
  const { Agent, get: request } = await import("node:https");
  // A connection of its own, never one that another issuer's authorities have vouched for.
  const agent = new Agent({ keepAlive: false, maxCachedSessions: 0 });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { Accept: "application/json" };
    const options = { agent, headers, signal, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) };
    request(target, options, resolve).once("error", reject);
  });
  try {
    if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
    return await read(response);
  } finally {
    response.destroy();
  }
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
