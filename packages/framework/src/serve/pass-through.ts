import { acceptsEncoding, decoded } from "../encode/content-encoding.ts";
import { startStream } from "../encode/respond.ts";
import type { Exchange } from "../exchange.ts";
import type { EncodedList } from "../storage.ts";

/**
 * Answers a list with the storage's own bytes, at the client's pace; without their encoding for a client that does not
 * take it. One that breaks off cuts the connection: a shorter list must not pass for the whole.
 */
export async function passThrough(exchange: Exchange, list: EncodedList): Promise<void> {
  const { req, res } = exchange;
  const { contentEncoding, contentType = "application/json" } = list;
  const asItIs = contentEncoding === undefined || acceptsEncoding(req.headers["accept-encoding"], contentEncoding);
  const body = asItIs ? list.body : decoded(list);
  exchange.answered = true;
  if (contentEncoding !== undefined) res.setHeader("Vary", "Accept-Encoding");
  if (contentEncoding !== undefined && asItIs) res.setHeader("Content-Encoding", contentEncoding);
  const length = body instanceof Uint8Array ? body.length : asItIs ? list.length : undefined;
  startStream(res, contentType, length);
  if (body instanceof Uint8Array) {
    res.end(body);
    return;
  }
  // Cuts the body off too when the client leaves: an iterator that is left is ended.
  const left = whenClosed(exchange);
  for await (const piece of body) {
    if (!res.write(piece) && (await left.drained())) break;
  }
  if (!res.destroyed) res.end();
}

/** Waits for room, or for the client to leave, with one listener each however often. */
function whenClosed({ res }: Exchange): { drained(): Promise<boolean> } {
  let goOn: ((left: boolean) => void) | undefined;
  res.on("drain", () => goOn?.(false));
  res.once("close", () => goOn?.(true));
  return {
    drained: () =>
      new Promise((resolve) => {
        if (res.destroyed) resolve(true);
        else goOn = resolve;
      }),
  };
}
