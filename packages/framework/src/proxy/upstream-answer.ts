import type { ServerResponse } from "node:http";
import {
  type BodySink,
  header,
  type ResponseHeaders,
  type SinkControl,
  type StreamedResponse,
} from "@virtual-workspaces/transport";
import { endWith } from "../encode/respond.ts";
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

/** Forwards a response: its head at once, its body as it arrives. An incomplete one is cut. @returns `undefined` when all is written */
export function passAnswer(answer: StreamedResponse, { res, location, ending }: Passing): Promise<void> | undefined {
  res.statusCode = answer.status;
  tellHeaders(answer.headers, location, (name, value) =>
    name === "vary" ? res.appendHeader(name, value) : res.setHeader(name, value),
  );
  const whole = answer.whole?.();
  if (whole !== undefined) {
    endWith(res, whole);
    return undefined;
  }
  return new Promise<void>((resolve) => {
    const relay = new RelayedBody({ res, ending: isLines(answer) ? ending : undefined, over: resolve });
    if (answer.into === undefined) void passPieces(answer, relay);
    else relay.begin(answer.into(relay));
  });
}

/** Passes the chunks of a body that has no `into`. */
async function passPieces(answer: StreamedResponse, relay: RelayedBody): Promise<void> {
  const pieces = answer.body[Symbol.asyncIterator]();
  let resumed = Promise.withResolvers<void>();
  let isStopped = false;
  relay.begin({
    resume: () => resumed.resolve(),
    stop: () => {
      isStopped = true;
      resumed.resolve();
      void pieces.return?.();
    },
  });
  try {
    for (;;) {
      const { done, value } = await pieces.next();
      if (isStopped) return;
      if (done === true) break;
      if (relay.write(value)) continue;
      await resumed.promise;
      resumed = Promise.withResolvers();
    }
    relay.end();
  } catch {
    relay.fail();
  }
}

/**
 * Writes a body to a response whose head is set, at the client's pace and without garbage. An incomplete body cuts the response.
 *
 * @throws the error of an incomplete body
 */
export function relayBody(res: ServerResponse, into: (sink: BodySink) => SinkControl): Promise<void> {
  return new Promise((resolve, reject) => {
    const relay = new RelayedBody({ res, ending: undefined, over: resolve });
    const control = into({
      write: (piece) => relay.write(piece),
      end: () => relay.end(),
      fail: (error) => {
        reject(error);
        relay.fail();
      },
    });
    relay.begin(control);
  });
}

/** Size from which chunks are collected, in bytes: a smaller one is an event of a watch, which must not wait. */
const LARGE = 4 * 1024;
/** Memory in which they are collected, in bytes. */
const COLLECTED = 256 * 1024;
/** Maximum number of these that one response has at a time. */
const MOST = 2;
/** Free memory of this kind, at most 2 MiB in this process. */
const free: Buffer[] = [];
const MOST_FREE = 8;

interface Relaying {
  readonly res: ServerResponse;
  /**
   * Aborts when the server begins to close: a stream of lines then ends after a whole line, for its client to resume elsewhere.
   */
  readonly ending: AbortSignal | undefined;
  /** Called once, when the response has ended or was cut. */
  readonly over: () => void;
}

/**
 * Writes a body to a response as it arrives, at the client's pace. The head goes out at once, together with the part of the
 * body that has arrived, because another write costs as much as everything else here. Long bodies are written in large parts,
 * collected within one turn of the event loop, without garbage.
 */
class RelayedBody implements BodySink {
  #control: SinkControl | undefined;
  readonly #res: ServerResponse;
  readonly #ending: AbortSignal | undefined;
  readonly #over: () => void;
  #isCorked = true;
  #isWithin = false;
  #collected: Buffer | undefined;
  #length = 0;
  /** Number of collected parts that are being written. */
  #writing = 0;
  #isScheduled = false;
  #isOver = false;

  constructor({ res, ending, over }: Relaying) {
    this.#res = res;
    this.#ending = ending;
    this.#over = over;
    res.cork();
    res.flushHeaders();
    process.nextTick(() => this.#uncork());
    res.once("close", this.#left);
    ending?.addEventListener("abort", this.#stopAtLine, { once: true });
  }

  /** Called once, with the control of the body. Parts of the body may have been written before. */
  begin(control: SinkControl): void {
    this.#control = control;
    if (this.#isOver) control.stop();
    else if (this.#ending?.aborted === true) this.#stopAtLine();
  }

  write(piece: Buffer): boolean {
    if (this.#isOver) return false;
    if (this.#res.destroyed || this.#res.writableEnded) {
      this.#left();
      return false;
    }
    this.#isWithin = piece[piece.length - 1] !== LINE_FEED;
    const goesOn = piece.length < LARGE ? this.#writeSmall(piece) : this.#collect(piece);
    if (this.#ending?.aborted === true) this.#stopAtLine();
    return goesOn;
  }

  end(): void {
    if (this.#isOver) return;
    this.#flush();
    this.#uncork(); // Node loses data written between a cork and an end without an uncork
    this.#finish();
    this.#res.end();
  }

  fail(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#res.destroy(); // incomplete, and the client must see that
  }

  #writeSmall(piece: Buffer): boolean {
    this.#flush();
    if (this.#res.write(Buffer.from(piece))) return true;
    this.#res.once("drain", this.#resume);
    return false;
  }

  #collect(piece: Buffer): boolean {
    let from = 0;
    while (from < piece.length) {
      this.#collected ??= free.pop() ?? Buffer.allocUnsafeSlow(COLLECTED);
      const copied = piece.copy(this.#collected, this.#length, from);
      from += copied;
      this.#length += copied;
      if (this.#length === COLLECTED) this.#flush();
    }
    if (this.#length > 0 && !this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(this.#flushLater);
    }
    return this.#writing < MOST;
  }

  readonly #flushLater = (): void => {
    this.#isScheduled = false;
    this.#flush();
  };

  #flush(): void {
    const memory = this.#collected;
    if (memory === undefined) return;
    const part = memory.subarray(0, this.#length);
    this.#collected = undefined;
    this.#length = 0;
    if (this.#res.destroyed) return;
    this.#writing += 1;
    this.#res.write(part, () => {
      if (free.length < MOST_FREE) free.push(memory);
      this.#writing -= 1;
      if (this.#writing === MOST - 1) this.#resume();
    });
  }

  readonly #resume = (): void => {
    if (!this.#isOver) this.#control?.resume();
  };

  readonly #stopAtLine = (): void => {
    if (this.#isWithin || this.#isOver) return;
    this.end();
    this.#control?.stop();
  };

  /** The client has left, or got everything. */
  readonly #left = (): void => {
    if (this.#isOver) return;
    this.#finish();
    this.#control?.stop();
  };

  #finish(): void {
    this.#isOver = true;
    this.#res.off("close", this.#left).off("drain", this.#resume);
    this.#ending?.removeEventListener("abort", this.#stopAtLine);
    this.#over();
  }

  #uncork(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#res.uncork();
  }
}

/** Whether a body is a stream of lines, such as a watch. */
function isLines({ headers }: StreamedResponse): boolean {
  const type = header(headers, "content-type") ?? "";
  return type.startsWith("application/json") && headers["content-encoding"] === undefined;
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
