import { type KubeObject, stringifyJson } from "@virtual-workspaces/apimachinery";
import type { Encoded, Scope, WriteOptions } from "@virtual-workspaces/framework";
import type { Query } from "../outbound/path.ts";
import { writeQuery } from "./query.ts";
import type { Sender, Sent } from "./sender.ts";

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
export async function written(sender: Sender, writing: Writing): Promise<Encoded> {
  const { verb, object, options } = writing;
  const { accept, dryRun } = options;
  if (accept === undefined) return (await send(sender, writing, object)).object;
  const tried = (await send(sender, { ...writing, options: { ...options, dryRun: true } }, object)).object;
  accept(tried.copy());
  if (dryRun) return tried;
  options.signal.throwIfAborted();
  // A name that was generated is the one that was accepted.
  const named = verb === "update" ? object : { ...object, metadata: { ...object.metadata, ...nameOf(tried.copy()) } };
  return (await send(sender, { ...writing, options: { ...options, warn: () => undefined } }, named)).object;
}

function nameOf({ metadata: { name } }: KubeObject): { readonly name?: string } {
  return name === undefined ? {} : { name };
}

function send(sender: Sender, { verb, scope, options }: Writing, object: KubeObject): Promise<Sent> {
  const { namespace = scope.namespace, name = "" } = object.metadata;
  const query: Query = writeQuery(options);
  return sender.send({
    ...(verb === "create" ? { method: "POST", name: "" } : { method: "PUT", name, subresource: options.subresource }),
    scope: { ...scope, namespace },
    options,
    query,
    contentType: "application/json",
    body: stringifyJson(object),
  });
}
