import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { header, type ResponseHeaders, type StreamedResponse } from "@virtual-workspaces/transport";
import { HOPS_HEADER } from "../request/request-info.ts";

const LINE_FEED = 10;

/** Options of forwarding a response. */
export interface Passing {
  readonly res: ServerResponse;
  /** Redirect target; "" for none. */
  readonly location: string;
  /** Same as in {@link passBody}. */
  readonly ending: AbortSignal | undefined;
}

/** Forwards a response: its head at once, its body as it arrives. An incomplete one is cut. */
export async function passAnswer(answer: StreamedResponse, { res, location, ending }: Passing): Promise<void> {
  res.statusCode = answer.status;
  tellHeaders(answer.headers, location, (name, value) =>
    name === "vary" ? res.appendHeader(name, value) : res.setHeader(name, value),
  );
  const whole = answer.whole?.();
  if (whole !== undefined) {
    res.end(whole);
    return;
  }
  const head = new CorkedHead(res);
  try {
    await passBody(answer, head, isLines(answer) ? ending : undefined);
  } catch {
    res.destroy(); // incomplete, and the client must see that
  }
}

/**
 * Sends a head at once, together with the part of the body that has arrived: another write costs as much as everything else
 * here. Node loses data written between a cork and an end without an uncork.
 */
class CorkedHead {
  readonly res: ServerResponse;
  #isCorked = true;

  constructor(res: ServerResponse) {
    this.res = res;
    res.cork();
    res.flushHeaders();
    process.nextTick(() => this.#uncork());
  }

  end(): void {
    this.#uncork();
    this.res.end();
  }

  #uncork(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.res.uncork();
  }
}

/**
 * Writes a body as it arrives, at the client's pace.
 *
 * @param ending aborts when the server begins to close: a stream of lines then ends after a whole line, for its client to
 * resume elsewhere
 * @throws errors of the body, unless the client has left or the stream was ended
 */
async function passBody(answer: StreamedResponse, head: CorkedHead, ending?: AbortSignal): Promise<void> {
  const { res } = head;
  const pieces = answer.body[Symbol.asyncIterator]();
  let isWithin = false;
  let waits = false;
  const stop = (): void => {
    if (waits && !isWithin) head.end();
  };
  ending?.addEventListener("abort", stop, { once: true });
  try {
    while (!(ending?.aborted === true && !isWithin)) {
      waits = true;
      const { done, value } = await pieces.next();
      waits = false;
      if (done === true || res.writableEnded || res.destroyed) break;
      isWithin = value.at(-1) !== LINE_FEED;
      if (!res.write(value)) await drained(res);
    }
    if (!res.writableEnded) head.end();
  } catch (error) {
    if (!res.writableEnded && !res.destroyed) throw error;
  } finally {
    ending?.removeEventListener("abort", stop);
    await pieces.return?.();
  }
}

/** Whether a body is a stream of lines, such as a watch. */
function isLines({ headers }: StreamedResponse): boolean {
  const type = header(headers, "content-type") ?? "";
  return type.startsWith("application/json") && headers["content-encoding"] === undefined;
}

async function drained(res: ServerResponse): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race([once(res, "drain", { signal }), once(res, "close", { signal })]);
  } finally {
    over.abort();
  }
}

/** Status codes whose `Location` is a redirect. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the redirect target of a response: a path as received, without the upstream's own address, which clients do not
 * know. `undefined`: another host. Security: clients would send their data there, so this server must not redirect them
 * (CVE-2022-3172).
 */
export function locationOf(
  { status, headers }: { readonly status: number; readonly headers: ResponseHeaders },
  origin: string,
): string | undefined {
  if (headers["location"] === undefined) return "";
  const location = header(headers, "location") ?? "";
  if (!REDIRECTS.has(status) || location === "") return location;
  const leads = URL.canParse(location, origin) ? new URL(location, origin) : undefined;
  if (leads?.origin !== origin) return undefined;
  const isPath = !/^(?:[a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(location.trim());
  return isPath ? location : leads.pathname + leads.search + leads.hash;
}

/**
 * Headers about the connection to the upstream rather than the response, and those by which it lets pages read it. Security: the
 * origins that this server allows decide who reads its responses. Kubernetes' proxies strip them too.
 */
const KEPT_BACK: ReadonlySet<string> = new Set([
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
  "access-control-expose-headers",
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-connection",
  "trailer",
  "transfer-encoding",
  "upgrade",
  HOPS_HEADER.toLowerCase(),
]);

/**
 * Calls back for each response header to forward, by name, one character per byte.
 *
 * @param location replaces its `Location`, if it has one
 */
export function tellHeaders(
  headers: ResponseHeaders,
  location: string,
  tell: (name: string, value: string | string[]) => void,
): void {
  const listed = listedBy(headers["connection"]);
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value === undefined || KEPT_BACK.has(name) || listed?.has(name) === true) continue;
    tell(name, name === "location" ? Buffer.from(location, "utf8").toString("latin1") : value);
  }
}

/** Returns the header names that a `Connection` header lists; usually none. */
function listedBy(connection: string | string[] | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === "keep-alive" || connection === "close") return undefined;
  return new Set([connection].flat().flatMap((line) => line.toLowerCase().split(/\s*,\s*/)));
}
