import { CLUSTER_ANNOTATION, type KubeObject, type ObjectKey, type ObjectMeta } from "@virtual-workspaces/apimachinery";
import { parseOwnJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import type { SelectableField } from "../../definition.ts";

/**
 * An object as JSON bytes, with the properties for routing and selection already parsed. Storages return it so that a GET, a
 * LIST or a watch event costs no parsing or encoding. Treat it as immutable: the state, the history and all responses share
 * it.
 */
export interface Encoded {
  readonly key: ObjectKey;
  /** `metadata.resourceVersion` in `bytes`. */
  readonly resourceVersion: string;
  /** `metadata.uid` in `bytes`, or "". Two uids under one key are two objects. */
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Fields for field selectors: `metadata.name`, `metadata.namespace` and the kind's selectable fields. */
  readonly fields: Readonly<Record<string, string>>;
  /** The whole object, `apiVersion` and `kind` included, as UTF-8 JSON without a trailing newline. */
  readonly bytes: Buffer;
  /** Length of `bytes`, if known before they are made. @default the length of `bytes` */
  readonly length?: number;
  /** The same JSON as text, where that costs less than `bytes`. @default it is decoded from `bytes` */
  readonly text?: string;
}

const NOTHING: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Encodes an object. `cluster` is its logical cluster, "" where there is none.
 *
 * @throws TypeError when JSON cannot express the object (a cycle)
 */
export function encodeObject(object: KubeObject, cluster: string, selectable?: readonly SelectableField[]): Encoded {
  const { key, resourceVersion, uid, labels, fields } = routingOf(object, cluster, selectable);
  return { key, resourceVersion, uid, labels, fields, bytes: bytesOf(object) };
}

/** Properties of an {@link Encoded} object for routing and selection. */
export type Routing = Pick<Encoded, "key" | "resourceVersion" | "uid" | "labels" | "fields">;

/** Returns what {@link encodeObject} does, except the bytes: for storages that write these into memory of their own. */
export function routingOf(object: KubeObject, cluster: string, selectable: readonly SelectableField[] = []): Routing {
  const { name = "", namespace = "", resourceVersion = "", uid = "", labels = NOTHING } = object.metadata;
  const fields: Record<string, string> = { "metadata.name": name };
  if (namespace !== "") fields["metadata.namespace"] = namespace;
  for (const field of selectable) fields[field.name] = scalarText(field.read(object)[0]);
  return { key: { cluster, namespace, name }, resourceVersion, uid, labels, fields };
}

/** Returns the logical cluster of an object found in a scope. Over all logical clusters the object names it. */
export function clusterOf(object: KubeObject, scope: { readonly cluster: string }): string {
  return scope.cluster === "*" ? (object.metadata.annotations?.[CLUSTER_ANNOTATION] ?? "") : scope.cluster;
}

/** Returns the key of an object found in a scope of one logical cluster. */
export function keyIn({ cluster }: { readonly cluster: string }, { namespace = "", name = "" }: ObjectMeta): ObjectKey {
  return { cluster, namespace, name };
}

/** Returns a new, mutable copy of an encoded object. */
export function decodeObject<T extends KubeObject = KubeObject>(encoded: Encoded): T {
  return parseOwnJson(textOf(encoded)) as T;
}

/** Returns an encoded object as JSON text. */
function textOf(encoded: Encoded): string {
  return encoded.text ?? encoded.bytes.toString("utf8");
}

/** Returns the object at another resource version, for DELETED events. */
export function withResourceVersion(encoded: Encoded, resourceVersion: string): Encoded {
  const object = decodeObject(encoded);
  object.metadata.resourceVersion = resourceVersion;
  // Copied one by one: a spread would miss properties that are computed on access.
  const { key, uid, labels, fields } = encoded;
  return { key, uid, labels, fields, resourceVersion, bytes: bytesOf(object) };
}

/** Whether a storage returned bytes rather than a parsed object. */
export function isEncoded(value: KubeObject | Encoded): value is Encoded {
  // `in` does not call the getter of bytes that are made on access.
  return !("metadata" in value) && "bytes" in value;
}

/** Returns a storage's object, parsed. */
export function parsed(answer: KubeObject | Encoded): KubeObject {
  return isEncoded(answer) ? decodeObject(answer) : answer;
}

/** Returns an object without its type and metadata. */
export function contentOf(object: object): Record<string, unknown> {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...content } = object as KubeObject;
  return content;
}

/** Encodes into memory of its own: in Node's pool one long-lived object would keep its dozens of neighbors in memory. */
export function bytesOf(object: KubeObject): Buffer {
  const text = stringifyJson(object);
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** Returns a value as the text that field selectors compare. */
export function scalarText(value: unknown): string {
  return value === undefined || value === null || typeof value === "object" ? "" : String(value);
}
