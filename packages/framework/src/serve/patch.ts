import { ApiError } from "@virtual-workspaces/apimachinery";
import { readBody } from "../body/read.ts";
import { groupResourceOf } from "../definition.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource } from "../served.ts";
import { authorizeAs } from "../stages/authorize.ts";
import { answerObject, wantedObject } from "./answer.ts";
import { patchTypeOf } from "./patch-types.ts";
import { applying, patching } from "./patching.ts";
import { keyOf } from "./update.ts";
import { writeQuery, writeRequest } from "./write-request.ts";

/** Answers a PATCH. */
export async function servePatch(exchange: Exchange, resource: ServedResource): Promise<void> {
  const { definition, writer, storage } = resource;
  const type = patchTypeOf(exchange.req.headers["content-type"], definition);
  const wanted = wantedObject(exchange);
  const query = writeQuery(exchange, resource, { kind: "PatchOptions", apply: type === "apply" });
  const body = await readBody(exchange.req, { res: exchange.res, signal: exchange.signal });
  const request = writeRequest(exchange, resource, query);
  const key = keyOf(exchange);
  if (storage.patch !== undefined) {
    const contentType = exchange.req.headers["content-type"] as string;
    const options = { ...request.options, contentType, patch: body, force: query.force };
    const { object, created = false } = await storage.patch(request.scope, key, options);
    answerObject(exchange, resource, { object, code: created ? 201 : 200, wanted });
    return;
  }
  const patch = { type, body, yaml: exchange.core.yaml, key, definition };
  const making =
    type === "apply"
      ? await applying(patch, { ...request, force: query.force }, writer.rules.fields)
      : patching(patch, request);
  const { change, ...rest } = making;
  const creating = type === "apply" && request.part === "" ? { mayCreate: () => mayCreate(exchange, resource) } : {};
  const { object, created = false } = await writer.update(key, change, { ...request, ...rest, ...creating });
  answerObject(exchange, resource, { object, code: created ? 201 : 200, wanted });
}

/** An apply that creates is a create, and must be allowed as one. */
function mayCreate(exchange: Exchange, { verbs, definition }: ServedResource): void | Promise<void> {
  if (!verbs.includes("create")) throw ApiError.notFound(groupResourceOf(definition), exchange.info.name);
  return authorizeAs(exchange, { ...exchange.info, verb: "create" });
}
