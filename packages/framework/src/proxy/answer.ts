import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { header, type StreamedResponse } from "@virtual-workspaces/transport";
import { tellHeaders } from "./answer-headers.ts";

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
