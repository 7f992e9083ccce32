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

/** Whose an object is of which there are only bytes, and what it must be. */
export interface BytesContext {
  readonly definition: ResourceDefinition;
  /** Over all logical clusters (`*`) the object says itself which one it is in. */
  readonly scope: { readonly cluster: string };
}

/** What is read of the bytes when somebody asks. */
type Facts = Pick<Encoded, "key" | "resourceVersion" | "uid" | "labels">;

/**
 * An object whose bytes came from elsewhere. They are passed on as they are; what routing and selecting need is read off
 * them when it is asked for, from the metadata alone.
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

  /**
   * The same, looked through at once: it is whole JSON, of the kind, with a name and a resource version.
   *
   * @throws Error that says what is wrong with it; SyntaxError when it is no JSON object
   */
  static checked(bytes: Buffer, context: BytesContext): EncodedBytes {
    const encoded = new EncodedBytes(bytes, context);
    const { key, resourceVersion } = encoded.#readChecked();
    if (key.name === "" || resourceVersion === "") throw new Error("an object without a name or a resource version");
    return encoded;
  }

  /**
   * One item of a list, copied. Lists of Kubernetes' own kinds leave out of each item what kind it is: it is filled in.
   *
   * @throws Error when it is of another kind; SyntaxError when it is no JSON object
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

  /** Where the object is, by what the bytes say. */
  get key(): ObjectKey {
    return this.#known.key;
  }

  get resourceVersion(): string {
    return this.#known.resourceVersion;
  }

  get uid(): string {
    return this.#known.uid;
  }

  /** By what the bytes say. */
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
      throw new Error(`an object of kind ${apiVersion} ${kind} where ${definition.kind} was expected`);
    if (typeof name !== "string" || typeof namespace !== "string" || typeof resourceVersion !== "string")
      throw new Error("an object whose name, namespace or resource version is no text");
    if (typeof uid !== "string" || !isTexts(labels)) throw new Error("an object whose uid or labels are no texts");
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
