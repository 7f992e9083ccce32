import { ApiError, isApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Encoded } from "@virtual-workspaces/framework/storage";
import type { Take } from "../engine/bytes.ts";
import type { Entry } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import type { ObjectKeys } from "./keys.ts";
import { nameFields, type Records } from "./record.ts";
import type { SimilarObjects } from "./similar-objects.ts";

/** Maximum number of reported entries to remember. */
const MOST_REPORTED = 1000;

/** Decodes entries of a store. An unreadable entry becomes an object that fails only the requests that show it. */
export class Entries {
  readonly #keys: Pick<ObjectKeys, "parse">;
  readonly #records: Pick<Records, "read">;
  readonly #onError: (error: unknown) => void;
  readonly #reported = new Set<string>();
  readonly #ownKeys = new OwnKeys();

  /** @param onError called once for each unreadable entry */
  constructor(keys: Pick<ObjectKeys, "parse">, records: Pick<Records, "read">, onError: (error: unknown) => void) {
    this.#keys = keys;
    this.#records = records;
    this.#onError = onError;
  }

  /**
   * @param take allocator for objects that are kept: they must not retain Node's buffer pool. Their keys then do not retain
   * the entry's key either
   * @param similar keeps the object in less memory
   */
  read(entry: Entry, take?: Take, similar?: SimilarObjects): Encoded {
    const parsed = this.#keys.parse(entry.key);
    const key = take === undefined ? parsed : this.#ownKeys.of(parsed);
    try {
      if (take === undefined || similar === undefined) return this.#records.read(entry, key, take);
      return similar.keep(this.#records.read(entry, key), take);
    } catch (error) {
      this.#report(`${entry.key}@${entry.modRevision}`, error);
      return new Unreadable(entry, key, error);
    }
  }

  #report(which: string, error: unknown): void {
    if (this.#reported.has(which)) return;
    if (this.#reported.size >= MOST_REPORTED) this.#reported.clear();
    this.#reported.add(which);
    this.#onError(error);
  }
}

/** Length from which V8 keeps the whole text for a part cut out of it. */
const CUT = 13;
/** Maximum number of remembered texts. */
const MOST_TEXTS = 1024;

/** Copies keys into memory of their own, in which equal parts of recent ones are one text. */
class OwnKeys {
  readonly #texts = new Map<string, string>();

  of({ cluster, namespace, name }: ObjectKey): ObjectKey {
    return { cluster: this.#own(cluster), namespace: this.#own(namespace), name: this.#own(name) };
  }

  #own(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const own = text.length < CUT ? text : Buffer.from(text).toString();
    if (this.#texts.size >= MOST_TEXTS) this.#texts.clear();
    this.#texts.set(own, own);
    return own;
  }
}

class Unreadable implements Encoded {
  readonly key: ObjectKey;
  readonly resourceVersion: string;
  readonly uid = "";
  readonly labels = {};
  readonly fields: Readonly<Record<string, string>>;
  readonly length: number;
  readonly #error: unknown;

  constructor({ value, modRevision }: Entry, key: ObjectKey, error: unknown) {
    this.key = key;
    this.resourceVersion = String(modRevision);
    this.fields = nameFields(key);
    this.length = value.length;
    this.#error = error;
  }

  /** @throws ApiError 500, or errors of a conversion */
  get bytes(): Buffer {
    if (isApiError(this.#error)) throw this.#error;
    throw ApiError.internalError(isStoreError(this.#error) ? this.#error.message : "an object is unreadable");
  }
}
