import { isAscii } from "node:buffer";
import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Encoded } from "@virtual-workspaces/framework/storage";
import type { Take } from "../engine/bytes.ts";
import { nameFields } from "./record.ts";

/** Maximum number of templates of a kind, and so of comparisons for an object. */
const TEMPLATES = 16;
/** Sizes of objects that are compared, in bytes: differences of smaller ones save nothing. */
const [SMALLEST, LARGEST] = [256, 16 * 1024];
/** Maximum of the differences, as a fraction of the object. */
const MOST = 1 / 3;
/** Number of objects without a similar one after which a kind whose objects differ is no longer compared. */
const PATIENCE = 256;
const QUOTE = 0x22;
/** Length of the framework's uids. */
const UID_LENGTH = 36;

interface Template {
  readonly bytes: Buffer;
  /** The same bytes as Latin-1 text: parts of a text are joined in less time than parts of a buffer. */
  readonly text: string;
}

/**
 * Keeps objects of a kind as their differences from similar ones. What a server itself creates in each of ten thousand
 * workspaces is the same up to names, uids and times. Both texts are compared from quotation mark to quotation mark, in one
 * pass: objects are similar if they have the same members in the same order.
 */
export class SimilarObjects {
  /** The most recently used one first. */
  readonly #templates: Template[] = [];
  #scratch: Buffer | undefined;
  #found = 0;
  #missed = 0;

  /** Returns the object, to be kept: with its differences, or with its bytes in memory from `take`. */
  keep(object: Encoded, take: Take): Encoded {
    const { bytes } = object;
    const { length } = bytes;
    if (length < SMALLEST || length > LARGEST || this.#missed > PATIENCE + this.#found) return copied(object, take);
    for (const [at, template] of this.#templates.entries()) {
      const differences = this.#differences(bytes, template.bytes);
      if (differences === undefined) continue;
      this.#found++;
      if (at > 0) this.#templates.splice(0, 0, ...this.#templates.splice(at, 1));
      const Similar = isAscii(bytes) ? SimilarText : SimilarObject;
      return new Similar(object, { template: template.text, differences, length });
    }
    const isTemplate = this.#templates.length < TEMPLATES || this.#missed % TEMPLATES === 0;
    this.#missed++;
    if (!isTemplate) return copied(object, take);
    // In memory of its own: it outlives its object.
    const kept = copied(object, Buffer.allocUnsafeSlow);
    this.#templates.unshift({ bytes: kept.bytes, text: kept.bytes.toString("latin1") });
    if (this.#templates.length > TEMPLATES) this.#templates.pop();
    return kept;
  }

  /** @returns `undefined` if they are too large */
  #differences(bytes: Buffer, template: Buffer): string | undefined {
    this.#scratch ??= Buffer.allocUnsafeSlow(LARGEST);
    const into = this.#scratch;
    const most = bytes.length * MOST;
    let size = 0;
    for (let [at, from] = [0, 0]; at < bytes.length; ) {
      const [start, begin] = [at, from];
      while (at < bytes.length && bytes[at] === template[from]) {
        at++;
        from++;
      }
      const own = at;
      const skipped = from;
      from = nextQuote(template, from);
      at = from === template.length ? bytes.length : nextQuote(bytes, at);
      if (size + at - own + STEP > most) return undefined;
      size = writeNumber(into, own - start, size);
      size = writeNumber(into, from - skipped, size);
      size = writeNumber(into, at - own, size);
      size += bytes.copy(into, size, own, at);
      if (at === start && from === begin) return undefined;
    }
    return into.toString("latin1", 0, size);
  }
}

/** Maximum size of the numbers of a difference: bytes to copy, to skip in the template, and to insert. */
const STEP = 9;

/** Writes a number below 2^21 with seven bits a byte. */
function writeNumber(into: Buffer, number: number, at: number): number {
  let [rest, end] = [number, at];
  for (; rest > 0x7f; rest >>= 7) into[end++] = (rest & 0x7f) | 0x80;
  into[end++] = rest;
  return end;
}

function nextQuote(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(QUOTE, from);
  return at === -1 ? bytes.length : at;
}

function copied({ key, uid, resourceVersion, labels, fields, bytes }: Encoded, take: Take): Encoded {
  const own = take(bytes.length);
  own.set(bytes);
  return { key, uid, resourceVersion, labels, fields, bytes: own };
}

/** Whether the fields are those that each object has. */
function isNameOnly({ namespace }: ObjectKey, fields: Encoded["fields"]): boolean {
  return Object.keys(fields).length === (namespace === "" ? 1 : 2);
}

interface Similarity {
  readonly template: string;
  /** As Latin-1 text: a buffer takes a hundred bytes more. */
  readonly differences: string;
  readonly length: number;
}

/** An object without what follows from its key and its bytes: texts and records of their own would take 150 bytes. */
class SimilarObject implements Encoded {
  readonly key: ObjectKey;
  readonly labels: Encoded["labels"];
  readonly length: number;
  /** Resource version, as a number if that has the same digits. */
  readonly #version: number | string;
  /** The uid, or its place in the bytes. */
  readonly #uid: number | string;
  /** Fields, if the kind has selectable ones. */
  readonly #fields: Encoded["fields"] | undefined;
  readonly #template: string;
  readonly #differences: string;

  constructor({ key, uid, resourceVersion, labels, fields, bytes }: Encoded, similarity: Similarity) {
    const { template, differences, length } = similarity;
    this.key = key;
    this.labels = labels;
    this.length = length;
    const version = Number(resourceVersion);
    this.#version = String(version) === resourceVersion ? version : resourceVersion;
    const at = uid.length === UID_LENGTH ? bytes.indexOf(uid, 0, "latin1") : -1;
    this.#uid = at === -1 || bytes.toString("latin1", at, at + UID_LENGTH) !== uid ? uid : at;
    this.#fields = isNameOnly(key, fields) ? undefined : fields;
    this.#template = template;
    this.#differences = differences;
  }

  get resourceVersion(): string {
    return String(this.#version);
  }

  get fields(): Encoded["fields"] {
    return this.#fields ?? nameFields(this.key);
  }

  /** Made on each access, in some µs. */
  get uid(): string {
    const uid = this.#uid;
    return typeof uid === "string" ? uid : this.latin1.slice(uid, uid + UID_LENGTH);
  }

  /** Made on each access, in some µs. */
  get bytes(): Buffer {
    const bytes = Buffer.allocUnsafe(this.length);
    bytes.write(this.latin1, "latin1");
    return bytes;
  }

  /** The bytes, each as a character. */
  protected get latin1(): string {
    const text = this.#differences;
    const template = this.#template;
    const numbers = [0, 0, 0];
    let whole = "";
    for (let [read, from] = [0, 0]; read < text.length; ) {
      for (let which = 0; which < numbers.length; which++) {
        let byte = text.charCodeAt(read++);
        let number = byte & 0x7f;
        for (let shift = 7; byte > 0x7f; shift += 7) {
          byte = text.charCodeAt(read++);
          number |= (byte & 0x7f) << shift;
        }
        numbers[which] = number;
      }
      const [copy = 0, skip = 0, insert = 0] = numbers;
      whole += template.slice(from, from + copy) + text.slice(read, read + insert);
      from += copy + skip;
      read += insert;
    }
    return whole;
  }
}

/** An object of ASCII characters: their text needs no bytes. */
class SimilarText extends SimilarObject {
  get text(): string {
    return this.latin1;
  }
}
