import { ApiError } from "../meta/api-error.ts";
import type { ObjectKey } from "../meta/types.ts";
import { isResourceVersion } from "./watch.ts";

/** Position in a paged list: {@link encodeContinue}. */
export interface ContinueToken {
  /** Version of every page. */
  readonly resourceVersion: string;
  /** Last object of the previous page: the next page begins after it. */
  readonly start: ObjectKey;
}

const VERSION = "meta.k8s.io/v1";
const INVALID = "invalid continue token: continue key is not valid";

/**
 * Encodes the `continue` of a list: unpadded base64url of `{ v, rv, start }` as in Kubernetes, with two differences. `rv` is
 * a text, because it may exceed 2^53, and `start` begins with the logical cluster: `<cluster>/<namespace>/<name>`. Security:
 * the token is neither secret nor signed, and a client can forge one.
 * @throws RangeError for a slash in the cluster or the namespace.
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
 * Decodes a token of {@link encodeContinue}. Security: a forged token may name any position in the resource, so it must never
 * extend a list beyond the cluster and namespace of the request.
 * @throws ApiError 400 for any other text.
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
    // Reported below, without the reason: it would echo the client's text.
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
