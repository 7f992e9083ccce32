import { apiVersionOf, type ObjectMeta } from "@virtual-workspaces/apimachinery";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { SOURCE_VERSION_ANNOTATION } from "@virtual-workspaces/framework";
import type { Encoded } from "@virtual-workspaces/framework/storage";
import { APIResourceSchema } from "@virtual-workspaces/kcp";
import {
  ORIGINAL_RESOURCE_VERSION_ANNOTATION,
  ORIGINAL_UID_ANNOTATION,
  SHARD_ANNOTATION,
} from "@virtual-workspaces/kcp/names";

/** Annotations that the cache adds to copies. */
const OF_COPIES: ReadonlySet<string> = new Set([
  ...[SHARD_ANNOTATION, ORIGINAL_UID_ANNOTATION, ORIGINAL_RESOURCE_VERSION_ANNOTATION, SOURCE_VERSION_ANNOTATION],
]);

/** Schema as JSON, without its version and the preceding fields. */
interface Rest {
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({});
const { kind } = APIResourceSchema;
const HEAD = `{"apiVersion":"${apiVersionOf(APIResourceSchema)}","kind":"${kind}","metadata":{"resourceVersion":"`;

/** Schemas as JSON, shared by all workspaces that bind them. */
export class ShownSchemas {
  readonly #known = new WeakMap<APIResourceSchema, Rest>();

  /** Returns a schema of a workspace. The annotation `kcp.io/cluster` keeps the provider's logical cluster. */
  at(version: string, schema: APIResourceSchema, consumer: string): ShownSchema {
    const rest = this.#known.get(schema) ?? restOf(schema);
    this.#known.set(schema, rest);
    return new ShownSchema(version, { cluster: consumer, name: schema.metadata.name ?? "" }, rest);
  }
}

/** Schema with a resource version of the workspace. It holds no bytes of its own. */
export class ShownSchema implements Encoded {
  readonly key: Encoded["key"];
  readonly resourceVersion: string;
  readonly #rest: Rest;

  constructor(version: string, { cluster, name }: { readonly cluster: string; readonly name: string }, rest: Rest) {
    this.key = { cluster, namespace: "", name };
    this.resourceVersion = version;
    this.#rest = rest;
  }

  get uid(): string {
    return this.#rest.uid;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#rest.labels;
  }

  get fields(): Readonly<Record<string, string>> {
    return { "metadata.name": this.key.name };
  }

  get length(): number {
    return HEAD.length + this.resourceVersion.length + this.#rest.bytes.length;
  }

  get bytes(): Buffer {
    return Buffer.concat([Buffer.from(HEAD + this.resourceVersion), this.#rest.bytes], this.length);
  }
}

/** Restores the original: its UID, without the annotations of the copy. */
function restOf({ apiVersion: _, kind: __, metadata, ...content }: APIResourceSchema): Rest {
  const { resourceVersion: ___, annotations = {}, labels = NO_LABELS, ...own } = metadata;
  const uid = annotations[ORIGINAL_UID_ANNOTATION] || (own.uid ?? "");
  const kept = Object.entries(annotations).filter(([key]) => !OF_COPIES.has(key));
  const shown: ObjectMeta = { ...own, uid, labels, annotations: Object.fromEntries(kept) };
  if (labels === NO_LABELS) delete shown.labels;
  const [meta, rest] = [stringifyJson(shown), stringifyJson(content)];
  return { uid, labels, bytes: Buffer.from(`",${meta.slice(1)},${rest.slice(1)}`) };
}
