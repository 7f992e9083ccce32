import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { header, type StreamedResponse } from "@virtual-workspaces/transport";

const LINE_FEED = 10;

/**
 * Writes a body as it comes, at the client's pace.
 *
 * @param ending aborts when the server begins to close: a stream of lines then ends behind one of them, for its client to
 *   resume elsewhere
 * @throws what the body throws, unless the client has left or the stream was ended
 */
export async function passBody(answer: StreamedResponse, res: ServerResponse, ending?: AbortSignal): Promise<void> {
  const pieces = answer.body[Symbol.asyncIterator]();
  let isWithin = false;
  let waits = false;
  const stop = (): void => {
    if (waits && !isWithin) res.end();
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
    if (!res.writableEnded) res.end();
  } catch (error) {
    if (!res.writableEnded && !res.destroyed) throw error;
  } finally {
    ending?.removeEventListener("abort", stop);
    await pieces.return?.();
  }
}

/** Whether a body is a stream of lines, as a watch's is. */
export function isLines({ headers }: StreamedResponse): boolean {
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
