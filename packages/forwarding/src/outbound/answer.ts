import { type BytesContext, EncodedBytes, lostWrite, upstreamFault } from "@virtual-workspaces/framework";
import { header, type ResponseHeaders, type StreamedResponse, warningsOf } from "@virtual-workspaces/transport";
import { type Asked, answeredError } from "./failure.ts";

/** As much of an answer that is an error is read, bytes. */
const LONGEST_ERROR = 1024 * 1024;
const LINE_FEED = 10;

/** @throws ApiError when an answer is no JSON, as of a proxy that says that something is wrong with a 200 */
export function checkJson(headers: ResponseHeaders, { origin, writes = false }: Asked): void {
  const type = header(headers, "content-type") ?? "";
  if (type.startsWith("application/json")) return;
  const make = writes ? lostWrite : upstreamFault;
  throw make(origin, `answered ${JSON.stringify(type.slice(0, 60))} instead of JSON`);
}

/** An answer that is one object, unread. */
export function objectOf(body: Buffer, context: BytesContext): EncodedBytes {
  return new EncodedBytes(body.at(-1) === LINE_FEED ? body.subarray(0, -1) : body, context);
}

/** What an answer comes to that is no success and has only begun. Reads no more of it than an error may have. */
export async function streamedError(answer: StreamedResponse, asked: Asked): Promise<Error> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of answer.body) {
      pieces.push(piece);
      length += piece.length;
      if (length > LONGEST_ERROR) break;
    }
  } catch (error) {
    return upstreamFault(asked.origin, `answered ${answer.status} and broke off`, { cause: error });
  }
  return answeredError({ status: answer.status, headers: answer.headers, body: Buffer.concat(pieces) }, asked);
}

/** Hands on what the other server has to say to people. */
export function passWarnings(headers: ResponseHeaders, warn: (text: string) => void): void {
  for (const text of warningsOf(headers)) warn(text);
}
