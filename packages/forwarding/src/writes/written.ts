import { type KubeObject, stringifyJson } from "@virtual-workspaces/apimachinery";
import { decodeObject, type Encoded, type Scope, type WriteOptions } from "@virtual-workspaces/framework";
import type { UpstreamResource } from "../outbound/upstream-resource.ts";
import { writeQuery } from "./query.ts";
import { type Sent, sendWrite } from "./send-write.ts";

/** An object to be kept by another server. */
export interface Writing {
  readonly verb: "create" | "update";
  readonly scope: Scope;
  readonly object: KubeObject;
  readonly options: WriteOptions;
}

/**
 * Creates or replaces an object that was made here, by a view or for an admission hook. Who has a say in what is kept is
 * asked about what a dry run leads to, since the other server has the last word; the write then insists on the version that
 * the dry run was about. Costs a second request, where somebody has a say.
 */
export async function written(there: UpstreamResource, writing: Writing): Promise<Encoded> {
  const { verb, object, options } = writing;
  const { accept, dryRun } = options;
  if (accept === undefined) return (await send(there, writing, object)).object;
  const tried = (await send(there, { ...writing, options: { ...options, dryRun: true } }, object)).object;
  accept(decodeObject(tried));
  if (dryRun) return tried;
  options.signal.throwIfAborted();
  // A name that was generated is the one that was accepted.
  const named =
    verb === "update" ? object : { ...object, metadata: { ...object.metadata, ...nameOf(decodeObject(tried)) } };
  return (await send(there, { ...writing, options: { ...options, warn: () => undefined } }, named)).object;
}

function nameOf({ metadata: { name } }: KubeObject): { readonly name?: string } {
  return name === undefined ? {} : { name };
}

function send(there: UpstreamResource, { verb, scope, options }: Writing, object: KubeObject): Promise<Sent> {
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
