import {
  apiVersionOf,
  CLUSTER_ANNOTATION,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
} from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import type { ResourceDefinition } from "../definition.ts";
import { decodeObject, type Encoded, scalarText } from "../watch/cache/encoded.ts";
import { scanMetadata } from "./scan-metadata.ts";

/** Context of an object that exists only as bytes: its location and kind. */
export interface BytesContext {
  readonly definition: ResourceDefinition;
  /** With `*` (all logical clusters), the object itself names its cluster. */
  readonly scope: { readonly cluster: string };
}

/** Values that are read from the bytes on first use. */
type Facts = Pick<Encoded, "key" | "resourceVersion" | "uid" | "labels">;

/**
 * Object whose bytes come from elsewhere, such as an upstream. The bytes are forwarded unchanged; routing and selectors read
 * only the metadata, on first use.
 */
export class EncodedBytes implements Encoded {
  readonly bytes: Buffer;
  readonly #context: BytesContext;
  #facts: Facts | undefined;
  #fields: Readonly<Record<string, string>> | undefined;

  constructor(bytes: Buffer, context: BytesContext) {
    this.bytes = bytes;
    this.#context = context;
  }

  /** Creates an object whose metadata is known: that of a server of the same process, which has the object. */
  static known(object: Pick<Encoded, "bytes" | keyof Facts>, context: BytesContext): EncodedBytes {
    const encoded = new EncodedBytes(object.bytes, context);
    const { key, resourceVersion, uid, labels } = object;
    encoded.#facts = { key: { ...key, cluster: context.scope.cluster }, resourceVersion, uid, labels };
    return encoded;
  }

  /**
   * Creates an object and validates it at once: complete JSON of the right kind, with a name and a resource version.
   *
   * @throws Error that states the problem; SyntaxError when it is not a JSON object
   */
  static checked(bytes: Buffer, context: BytesContext): EncodedBytes {
    const encoded = new EncodedBytes(bytes, context);
    const { key, resourceVersion } = encoded.#readChecked();
    if (key.name === "" || resourceVersion === "")
      throw new Error("invalid object: name and resource version must not be empty");
    return encoded;
  }

  /**
   * Creates an object from a copy of one list item. Lists of Kubernetes' own kinds omit the kind of each item; it is added.
   *
   * @throws Error when it is of another kind; SyntaxError when it is not a JSON object
   */
  static item(bytes: Buffer, context: BytesContext): EncodedBytes {
    const { definition } = context;
    const { kind, apiVersion } = scanMetadata(bytes);
    const head = kind === "" && apiVersion === "" ? typeHead(definition, bytes) : "";
    const own = Buffer.allocUnsafeSlow(head.length + bytes.length - (head === "" ? 0 : 1));
    own.write(head, "latin1");
    bytes.copy(own, head.length, head === "" ? 0 : 1);
    const encoded = new EncodedBytes(own, context);
    encoded.#readChecked();
    return encoded;
  }

  /** Key of the object, read from the bytes. */
  get key(): ObjectKey {
    return this.#known.key;
  }

  get resourceVersion(): string {
    return this.#known.resourceVersion;
  }

  get uid(): string {
    return this.#known.uid;
  }

  /** Labels, read from the bytes. */
  get labels(): Readonly<Record<string, string>> {
    return this.#known.labels;
  }

  get fields(): Readonly<Record<string, string>> {
    this.#fields ??= this.#readFields();
    return this.#fields;
  }

  get #known(): Facts {
    this.#facts ??= this.#read();
    return this.#facts;
  }

  #readChecked(): Facts {
    this.#facts = this.#read(this.#context.definition);
    return this.#facts;
  }

  #read(definition?: ResourceDefinition): Facts {
    const { from, to, kind, apiVersion } = scanMetadata(this.bytes);
    const metadata = (to === 0 ? {} : parseOwnJson(this.bytes.toString("utf8", from, to))) as ObjectMeta;
    const { name = "", namespace = "", resourceVersion = "", uid = "", labels, annotations } = metadata;
    if (definition !== undefined && (kind !== definition.kind || apiVersion !== apiVersionOf(definition)))
      throw new Error(`invalid object: kind is ${apiVersion} ${kind}, expected ${definition.kind}`);
    if (typeof name !== "string" || typeof namespace !== "string" || typeof resourceVersion !== "string")
      throw new Error("invalid object: name, namespace and resource version must be strings");
    if (typeof uid !== "string" || !isTexts(labels)) throw new Error("invalid object: uid and labels must be strings");
    const { cluster: here } = this.#context.scope;
    const cluster = here === "*" ? (annotations?.[CLUSTER_ANNOTATION] ?? "") : here;
    return { key: { cluster, namespace, name }, resourceVersion, uid, labels: labels ?? NOTHING };
  }

  #readFields(): Readonly<Record<string, string>> {
    const { name, namespace } = this.key;
    const fields: Record<string, string> = { "metadata.name": name };
    if (namespace !== "") fields["metadata.namespace"] = namespace;
    const { selectableFields } = this.#context.definition;
    if (selectableFields.length === 0) return fields;
    const object: KubeObject = decodeObject(this);
    for (const field of selectableFields) fields[field.name] = scalarText(field.read(object)[0]);
    return fields;
  }
}

function isTexts(labels: unknown): boolean {
  if (labels === undefined || labels === null) return true;
  return typeof labels === "object" && Object.values(labels).every((value) => typeof value === "string");
}

function typeHead(definition: ResourceDefinition, bytes: Buffer): string {
  const members = `{"kind":${JSON.stringify(definition.kind)},"apiVersion":${JSON.stringify(apiVersionOf(definition))}`;
  return /^\{\s*\}$/.test(bytes.toString("latin1", 0, 16)) ? members : `${members},`;
}

const NOTHING: Readonly<Record<string, string>> = Object.freeze({});
