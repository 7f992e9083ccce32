import { CLUSTER_ANNOTATION, type KubeObject, type ObjectKey, type ObjectMeta } from "@virtual-workspaces/apimachinery";
import { parseOwnJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import type { SelectableField } from "../../definition.ts";

/**
 * An object as its JSON bytes, with the few things that routing and selecting need already read.
 * Storages hand these out so that a GET, a LIST or a watch event costs no parse and no stringify.
 * Treat one as immutable: it is shared by the state, the history and every response that carries it.
 */
export interface Encoded {
  readonly key: ObjectKey;
  /** `metadata.resourceVersion` as it stands in `bytes`. */
  readonly resourceVersion: string;
  /** `metadata.uid` as it stands in `bytes`, or "". Two uids under one key are two objects. */
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** What field selectors may ask for: `metadata.name`, `metadata.namespace` and the kind's selectable fields. */
  readonly fields: Readonly<Record<string, string>>;
  /** The whole object, `apiVersion` and `kind` included, as UTF-8 JSON without a trailing newline. */
  readonly bytes: Buffer;
  /** How long `bytes` are, where they are made when they are asked for and this is known without. @default their length */
  readonly length?: number;
}

const NOTHING: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Serialises `object` once. `cluster` is the logical cluster that owns it, "" where there is none.
 *
 * @throws TypeError when the object holds something JSON cannot (a cycle).
 */
export function encodeObject(
  object: KubeObject,
  cluster: string,
  selectable: readonly SelectableField[] = [],
): Encoded {
  const { name = "", namespace = "", resourceVersion = "", uid = "", labels = NOTHING } = object.metadata;
  const fields: Record<string, string> = { "metadata.name": name };
  if (namespace !== "") fields["metadata.namespace"] = namespace;
  for (const field of selectable) fields[field.name] = scalarText(field.read(object)[0]);
  return {
    key: { cluster, namespace, name },
    resourceVersion,
    uid,
    labels,
    fields,
    bytes: bytesOf(object),
  };
}

/** Whose an object is that was found in a scope: over all logical clusters it says so itself. */
export function clusterOf(object: KubeObject, scope: { readonly cluster: string }): string {
  return scope.cluster === "*" ? (object.metadata.annotations?.[CLUSTER_ANNOTATION] ?? "") : scope.cluster;
}

/** Where an object is that was found in a scope of one logical cluster. */
export function keyIn({ cluster }: { readonly cluster: string }, { namespace = "", name = "" }: ObjectMeta): ObjectKey {
  return { cluster, namespace, name };
}

/** A fresh, mutable copy of the object behind `encoded`. */
export function decodeObject<T extends KubeObject = KubeObject>(encoded: Encoded): T {
  return parseOwnJson(encoded.bytes.toString("utf8")) as T;
}

/** The same object under another resource version: what a DELETED event carries. */
export function withResourceVersion(encoded: Encoded, resourceVersion: string): Encoded {
  const object = decodeObject(encoded);
  object.metadata.resourceVersion = resourceVersion;
  // One by one: what is worked out when it is asked for is no member that could be spread.
  const { key, uid, labels, fields } = encoded;
  return { key, uid, labels, fields, resourceVersion, bytes: bytesOf(object) };
}

/** Whether a storage answered with bytes rather than with a parsed object. */
export function isEncoded(value: KubeObject | Encoded): value is Encoded {
  // Bytes may be made when they are asked for: this does not ask.
  return !("metadata" in value) && "bytes" in value;
}

/** What a storage answered, parsed. */
export function parsed(answer: KubeObject | Encoded): KubeObject {
  return isEncoded(answer) ? decodeObject(answer) : answer;
}

/** An object without its type and metadata. */
export function contentOf(object: object): Record<string, unknown> {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...content } = object as KubeObject;
  return content;
}

/** In memory of its own: in Node's pool an object that stays would hold on to dozens that stood beside it and are gone. */
export function bytesOf(object: KubeObject): Buffer {
  const text = stringifyJson(object);
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** The text that field selectors compare a value with. */
export function scalarText(value: unknown): string {
  return value === undefined || value === null || typeof value === "object" ? "" : String(value);
}
