import type { AuthorizedExchange } from "../exchange.ts";
import type { ServedResource } from "../resource/served.ts";
import type { Written } from "../storage.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { PATCH_MEDIA_TYPES, type PatchType, patchTypeOf } from "../write/patch-types.ts";
import { readKept } from "../write/write-commit.ts";
import type { WriteRequest } from "../write/write-request.ts";
import { sentPatch } from "./body.ts";
import { answerObject, wantedObject } from "./get.ts";
import { applying, patching } from "./patching.ts";
import { keyOf } from "./scope.ts";
import { mayCreate, unlessThere, writeQuery, writeRequest } from "./write-request.ts";
import { handPatch } from "./writes.ts";

/** Answers a PATCH. */
export async function servePatch(exchange: AuthorizedExchange, resource: ServedResource): Promise<void> {
  const { definition, storage } = resource;
  const type = patchTypeOf(exchange.req.headers["content-type"], definition, storage.applies);
  const wanted = wantedObject(exchange);
  const { force, ...query } = writeQuery(exchange, resource, { kind: "PatchOptions", apply: type === "apply" });
  const body = await sentPatch(exchange);
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
  /** Called before the patch creates an object. @default the patch cannot create */
  readonly mayCreate?: () => Awaitable<void>;
}

async function patchKept(exchange: AuthorizedExchange, resource: ServedResource, patch: PatchWrite): Promise<Written> {
  const { definition, writer } = resource;
  const { type, body, force, request, ...creating } = patch;
  const key = keyOf(exchange);
  const sent = { type, body, yaml: exchange.core.yaml, key, definition };
  const making =
    type === "apply" ? await applying(sent, { ...request, force }, writer.rules.fields) : patching(sent, request);
  const { change, ...rest } = making;
  return writer.update(key, change, { ...request, ...rest, ...creating });
}

/** Forwards a patch to a storage that applies it. Authorizes an apply that creates beforehand, since it cannot be undone. */
async function passPatch(
  exchange: AuthorizedExchange,
  { storage }: ServedResource,
  patch: PatchWrite,
): Promise<Written> {
  const { type, body, force, request, mayCreate } = patch;
  const { scope, options } = request;
  const key = keyOf(exchange);
  if (mayCreate !== undefined)
    await unlessThere(exchange, { mayCreate, read: () => readKept(storage, { scope, key }, options) });
  return handPatch(storage, { request, key, contentType: PATCH_MEDIA_TYPES[type], patch: body, force });
}
