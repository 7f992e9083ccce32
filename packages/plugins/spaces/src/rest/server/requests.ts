import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import { parseJson } from "@virtual-workspaces/apimachinery/json";
import { readBody } from "@virtual-workspaces/framework/request";
import { isSpaceName, NAME_PROBLEM, problemOf } from "../protocol/bodies.ts";
import { LIMITS, MEDIA, mediaOf, PATHS } from "../protocol/protocol.ts";

/** Resource that a path refers to. */
export type Subject =
  | { readonly kind: "document" | "status" | "spaces" }
  | { readonly kind: "space" | "kubeconfig"; readonly name: string };

/** @param tail undecoded path @throws ApiError 400 on an invalid name, 404 on an unknown path */
export function subjectOf(tail: string): Subject {
  if (tail === PATHS.document) return { kind: "document" };
  if (tail === PATHS.status) return { kind: "status" };
  if (tail === PATHS.spaces) return { kind: "spaces" };
  const [, text, rest] = /^\/v1\/spaces\/([^/]+)(\/kubeconfig)?$/.exec(tail) ?? [];
  if (text === undefined)
    throw ApiError.notFoundPath(`unknown path: use ${Object.values(PATHS).join(", ")} or a path below`);
  return { kind: rest === undefined ? "space" : "kubeconfig", name: nameIn(text) };
}

function nameIn(text: string): string {
  const name = decoded(text);
  if (isSpaceName(name)) return name;
  throw ApiError.badRequest(`name: invalid value ${quote(text.slice(0, 300))}: ${NAME_PROBLEM}`);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Maximum length of a query parameter, characters. */
const LONGEST = 1024;

/** Query parameters of a request. Unknown ones are ignored. */
export class Parameters {
  readonly #query: URLSearchParams;

  /** @param search query string with its question mark, or "" */
  constructor(search: string) {
    this.#query = new URLSearchParams(search);
  }

  /** @throws ApiError 400 */
  text(name: string): string | undefined {
    const [value, second] = this.#query.getAll(name);
    if (second !== undefined) throw ApiError.badRequest(`${name}: duplicate query parameter: set it once`);
    if (value === "" || (value?.length ?? 0) > LONGEST)
      throw ApiError.badRequest(`${name}: invalid length: use 1 to ${LONGEST} characters, or omit it`);
    return value;
  }

  /** @throws ApiError 400 */
  number(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^[1-9]\d{0,8}$/.test(text))
      throw ApiError.badRequest(`${name}: invalid number: use an integer of at least 1`);
    return Number(text);
  }

  /** @throws ApiError 400 */
  oneOf<const Value extends string>(name: string, values: readonly Value[]): Value | undefined {
    const text = this.text(name);
    const value = values.find((one) => one === text);
    if (text !== undefined && value === undefined)
      throw ApiError.badRequest(`${name}: invalid value: use ${values.join(" or ")}`);
    return value;
  }
}

/** Validates the body of a request for a new space. @throws ApiError 400, 413, 415; the signal's reason */
export async function readSpaceRequest(req: IncomingMessage, res: ServerResponse, signal: AbortSignal): Promise<void> {
  const body = await readBody(req, { res, signal, limit: LIMITS.request });
  if (mediaOf(req.headers["content-type"]) !== MEDIA.json) throw ApiError.unsupportedMediaType([MEDIA.json]);
  const problem = problemOf("SpaceRequest", parsed(body));
  if (problem !== undefined)
    throw ApiError.badRequest(`invalid request body: ${problem}: use an object without fields`);
}

function parsed(body: Buffer): unknown {
  try {
    return parseJson(body.toString("utf8")).value;
  } catch {
    return undefined;
  }
}
