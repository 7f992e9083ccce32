import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import { cloneJson } from "@virtual-workspaces/apimachinery/json";
import { CBOR } from "../body/cbor/cbor-reader.ts";
import { decodeBody } from "../body/decode.ts";
import { PROTOBUF } from "../body/protobuf/message.ts";
import { readBody } from "../body/read.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import { SCALE } from "../resource/scale/scale-kind.ts";
import type { ServedResource } from "../resource/served.ts";
import type { PatchOptions, SentWrite, Storage, Written } from "../storage.ts";
import { bytesOf } from "../watch/cache/encoded.ts";
import { checkPlace } from "../write/identity.ts";
import { readKept } from "../write/write-commit.ts";
import type { Draft, WriteRequest } from "../write/write-request.ts";
import { reporter, sentObject } from "./body.ts";
import { answerObject, wantedObject } from "./get.ts";
import { keyOf } from "./scope.ts";
import { mayCreate, unlessThere, writeQuery, writeRequest } from "./write-request.ts";

/** Whether writes go to the storage unread: it takes them so, and no `admit` has to see them. */
export function passes({ storage, admit }: ServedResource): boolean {
  return storage.pass !== undefined && admit === undefined;
}

/** Forwards a CREATE or an UPDATE, of an object or a part of it, to the storage and answers with its result. */
export async function passWrite(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  verb: SentWrite["verb"],
): Promise<void> {
  const { storage } = resource;
  const wanted = wantedObject(exchange);
  const query = writeQuery(exchange, resource, { kind: verb === "create" ? "CreateOptions" : "UpdateOptions" });
  const sent = await sentBody(exchange, resource);
  const { scope, options, part } = writeRequest(exchange, resource, query);
  const key = keyOf(exchange);
  // Kubernetes creates objects of some of its own kinds on update.
  if (verb === "update" && part === "") {
    const read = () => readKept(storage, { scope, key }, options);
    await unlessThere(exchange, { mayCreate: () => mayCreate(exchange, resource), read });
  }
  options.signal.throwIfAborted();
  const { pass } = storage as Required<Storage>;
  const write = { ...options, ...subresourceOf(part), ...sent, verb, key };
  const { object, created = false } = await pass.call(storage, scope, write);
  const code = verb === "create" || created ? 201 : 200;
  answerObject(exchange, answered(exchange, resource), { object, code, wanted });
}

/** A patch for a storage that applies patches itself. */
export interface PassedPatch extends Pick<PatchOptions, "contentType" | "patch" | "force"> {
  readonly request: WriteRequest;
  readonly key: ObjectKey;
}

/** Forwards a patch to its storage. */
export function handPatch(storage: Storage, patch: PassedPatch): Promise<Written> | Written {
  const { request, key, ...sent } = patch;
  const { scope, options, part } = request;
  options.signal.throwIfAborted();
  const { patch: pass } = storage as Required<Storage>;
  return pass.call(storage, scope, key, { ...options, ...subresourceOf(part), ...sent });
}

function subresourceOf(part: WriteRequest["part"]): Pick<SentWrite, "subresource"> {
  return part === "" ? {} : { subresource: part };
}

/** Returns the definition by which an answer is encoded. */
function answered({ info }: AuthorizedExchange, resource: ServedResource): Pick<ServedResource, "definition"> {
  return info.subresource === "scale" ? { definition: SCALE } : resource;
}

/** Reads the body and its content type. Converts protobuf and CBOR, which Go clients send and some servers reject, to JSON. */
async function sentBody(
  exchange: AuthorizedExchange,
  { definition }: ServedResource,
): Promise<Pick<SentWrite, "contentType" | "body">> {
  const { req, res, cancellation, core, audited } = exchange;
  const body = await readBody(req, { res, cancellation });
  const contentType = req.headers["content-type"] ?? "application/json";
  const { kind, protobuf } = definition;
  const mediaType = contentType.split(";", 1)[0]?.trim().toLowerCase();
  const isBinary = mediaType === PROTOBUF || mediaType === CBOR;
  if (!isBinary && audited === undefined) return { contentType, body };
  const options = { yaml: core.yaml, request: exchange, kind, ...(protobuf === undefined ? {} : { protobuf }) };
  const { value } = await decodeBody(body, contentType, options);
  audited?.sent(value);
  if (!isBinary) return { contentType, body };
  return { contentType: "application/json", body: bytesOf(value as KubeObject) };
}

/** Answers an UPDATE of an object, or of one of its subresources. */
export async function serveUpdate(exchange: AuthorizedExchange, resource: ServedResource): Promise<void> {
  if (passes(resource)) return passWrite(exchange, resource, "update");
  const { definition, writer } = resource;
  const wanted = wantedObject(exchange);
  const query = writeQuery(exchange, resource, { kind: "UpdateOptions" });
  const { object, findings } = await sentObject(exchange, definition);
  const key = keyOf(exchange);
  checkPlace(object, key);
  const request = writeRequest(exchange, resource, query);
  const unknown = reporter(findings, definition, request.options);
  writer.conform(object, { ...request, unknown });
  // The writer replaces metadata and parts only as wholes; an `admit` hook may change anything.
  const copy = resource.admit === undefined ? shallow : cloneJson;
  const creates = definition.strategy?.createOnUpdate === true && request.part === "";
  const draft = (): Draft => ({ object: copy(object), by: "replacing" });
  const asked = creates ? { ...request, mayCreate: () => mayCreate(exchange, resource) } : request;
  const { object: kept, created } = await writer.update(key, draft, asked);
  answerObject(exchange, resource, { object: kept, code: created === true ? 201 : 200, wanted });
}

function shallow(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata } };
}

/** Answers a CREATE. */
export async function serveCreate(exchange: AuthorizedExchange, resource: ServedResource): Promise<void> {
  if (passes(resource)) return passWrite(exchange, resource, "create");
  const { definition, writer } = resource;
  const wanted = wantedObject(exchange);
  const query = writeQuery(exchange, resource, { kind: "CreateOptions" });
  const { object, findings } = await sentObject(exchange, definition);
  checkPlace(object, { namespace: exchange.info.namespace, name: "" });
  const request = writeRequest(exchange, resource, query);
  const unknown = reporter(findings, definition, request.options);
  answerObject(exchange, resource, { object: await writer.create(object, { ...request, unknown }), code: 201, wanted });
}
