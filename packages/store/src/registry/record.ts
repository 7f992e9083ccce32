import { createHash } from "node:crypto";
import { apiVersionOf, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { asDefined, type KindVersions } from "@virtual-workspaces/framework/resource";
import { decodeObject, type Encoded, encodeObject } from "@virtual-workspaces/framework/storage";
import type { Take } from "../engine/bytes.ts";
import type { Entry } from "../store.ts";
import { StoreError } from "../store-error.ts";

/** Written into each record, so that a later form can be told from this one. */
const FORMAT = 1;
/** Format (1 byte), length of the index, length of the body's head (4 bytes each). */
const PREFIX = 9;
/** How many texts of what follows the uid are remembered. */
const MOST = 256;
/** What a uid is that the framework gave. */
const UUID = /^[0-9a-f-]{36}$/;
const UID_LENGTH = 36;
const QUOTE = 0x22;
/** Of most objects, and there are many. */
const NOTHING: Readonly<Record<string, string>> = Object.freeze({});

/** An object as it will be kept, and as it will be answered once its revision is known. */
export interface PendingObject {
  readonly record: Buffer;
  /** How many bytes the object has. */
  readonly length: number;
  at(revision: number): Encoded;
}

/**
 * How objects of a kind are kept: an index, then the object's JSON without its resource version, which is the revision
 * of the record and is put in when it is read. Bytes are copied, never parsed, unless the definition has changed since
 * they were written: the object is then made what it would be now.
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
    const encoded = this.#encode(key, object);
    const { uid, labels, bytes } = encoded;
    const head = headLength(object);
    const fields = this.#ownFields(encoded);
    const index: RecordIndex = {
      schema: this.#schema,
      uid,
      ...(isEmpty(labels) ? {} : { labels }),
      ...(isEmpty(fields) ? {} : { fields }),
    };
    return {
      record: recordOf(Buffer.from(JSON.stringify(index)), bytes, head),
      length: bytes.length,
      at: (revision) => withVersion(encoded, { head, revision, take: Buffer.allocUnsafe }),
    };
  }

  /** @throws StoreError `NewerFormat`, `Damaged`; ApiError what a conversion throws */
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
      return new StoreError("NewerFormat", `${which} was kept by a newer version of this package: install that one`);
    const remedy = "restore it from a backup, or delete it by the code that serves the kind";
    return new StoreError("Damaged", `what is kept as ${which} is no object: ${remedy}`, { cause });
  }

  #encode(key: ObjectKey, { apiVersion, kind, metadata, ...content }: KubeObject): Encoded {
    const { resourceVersion: _given, ...kept } = metadata;
    const object = { apiVersion, kind, metadata: kept, ...content };
    return encodeObject(object, key.cluster, this.#definition.selectableFields);
  }

  #ownFields({ fields }: Encoded): Record<string, string> {
    return Object.fromEntries(this.#definition.selectableFields.map(({ name }) => [name, fields[name] ?? ""] as const));
  }
}

/** What is beside the object in a record. @throws Error when it is damaged */
export function indexOf(value: Buffer): RecordIndex {
  return JSON.parse(value.toString("utf8", PREFIX, PREFIX + value.readUInt32LE(1))) as RecordIndex;
}

/** How many bytes of the object in a record are before the first member of its metadata. */
export function headOf(value: Buffer): number {
  return value.readUInt32LE(5);
}

/** The object in a record, without its version; `undefined` when the record is none. Shares its memory. */
export function bodyOf(value: Buffer): Buffer | undefined {
  if (value[0] !== FORMAT || value.length < PREFIX) return undefined;
  const at = PREFIX + value.readUInt32LE(1);
  return at < value.length ? value.subarray(at) : undefined;
}

function recordOf(index: Buffer, body: Buffer, head: number): Buffer {
  const record = Buffer.allocUnsafe(PREFIX + index.length + body.length);
  record[0] = FORMAT;
  record.writeUInt32LE(index.length, 1);
  record.writeUInt32LE(head, 5);
  record.set(index, PREFIX);
  record.set(body, PREFIX + index.length);
  return record;
}

/** How many bytes are before the first member of the metadata, which always has one. */
function headLength({ apiVersion, kind }: KubeObject): number {
  return Buffer.byteLength(`{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":{`);
}

/** Where a version goes, and where what then has it. */
interface Insertion {
  readonly head: number;
  readonly revision: number;
  readonly take: Take;
}

/** The object with its resource version as the first member of its metadata. */
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

/** What routing and selecting need of an object, beside it: reading a record parses no object. */
interface RecordIndex {
  /** Of the definition that the object conforms to. */
  readonly schema: string;
  readonly uid: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Those of the kind's selectable fields. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** What follows the uid. */
type Rest = Pick<RecordIndex, "labels" | "fields">;

/**
 * Reads the indexes of a kind. Objects of equal labels and fields, which are most of those that a server makes itself, have them
 * in common: a tenth less memory, and less to parse.
 */
class IndexReader {
  readonly #schema: string;
  /** What an index begins with that was written as the kind is defined now. */
  readonly #begin: string;
  readonly #rests = new Map<string, Rest>();

  constructor(schema: string) {
    this.#schema = schema;
    this.#begin = `{"schema":"${schema}","uid":"`;
  }

  /** @throws SyntaxError on what is no JSON */
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

  /** @param text `}`, or members behind a comma and `}` */
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
