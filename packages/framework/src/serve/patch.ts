import { ApiError } from "@virtual-workspaces/apimachinery";
import { readBody } from "../body/read.ts";
import { groupResourceOf } from "../definition.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource } from "../served.ts";
import { authorizeAs } from "../stages/authorize.ts";
import type { Awaitable, Storage, Written } from "../storage.ts";
import { readKept } from "../write/read.ts";
import type { WriteRequest } from "../write/request.ts";
import { answerObject, wantedObject } from "./answer.ts";
import { PATCH_MEDIA_TYPES, type PatchType, patchTypeOf } from "./patch-types.ts";
import { applying, patching } from "./patching.ts";
import { keyOf } from "./update.ts";
import { writeQuery, writeRequest } from "./write-request.ts";

/** Answers a PATCH. */
export async function servePatch(exchange: Exchange, resource: ServedResource): Promise<void> {
  const { definition, storage } = resource;
  const type = patchTypeOf(exchange.req.headers["content-type"], definition);
  const wanted = wantedObject(exchange);
  const { force, ...query } = writeQuery(exchange, resource, { kind: "PatchOptions", apply: type === "apply" });
  const body = await readBody(exchange.req, { res: exchange.res, signal: exchange.signal });
  exchange.audited?.sentPatch(body);
  const request = writeRequest(exchange, resource, query);
  const creates = type === "apply" && request.part === "";
  const patch = { type, body, force, request, ...(creates && { mayCreate: () => mayCreate(exchange, resource) }) };
  const write = storage.patch === undefined ? patchKept : passPatch;
  const { object, created = false } = await write(exchange, resource, patch);
  answerObject(exchange, resource, { object, code: created ? 201 : 200, wanted });
}

interface PatchWrite {
  readonly type: PatchType;
  readonly body: Buffer;
  readonly force: boolean;
  readonly request: WriteRequest;
  /** Asked before it creates. @default it cannot */
  readonly mayCreate?: () => Awaitable<void>;
}

async function patchKept(exchange: Exchange, resource: ServedResource, patch: PatchWrite): Promise<Written> {
  const { definition, writer } = resource;
  const { type, body, force, request, ...creating } = patch;
  const key = keyOf(exchange);
  const sent = { type, body, yaml: exchange.core.yaml, key, definition };
  const making =
    type === "apply" ? await applying(sent, { ...request, force }, writer.rules.fields) : patching(sent, request);
  const { change, ...rest } = making;
  return writer.update(key, change, { ...request, ...rest, ...creating });
}

/** For a storage that patches by itself. Whether an apply creates is found out before, since it cannot be taken back. */
async function passPatch(exchange: Exchange, { storage }: ServedResource, patch: PatchWrite): Promise<Written> {
  const { type, body, force, request, mayCreate } = patch;
  const { scope, options } = request;
  const key = keyOf(exchange);
  if (mayCreate !== undefined && (await readKept(storage, { scope, key }, options)) === undefined) await mayCreate();
  options.signal.throwIfAborted();
  const { patch: pass } = storage as Required<Storage>;
  return pass.call(storage, scope, key, { ...options, contentType: PATCH_MEDIA_TYPES[type], patch: body, force });
}

/** An apply that creates is a create, and must be allowed as one. */
function mayCreate(exchange: Exchange, { verbs, definition }: ServedResource): void | Promise<void> {
  if (!verbs.includes("create")) throw ApiError.notFound(groupResourceOf(definition), exchange.info.name);
  return authorizeAs(exchange, { ...exchange.info, verb: "create" });
}
