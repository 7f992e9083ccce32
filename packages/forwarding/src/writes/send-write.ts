import { apiVersionOf, type KubeObject, type ObjectOf, type Status } from "@virtual-workspaces/apimachinery";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { lostWrite, upstreamFault } from "@virtual-workspaces/framework/proxy";
import {
  type DeleteOptions,
  decodeObject,
  type Encoded,
  type EncodedBytes,
  type PatchOptions,
  type RequestOptions,
  type Scope,
  type Storage,
  type WriteOptions,
} from "@virtual-workspaces/framework/storage";
import {
  answeredError,
  checkJson,
  type ExpectedKind,
  objectOf,
  passWarnings,
  saysKind,
  statusIn,
} from "../upstream/answer.ts";
import type { Query } from "../upstream/path.ts";
import type { ResourceRequest, UpstreamResource } from "../upstream/upstream-resource.ts";

/** Media type of applies. */
export const APPLY = "application/apply-patch+yaml";
/** Maximum size of a Status of a delete, in bytes. An object that still exists may be larger. */
const LONGEST_STATUS = 64 * 1024;

/** Write methods of a storage. */
export type ForwardedWrites<T extends object> = Pick<
  Storage<ObjectOf<T>>,
  "create" | "update" | "pass" | "patch" | "delete" | "deleteCollection" | "applies"
> & { readonly lifecycle: "storage" };

/** Write request, or a read for one. */
export interface WriteRequest extends Pick<ResourceRequest, "scope" | "subresource" | "query" | "body"> {
  readonly method: NonNullable<ResourceRequest["method"]>;
  readonly options: RequestOptions;
  /** Name; "" for the collection. */
  readonly name: string;
  readonly contentType?: string;
}

/** Response to a write. */
export interface WriteAnswer {
  /** Status code: 200, 201 or 202. */
  readonly status: number;
  readonly body: Buffer;
  /** Body, if it is an object of the kind. */
  readonly object: EncodedBytes;
  /** Status of a completed delete. */
  readonly gone?: Status;
}

/**
 * Sends a write once: without a response its outcome is unknown.
 *
 * @throws ApiError of the upstream, 403 for a caller that headers cannot represent, 503, 504; the signal's reason
 */
export function sendWrite(there: UpstreamResource, sending: WriteRequest): Promise<WriteAnswer> {
  return there.told(sent(there, sending));
}

async function sent(there: UpstreamResource, sending: WriteRequest): Promise<WriteAnswer> {
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
  const told = sending.method === "DELETE" && body.length <= LONGEST_STATUS ? statusIn(body) : undefined;
  if (told?.status === "Success") return { status, body, object, gone: told };
  const expected = expectedOf(sending, definition);
  if (saysKind(body, expected)) return { status, body, object };
  throw (asked.writes ? lostWrite : upstreamFault)(
    asked.origin,
    `answered with something other than a ${expected.kind}`,
  );
}

function expectedOf({ method, name, subresource }: WriteRequest, resource: ResourceDefinition): ExpectedKind {
  if (subresource === "scale") return { kind: "Scale", apiVersion: "autoscaling/v1" };
  const isList = method === "DELETE" && name === "";
  return { kind: isList ? resource.listKind : resource.kind, apiVersion: apiVersionOf(resource) };
}

/** Object to write to the upstream. */
interface ObjectWrite {
  readonly verb: "create" | "update";
  readonly scope: Scope;
  readonly object: KubeObject;
  readonly options: WriteOptions;
}

/**
 * Creates or replaces an object that was built here, by a view or for an admission hook. Hooks get the result of a dry run,
 * because the upstream has the last word; the write then requires the version of that dry run. Hooks thus cost a second
 * request.
 */
export async function writeObject(there: UpstreamResource, writing: ObjectWrite): Promise<Encoded> {
  const { verb, object, options } = writing;
  const { accept, dryRun } = options;
  if (accept === undefined) return (await sendObject(there, writing, object)).object;
  const tried = (await sendObject(there, { ...writing, options: { ...options, dryRun: true } }, object)).object;
  accept(decodeObject(tried));
  if (dryRun) return tried;
  options.signal.throwIfAborted();
  // A generated name is the one that admission accepted.
  const named =
    verb === "update" ? object : { ...object, metadata: { ...object.metadata, ...nameOf(decodeObject(tried)) } };
  return (await sendObject(there, { ...writing, options: { ...options, warn: () => undefined } }, named)).object;
}

function sendObject(
  there: UpstreamResource,
  { verb, scope, options }: ObjectWrite,
  object: KubeObject,
): Promise<WriteAnswer> {
  const { namespace = scope.namespace, name = "" } = object.metadata;
  return sendWrite(there, {
    ...(verb === "create" ? { method: "POST", name: "" } : { method: "PUT", name, subresource: options.subresource }),
    scope: { ...scope, namespace },
    options,
    query: writeQuery(options),
    contentType: "application/json",
    body: stringifyJson(object),
  });
}

function nameOf({ metadata: { name } }: KubeObject): { readonly name?: string } {
  return name === undefined ? {} : { name };
}

/** Returns the query of a create or update. The field manager is the caller's program, not this server. */
export function writeQuery({ dryRun, fieldManager, fieldValidation }: WriteOptions): Query {
  return { dryRun: dryRun ? "All" : undefined, fieldManager, fieldValidation };
}

/** Returns the query of a patch. */
export function patchQuery(options: PatchOptions, isApply: boolean): Query {
  return { ...writeQuery(options), force: isApply && options.force ? true : undefined };
}

/** Returns the body of a delete; none without options. */
export function deleteBody(
  options: DeleteOptions,
): { readonly contentType: string; readonly body: string } | undefined {
  const { dryRun, gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions } = options;
  const said = {
    ...(dryRun && { dryRun: ["All"] }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(preconditions !== undefined && { preconditions }),
  };
  if (Object.keys(said).length === 0) return undefined;
  const body = JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", ...said });
  return { contentType: "application/json", body };
}
