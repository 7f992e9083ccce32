import type { EncodedBytes, RequestOptions } from "@virtual-workspaces/framework";
import { checkJson, objectOf, passWarnings } from "../outbound/answer.ts";
import { answeredError } from "../outbound/failure.ts";
import type { Question, UpstreamResource } from "../outbound/upstream-resource.ts";

/** One request, of those that change something or lead to a change. */
export interface Sending extends Pick<Question, "scope" | "subresource" | "query" | "body"> {
  readonly method: NonNullable<Question["method"]>;
  readonly options: RequestOptions;
  /** "" for all of the collection. */
  readonly name: string;
  readonly contentType?: string;
}

/** What came back. */
export interface Sent {
  /** 200, 201 or 202. */
  readonly status: number;
  readonly body: Buffer;
  /** The body, if it is an object of the kind. */
  readonly object: EncodedBytes;
}

/**
 * Sends a write to another server, once: what it did of one that it did not answer nobody knows.
 *
 * @throws ApiError what the other server said, 403 for a caller who cannot be passed on, 503, 504; the signal's reason
 */
export function sendWrite(there: UpstreamResource, sending: Sending): Promise<Sent> {
  return there.told(sent(there, sending));
}

async function sent(there: UpstreamResource, sending: Sending): Promise<Sent> {
  const { scope, options, contentType, ...question } = sending;
  const headers = contentType === undefined ? [] : ["Content-Type", contentType];
  const answer = await there.send({ ...question, scope, headers, signal: options.signal });
  passWarnings(answer.headers, options.warn);
  const asked = { origin: there.origin, writes: sending.method !== "GET" };
  const { status, body } = answer;
  if (status >= 300) throw answeredError(answer, asked);
  checkJson(answer.headers, asked);
  return { status, body, object: objectOf(body, { definition: there.definition, scope }) };
}
