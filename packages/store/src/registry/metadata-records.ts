import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Encoded } from "@virtual-workspaces/framework";
import type { Entry } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { bodyOf, headOf, indexOf, nameFields, type Take } from "./record.ts";

/** An object's `apiVersion`, `kind` and `metadata`, in the version in which it was written, and where it is. */
export interface EncodedMetadata extends Encoded {
  /** The part of its key before the logical cluster. */
  readonly space: string;
}

const NOTHING: Readonly<Record<string, string>> = Object.freeze({});
const [QUOTE, BACKSLASH, OPEN, CLOSE] = [0x22, 0x5c, 0x7b, 0x7d];

/** Reads the metadata of objects of whichever kind. Bytes are cut, never parsed. */
export class MetadataRecords {
  /** Entries of one key space come one after the other. */
  #space = "";

  /** @throws StoreError `Damaged` */
  read(entry: Entry, key: ObjectKey, take: Take = Buffer.allocUnsafe): EncodedMetadata {
    const { value, modRevision } = entry;
    try {
      const body = bodyOf(value);
      if (body === undefined) throw new Error("it is no record");
      const { uid, labels = NOTHING } = indexOf(value);
      const resourceVersion = String(modRevision);
      const bytes = metadataOf(body, { head: headOf(value), resourceVersion, take });
      return { key, uid, resourceVersion, labels, fields: nameFields(key), bytes, space: this.#spaceOf(entry.key) };
    } catch (cause) {
      const which = [key.cluster, key.namespace, key.name].filter((part) => part !== "").join("/");
      throw new StoreError("Damaged", `what is kept as ${which} cannot be read`, { cause });
    }
  }

  /** One text for all that are in the same. */
  #spaceOf(text: string): string {
    const space = spaceOfKey(text);
    if (space !== this.#space) this.#space = Buffer.from(space).toString();
    return this.#space;
  }
}

/** The part of a key before the logical cluster, of keys in key spaces. */
export function spaceOfKey(text: string): string {
  return text.slice(0, text.indexOf("/"));
}

interface Cut {
  /** Where the first member of the metadata is. */
  readonly head: number;
  readonly resourceVersion: string;
  readonly take: Take;
}

function metadataOf(body: Buffer, { head, resourceVersion, take }: Cut): Buffer {
  const end = endOf(body, head);
  const member = `"resourceVersion":"${resourceVersion}",`;
  const whole = take(end + member.length + 1);
  body.copy(whole, 0, 0, head);
  whole.write(member, head, "latin1");
  body.copy(whole, head + member.length, head, end);
  whole[whole.length - 1] = CLOSE;
  return whole;
}

/** Behind the object of JSON whose members begin at `from`. @throws Error when it does not end */
function endOf(bytes: Buffer, from: number): number {
  let depth = 1;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at + 1);
    else if (byte === OPEN) depth += 1;
    else if (byte === CLOSE && --depth === 0) return at + 1;
  }
  throw new Error("its metadata does not end");
}

/** Where a text of JSON ends: its quotation mark. */
function endOfText(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return bytes.length;
}
