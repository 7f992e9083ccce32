import { apiVersionOf } from "@virtual-workspaces/apimachinery";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import type { ResourceDefinition } from "../definition.ts";
import { contentOf, decodeObject, type Encoded } from "../watch/cache/encoded.ts";
import { ListSplitter } from "./list-splitter.ts";
import { scanMetadata } from "./scan-metadata.ts";

/**
 * Media type of a list in JSON whose items have their types, those of Kubernetes' own kinds too. A view of the same process
 * requests it, so that it can forward the bytes. Other API servers ignore the parameter.
 */
export const TYPED_ITEMS = "application/json;items=typed";

/** How a list leaves out the type of its items. */
export interface ItemTypes {
  /** Length of the beginning of each item that a list replaces by {@link opening}. */
  readonly length: number;
  readonly opening: Buffer;
  /** Returns the bytes of an object, which begin with its type. They are its own bytes if these do. */
  begin(encoded: Encoded): Buffer;
}

/** Returns the types of objects whose lists do not repeat them, as Kubernetes' lists of its own kinds. */
export function itemTypes(definition: ResourceDefinition): ItemTypes {
  const [ours, gos] = typeHeads(definition);
  const { kind } = definition;
  const apiVersion = apiVersionOf(definition);
  return {
    length: ours.length,
    opening: OPENING_BRACE,
    begin: (encoded) => {
      const { bytes } = encoded;
      if (beginsWith(bytes, ours) || beginsWith(bytes, gos)) return bytes;
      const object = decodeObject(encoded);
      return Buffer.from(stringifyJson({ apiVersion, kind, metadata: object.metadata, ...contentOf(object) }));
    },
  };
}

const OPENING_BRACE = Buffer.from("{");

/** Adds `kind` and `apiVersion` to the items of a list that lack them. Takes the memory of the largest item. */
export async function* withItemTypes(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  definition: ResourceDefinition,
): AsyncGenerator<Buffer, void> {
  let out: Buffer[] = [];
  const [, head] = typeHeads(definition);
  const splitter = new ListSplitter({
    around: (bytes) => void out.push(bytes),
    between: (bytes) => void out.push(bytes),
    item: (bytes) => void (isTyped(bytes) ? out.push(bytes) : out.push(head, bytes.subarray(1))),
  });
  for await (const piece of body instanceof Uint8Array ? [body] : body) {
    splitter.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    if (out.length > 0) yield Buffer.concat(out);
    out = [];
  }
  splitter.end();
}

/** Returns the beginnings of an object, of equal length: in this library's order, and in that of Go's types. */
function typeHeads(definition: ResourceDefinition): readonly [Buffer, Buffer] {
  const kind = JSON.stringify(definition.kind);
  const apiVersion = JSON.stringify(apiVersionOf(definition));
  return [
    Buffer.from(`{"apiVersion":${apiVersion},"kind":${kind},`),
    Buffer.from(`{"kind":${kind},"apiVersion":${apiVersion},`),
  ];
}

/** Faster than `Buffer.compare` for some dozens of bytes. */
function beginsWith(bytes: Buffer, head: Buffer): boolean {
  for (let at = head.length - 1; at >= 0; at--) if (bytes[at] !== head[at]) return false;
  return true;
}

const METADATA = Buffer.from('{"metadata":{');

/** A duplicate would do no harm: the last one counts. */
function isTyped(bytes: Buffer): boolean {
  return !beginsWith(bytes, METADATA) && scanMetadata(bytes).kind !== "";
}
