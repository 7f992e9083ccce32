import { apiVersionOf, type Status } from "@virtual-workspaces/apimachinery";
import {
  type EncodedBytes,
  lostWrite,
  type RequestOptions,
  type ResourceDefinition,
  upstreamFault,
} from "@virtual-workspaces/framework";
import { checkJson, objectOf, passWarnings } from "../outbound/answer.ts";
import { answeredError } from "../outbound/failure.ts";
import { type ExpectedKind, saysKind } from "../outbound/says-kind.ts";
import { toldStatus } from "../outbound/told-status.ts";
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
  /** The body of a delete, if it says that all is gone. */
  readonly gone?: Status;
}

/** The longest Status of a delete, bytes. An object that is still there may be longer. */
const LONGEST_STATUS = 64 * 1024;

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
  const { origin, isEmptyUnserved } = there;
  const asked = { origin, isEmptyUnserved, writes: sending.method !== "GET" };
  const { status, body } = answer;
  if (status >= 300) throw answeredError(answer, asked);
  checkJson(answer.headers, asked);
  const { definition } = there;
  const object = objectOf(body, { definition, scope });
  const told = sending.method === "DELETE" && body.length <= LONGEST_STATUS ? toldStatus(body) : undefined;
  if (told?.status === "Success") return { status, body, object, gone: told };
  const expected = expectedOf(sending, definition);
  if (saysKind(body, expected)) return { status, body, object };
  throw (asked.writes ? lostWrite : upstreamFault)(asked.origin, `answered something else than a ${expected.kind}`);
}

function expectedOf({ method, name, subresource }: Sending, resource: ResourceDefinition): ExpectedKind {
  if (subresource === "scale") return { kind: "Scale", apiVersion: "autoscaling/v1" };
  const isList = method === "DELETE" && name === "";
  return { kind: isList ? resource.listKind : resource.kind, apiVersion: apiVersionOf(resource) };
}
