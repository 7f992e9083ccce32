import { createHash } from "node:crypto";
import { apiVersionOf, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { asDefined, type KindVersions } from "@virtual-workspaces/framework/resource";
import {
  decodeObject,
  type Encoded,
  encodeObject,
  type Routing,
  routingOf,
} from "@virtual-workspaces/framework/storage";
import type { Take } from "../engine/bytes.ts";
import type { Entry } from "../store.ts";
import { StoreError } from "../store-error.ts";

/** Format, stored in each record. */
const FORMAT = 1;
/** Size of the prefix: format (1 byte), lengths of the index and of the body's head (4 bytes each). */
const PREFIX = 9;
/** Maximum number of cached index endings. */
const MOST = 256;
/** Form of the framework's uids. */
const UUID = /^[0-9a-f-]{36}$/;
const UID_LENGTH = 36;
const QUOTE = 0x22;
/** Shared empty value: most objects have none. */
const NOTHING: Readonly<Record<string, string>> = Object.freeze({});

/** Object to be written, completed when its revision is known. */
export interface PendingObject {
  readonly record: Buffer;
  /** Size of the object, in bytes. */
  readonly length: number;
  at(revision: number): Encoded;
}

/**
 * Encodes and decodes the objects of a kind: an index, then the object's JSON without its resource version, which is the
 * record's revision and is inserted on read. It copies bytes without parsing, unless the definition has changed since the
 * write: then it converts the object.
 */
export class Records {
  readonly #definition: ResourceDefinition;
  readonly #versions: KindVersions;
  readonly #schema: string;
  readonly #indexes: IndexReader;

  constructor(definition: ResourceDefinition, versions: KindVersions) {
    this.#definition = definition;
    this.#versions = versions;
    const { kind, schema, selectableFields } = definition;
    const content = [apiVersionOf(definition), kind, schema, selectableFields.map(({ name }) => name)];
    this.#schema = createHash("sha256").update(JSON.stringify(content)).digest("base64url").slice(0, 12);
    this.#indexes = new IndexReader(this.#schema);
  }

  prepare(key: ObjectKey, object: KubeObject): PendingObject {
    const unversioned = withoutVersion(object);
    const routing = routingOf(unversioned, key.cluster, this.#definition.selectableFields);
    const { uid, labels } = routing;
    const fields = this.#ownFields(routing);
    const index: RecordIndex = {
      schema: this.#schema,
      uid,
      ...(isEmpty(labels) ? {} : { labels }),
      ...(isEmpty(fields) ? {} : { fields }),
    };
    const head = headLength(object);
    const record = recordOf(JSON.stringify(index), stringifyJson(unversioned), head);
    const bytes = bodyOf(record) as Buffer;
    return {
      record,
      length: bytes.length,
      at: (revision) => withVersion({ ...routing, bytes }, { head, revision, take: Buffer.allocUnsafe }),
    };
  }

  /** @throws StoreError `NewerFormat`, `Damaged`; ApiError of a conversion */
  read({ value, modRevision }: Entry, key: ObjectKey, take: Take = Buffer.allocUnsafe): Encoded {
    const { schema, uid, labels = NOTHING, fields, body } = this.#parsed(value, key);
    const encoded = { key, uid, resourceVersion: "", labels, fields: { ...nameFields(key), ...fields }, bytes: body };
    if (schema === this.#schema) return withVersion(encoded, { head: headOf(value), revision: modRevision, take });
    const object = asDefined(decodeObject(encoded), this.#definition, this.#versions);
    return withVersion(this.#encode(key, object), { head: headLength(object), revision: modRevision, take });
  }

  #parsed(value: Buffer, key: ObjectKey): RecordIndex & { readonly body: Buffer } {
    if (value[0] !== FORMAT) throw this.#unreadable(value[0], key);
    try {
      const end = PREFIX + value.readUInt32LE(1);
      return { ...this.#indexes.read(value, PREFIX, end), body: bodyOf(value) ?? Buffer.alloc(0) };
    } catch (cause) {
      throw this.#unreadable(FORMAT, key, cause);
    }
  }

  #unreadable(format: number | undefined, { cluster, namespace, name }: ObjectKey, cause?: unknown): StoreError {
    const { plural, group } = this.#definition;
    const kind = group === "" ? plural : `${plural}.${group}`;
    const which = `${kind} ${[cluster, namespace, name].filter((part) => part !== "").join("/")}`;
    if (format !== undefined && format > FORMAT)
      return new StoreError("NewerFormat", `a newer version of this package wrote ${which}: install that version`);
    const remedy = "restore a backup, or delete the object through the code that serves the kind";
    return new StoreError("Damaged", `the stored object ${which} is damaged: ${remedy}`, { cause });
  }

  #encode(key: ObjectKey, object: KubeObject): Encoded {
    return encodeObject(withoutVersion(object), key.cluster, this.#definition.selectableFields);
  }

  #ownFields({ fields }: Routing): Readonly<Record<string, string>> {
    const { selectableFields } = this.#definition;
    if (selectableFields.length === 0) return NOTHING;
    return Object.fromEntries(selectableFields.map(({ name }) => [name, fields[name] ?? ""] as const));
  }
}

/** Returns the index of a record. @throws Error if it is damaged */
export function indexOf(value: Buffer): RecordIndex {
  return JSON.parse(value.toString("utf8", PREFIX, PREFIX + value.readUInt32LE(1))) as RecordIndex;
}

/** Returns the number of bytes before the first member of the object's metadata. */
export function headOf(value: Buffer): number {
  return value.readUInt32LE(5);
}

/** Returns the object of a record, without its version; `undefined` for an invalid record. Shares its memory. */
export function bodyOf(value: Buffer): Buffer | undefined {
  if (value[0] !== FORMAT || value.length < PREFIX) return undefined;
  const at = PREFIX + value.readUInt32LE(1);
  return at < value.length ? value.subarray(at) : undefined;
}

/** Returns the object with its type and metadata first, which {@link headLength} relies on. */
function withoutVersion({ apiVersion, kind, metadata, ...content }: KubeObject): KubeObject {
  const { resourceVersion: _given, ...kept } = metadata;
  return { apiVersion, kind, metadata: kept, ...content };
}

/** Encodes both texts in place: each copy of an object costs as much as its checksum. */
function recordOf(index: string, body: string, head: number): Buffer {
  const indexLength = Buffer.byteLength(index);
  const record = Buffer.allocUnsafe(PREFIX + indexLength + Buffer.byteLength(body));
  record[0] = FORMAT;
  record.writeUInt32LE(indexLength, 1);
  record.writeUInt32LE(head, 5);
  record.write(index, PREFIX);
  record.write(body, PREFIX + indexLength);
  return record;
}

/** Returns the number of bytes before the first member of the metadata, which always has one. */
function headLength({ apiVersion, kind }: KubeObject): number {
  return Buffer.byteLength(`{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":{`);
}

/** Position of an inserted version, and memory for the result. */
interface Insertion {
  readonly head: number;
  readonly revision: number;
  readonly take: Take;
}

/** Inserts the resource version as the first member of the metadata. */
function withVersion(encoded: Encoded, { head, revision, take }: Insertion): Encoded {
  const { key, uid, labels, fields, bytes } = encoded;
  const resourceVersion = String(revision);
  const member = `"resourceVersion":"${resourceVersion}",`;
  const whole = take(bytes.length + member.length);
  bytes.copy(whole, 0, 0, head);
  whole.write(member, head, "latin1");
  bytes.copy(whole, head + member.length, head);
  return { key, uid, resourceVersion, labels, fields, bytes: whole };
}

export function nameFields({ namespace, name }: ObjectKey): Record<string, string> {
  return { "metadata.name": name, ...(namespace === "" ? {} : { "metadata.namespace": namespace }) };
}

function isEmpty(record: object): boolean {
  for (const _name in record) return false;
  return true;
}

/** Fields of an object for routing and selection, so that reads need not parse it. */
interface RecordIndex {
  /** Schema of the definition that the object conforms to. */
  readonly schema: string;
  readonly uid: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Selectable fields of the kind. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** Part of an index after the uid. */
type Rest = Pick<RecordIndex, "labels" | "fields">;

/**
 * Reads the indexes of a kind. Objects with equal labels and fields, which most generated objects have, share them: that
 * saves a tenth of the memory, and parsing.
 */
class IndexReader {
  readonly #schema: string;
  /** Start of an index that was written with the current definition. */
  readonly #begin: string;
  readonly #rests = new Map<string, Rest>();

  constructor(schema: string) {
    this.#schema = schema;
    this.#begin = `{"schema":"${schema}","uid":"`;
  }

  /** @throws SyntaxError for invalid JSON */
  read(value: Buffer, start: number, end: number): RecordIndex {
    const uidAt = start + this.#begin.length;
    const uidEnd = uidAt + UID_LENGTH;
    if (uidEnd < end && value[uidEnd] === QUOTE && value.toString("latin1", start, uidAt) === this.#begin) {
      const uid = value.toString("latin1", uidAt, uidEnd);
      if (UUID.test(uid)) {
        const { labels, fields } = this.#rest(value.toString("utf8", uidEnd + 1, end));
        return { schema: this.#schema, uid, ...(labels && { labels }), ...(fields && { fields }) };
      }
    }
    return JSON.parse(value.toString("utf8", start, end)) as RecordIndex;
  }

  /** @param text `}`, or a comma, members and `}` */
  #rest(text: string): Rest {
    const known = this.#rests.get(text);
    if (known !== undefined) return known;
    const rest = JSON.parse(text.replace(/^,?/, "{")) as Rest;
    for (const shared of [rest.labels, rest.fields]) Object.freeze(shared);
    if (this.#rests.size >= MOST) this.#rests.clear();
    this.#rests.set(text, rest);
    return rest;
  }
}
