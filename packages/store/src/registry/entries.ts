import { ApiError, isApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Encoded } from "@virtual-workspaces/framework/storage";
import type { Take } from "../engine/bytes.ts";
import type { Entry } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import type { ObjectKeys } from "./keys.ts";
import { nameFields, type Records } from "./record.ts";

/** The most that are remembered of what was reported already. */
const MOST_REPORTED = 1000;

/** Entries of a store as objects. One that cannot be read stands for itself: whoever is to be shown it is told so, and nobody else. */
export class Entries {
  readonly #keys: Pick<ObjectKeys, "parse">;
  readonly #records: Pick<Records, "read">;
  readonly #onError: (error: unknown) => void;
  readonly #reported = new Set<string>();

  /** @param onError told once of each entry that cannot be read */
  constructor(keys: Pick<ObjectKeys, "parse">, records: Pick<Records, "read">, onError: (error: unknown) => void) {
    this.#keys = keys;
    this.#records = records;
    this.#onError = onError;
  }

  /**
   * @param take where the object's bytes go: what stays must not be in Node's pool, where it would hold on to others. Nor does
   *   its key hold on to the entry's then
   */
  read(entry: Entry, take?: Take): Encoded {
    const parsed = this.#keys.parse(entry.key);
    const key = take === undefined ? parsed : ownKey(parsed);
    try {
      return this.#records.read(entry, key, take);
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

/** Of a text that is cut out of another V8 keeps the other; not of one that is shorter than this. */
const CUT = 13;

/** The same in memory of its own. */
function ownKey({ cluster, namespace, name }: ObjectKey): ObjectKey {
  return { cluster: ownText(cluster), namespace: ownText(namespace), name: ownText(name) };
}

function ownText(text: string): string {
  return text.length < CUT ? text : Buffer.from(text).toString();
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

  /** @throws ApiError 500, or what a conversion throws */
  get bytes(): Buffer {
    if (isApiError(this.#error)) throw this.#error;
    throw ApiError.internalError(isStoreError(this.#error) ? this.#error.message : "an object cannot be read");
  }
}
