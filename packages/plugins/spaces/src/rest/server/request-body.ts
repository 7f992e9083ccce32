import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError, parseJson } from "@virtual-workspaces/apimachinery";
import { readBody } from "@virtual-workspaces/framework";
import { problemOf } from "../document/schemas.ts";
import { LIMITS, MEDIA, mediaOf } from "../protocol.ts";

/** Reads what is wanted of a new space. @throws ApiError 400, 413, 415; the signal's reason */
export async function readSpaceRequest(req: IncomingMessage, res: ServerResponse, signal: AbortSignal): Promise<void> {
  const body = await readBody(req, { res, signal, limit: LIMITS.request });
  if (mediaOf(req.headers["content-type"]) !== MEDIA.json) throw ApiError.unsupportedMediaType([MEDIA.json]);
  const problem = problemOf("SpaceRequest", parsed(body));
  if (problem !== undefined)
    throw ApiError.badRequest(`the body of the request: ${problem}: this version takes an object without fields`);
}

function parsed(body: Buffer): unknown {
  try {
    return parseJson(body.toString("utf8")).value;
  } catch {
    return undefined;
  }
}
