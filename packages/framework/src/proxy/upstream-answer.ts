import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { header, type ResponseHeaders, type StreamedResponse } from "@virtual-workspaces/transport";
import { HOPS_HEADER } from "../request/request-info.ts";

const LINE_FEED = 10;

/** How an answer is passed on. */
export interface Passing {
  readonly res: ServerResponse;
  /** Where it sends its client; "" for nowhere. */
  readonly location: string;
  /** As of {@link passBody}. */
  readonly ending: AbortSignal | undefined;
}

/** Passes an answer on: its head at once, its body as it comes. One that breaks off is cut. */
export async function passAnswer(answer: StreamedResponse, { res, location, ending }: Passing): Promise<void> {
  res.statusCode = answer.status;
  tellHeaders(answer.headers, location, (name, value) => res.setHeader(name, value));
  const whole = answer.whole?.();
  if (whole !== undefined) {
    res.end(whole);
    return;
  }
  const head = new CorkedHead(res);
  try {
    await passBody(answer, head, isLines(answer) ? ending : undefined);
  } catch {
    res.destroy(); // it is not whole, and the client must see that
  }
}

/**
 * A head that goes out at once, and in one piece with what has come of the body already: a write more costs as much as all else here.
 * Node loses what is written between a cork and an end that nobody has uncorked before.
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
 * Writes a body as it comes, at the client's pace.
 *
 * @param ending aborts when the server begins to close: a stream of lines then ends behind one of them, for its client to
 *   resume elsewhere
 * @throws what the body throws, unless the client has left or the stream was ended
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

/** Whether a body is a stream of lines, as a watch's is. */
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

/** Answers whose `Location` says where to ask instead. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Where an answer sends its client: as it came when it is a path, without the other server's own address, which clients do not
 * know. `undefined`: to another host. Clients would take what they have to say there, and we must not be who sends them
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

/** What is about the connection to the other server, and not about its answer. */
const CONNECTION: ReadonlySet<string> = new Set([
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
 * Tells the headers of an answer that are passed on, by name, a character a byte.
 *
 * @param location what is said in place of its `Location`, if it has one
 */
export function tellHeaders(
  headers: ResponseHeaders,
  location: string,
  tell: (name: string, value: string | string[]) => void,
): void {
  const listed = listedBy(headers["connection"]);
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value === undefined || CONNECTION.has(name) || listed?.has(name) === true) continue;
    tell(name, name === "location" ? Buffer.from(location, "utf8").toString("latin1") : value);
  }
}

/** What a `Connection` header says to be about it; nothing, of most. */
function listedBy(connection: string | string[] | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === "keep-alive" || connection === "close") return undefined;
  return new Set([connection].flat().flatMap((line) => line.toLowerCase().split(/\s*,\s*/)));
}
