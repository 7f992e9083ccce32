import { ApiError } from "../meta/api-error.ts";
import type { ObjectKey } from "../meta/types.ts";
import { isResourceVersion } from "./watch.ts";

/** Where a paged list goes on: {@link encodeContinue}. */
export interface ContinueToken {
  /** Every page shows this version. */
  readonly resourceVersion: string;
  /** The last object of the page before: the next page begins right behind it. */
  readonly start: ObjectKey;
}

const VERSION = "meta.k8s.io/v1";
const INVALID = "invalid continue token: continue key is not valid";

/**
 * The `continue` of a list: unpadded base64url of `{ v, rv, start }` as Kubernetes has it, except that `rv` is a text,
 * since it may exceed 2^53, and that `start` begins with the logical cluster: `<cluster>/<namespace>/<name>`.
 * Neither secret nor signed: a client can make one up.
 * @throws RangeError when the cluster or the namespace has a slash in it.
 */
export function encodeContinue(token: ContinueToken): string {
  const { cluster, namespace, name } = token.start;
  if (cluster.includes("/") || namespace.includes("/")) {
    throw new RangeError("the cluster and namespace of a continue token must not contain '/'");
  }
  return toBase64Url(
    JSON.stringify({ v: VERSION, rv: token.resourceVersion, start: `${cluster}/${namespace}/${name}` }),
  );
}

/**
 * The inverse of {@link encodeContinue}. The result is only a place to go on from, anywhere in the resource: it must
 * never widen what is listed beyond the cluster and namespace of the request.
 * @throws ApiError 400 when the text is no token of ours.
 */
export function decodeContinue(text: string): ContinueToken {
  const { v, rv, start } = parse(text);
  if (v !== VERSION) {
    throw ApiError.badRequest(`${INVALID}: server does not recognize this encoded version`);
  }
  if (typeof rv !== "string" || !isResourceVersion(rv)) {
    throw ApiError.badRequest(`${INVALID}: incorrect encoded start resourceVersion (version ${VERSION})`);
  }
  return { resourceVersion: rv, start: parseKey(start) };
}

function parseKey(start: unknown): ObjectKey {
  const match = typeof start === "string" ? /^([^/]*)\/([^/]*)\/(.*)$/s.exec(start) : null;
  if (match === null) throw ApiError.badRequest(`${INVALID}: malformed start key (version ${VERSION})`);
  const [, cluster = "", namespace = "", name = ""] = match;
  return { cluster, namespace, name };
}

function parse(text: string): Partial<Record<"v" | "rv" | "start", unknown>> {
  try {
    const value: unknown = JSON.parse(fromBase64Url(text));
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Said below, without the reason: it would echo what the client sent.
  }
  throw ApiError.badRequest(INVALID);
}

function toBase64Url(text: string): string {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte));
  return btoa(bytes.join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64Url(text: string): string {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new SyntaxError("not base64url");
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
}
