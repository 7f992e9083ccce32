import type { ServerResponse } from "node:http";
import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import type { PhysicalSpace } from "../../provider/provider.ts";
import { ProviderBusy, ProviderTimeout } from "../../provider/provider-calls.ts";
import { type Bodies, isSpaceName } from "../protocol/bodies.ts";
import { MEDIA } from "../protocol/protocol.ts";

/** Requested part of a list. */
export interface PageRequest {
  /** @default all */
  readonly limit: number | undefined;
  /** Token from the previous page. @default the first page */
  readonly continue: string | undefined;
}

/** Returns a page of the spaces sorted by name, so that a space that exists throughout is on one of the pages. @throws ApiError 400 */
export function pageOf(spaces: Iterable<PhysicalSpace>, { limit, continue: token }: PageRequest): Bodies["SpaceList"] {
  const after = token === undefined ? "" : nameIn(token);
  const all = [...spaces].filter(({ name }) => name > after).sort((one, other) => (one.name < other.name ? -1 : 1));
  const items = all.slice(0, limit);
  const last = items.at(-1);
  const isMore = last !== undefined && items.length < all.length;
  return { items, ...(isMore && { continue: Buffer.from(`after ${last.name}`).toString("base64url") }) };
}

function nameIn(token: string): string {
  const [, name = ""] = /^after (.*)$/s.exec(Buffer.from(token, "base64url").toString("utf8")) ?? [];
  if (!isSpaceName(name)) throw ApiError.badRequest("invalid continue token: start again with the first page");
  return name;
}

const CACHED = "no-cache, private";

export function send(res: ServerResponse, type: string, body: string): void {
  const cache = type === MEDIA.kubeconfig ? "no-store" : CACHED;
  const length = Buffer.byteLength(body);
  res.writeHead(200, { "Cache-Control": cache, "Content-Type": type, "Content-Length": length }).end(body);
}

export function begun(res: ServerResponse): void {
  res.writeHead(202, { "Cache-Control": CACHED, "Content-Length": 0 }).end();
}

/** Status codes that a provider throws on purpose. Security: other errors may concern the provider's own credentials and upstreams. */
const PASSED: ReadonlySet<number> = new Set([400, 409, 429, 503, 504]);

/** Returns the response for an error of the provider, with the provider's message. */
export function answerTo(error: unknown): ApiError {
  if (error instanceof ProviderBusy) return ApiError.tooManyRequests(error.message, Math.ceil(error.retryAfter / 1000));
  if (error instanceof ProviderTimeout) return ApiError.timeout(error.message, 1);
  if (isApiError(error) && PASSED.has(error.code)) return error;
  return ApiError.internalError(error instanceof Error ? error.message : String(error));
}
