import { nextPage } from "../engine/pages.ts";
import type { Entry, KeyRange, RangeOptions, RangeResult } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import { after, type Bounds, type EtcdKeys } from "./conversion.ts";
import { type DeepPartial, type KeyValue, RangeRequest, type RangeResponse } from "./generated/rpc.ts";
import type { Members } from "./members.ts";
import { range } from "./methods.ts";
import type { RevisionTracker } from "./revision-tracker.ts";

/** Desired size of a response, in bytes. Pages avoid a second copy of a long range in memory on either side. */
const PAGE = 8 * 1024 * 1024;
/** Number of entries in the first response, while their size is unknown. */
const FIRST = 16;

/** Position of a read in a range. */
interface RangeRead {
  readonly bounds: Bounds;
  /** Revision to read at; 0 for the current one. */
  readonly revision: number;
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

/** Reads ranges from any member; reads are linearizable. */
export class RangeReader {
  readonly #members: Members;
  readonly #keys: EtcdKeys;
  readonly #revisions: RevisionTracker;

  constructor(members: Members, keys: EtcdKeys, revisions: RevisionTracker) {
    this.#members = members;
    this.#revisions = revisions;
    this.#keys = keys;
  }

  async head(signal?: AbortSignal): Promise<number> {
    const { header } = await this.ask({ key: this.#keys.none, countOnly: true }, signal);
    return header?.revision ?? 0;
  }

  async get(key: string, signal?: AbortSignal): Promise<Entry | undefined> {
    const { kvs } = await this.ask({ key: this.#keys.encode(key) }, signal);
    return kvs[0] && this.#keys.entry(kvs[0]);
  }

  async range(asked: KeyRange, options: RangeOptions = {}): Promise<RangeResult> {
    const { revision = 0, limit = Number.POSITIVE_INFINITY, signal } = options;
    const bounds = this.#keys.bounds(asked);
    for (let tries = 0; ; tries++)
      try {
        return await this.#pages({ bounds, revision, limit, signal });
      } catch (error) {
        // The revision of the first page may be compacted before the last page.
        const again = isStoreError(error) && error.code === "Compacted" && revision === 0 && tries < 3;
        if (!again) throw error;
      }
  }

  /** Sends one range request. */
  async ask(request: DeepPartial<RangeRequest>, signal?: AbortSignal): Promise<RangeResponse> {
    const heard = this.#revisions.asking();
    const answer = await this.#members.ask(range, RangeRequest.fromPartial(request), { signal });
    heard(answer.header);
    return answer;
  }

  async #pages({ bounds, revision, limit, signal }: RangeRead): Promise<RangeResult> {
    const entries: Entry[] = [];
    const { replaced } = this.#revisions;
    let { key } = bounds;
    let at = revision;
    for (let page = FIRST; ; ) {
      const most = Math.min(page, limit - entries.length);
      const { kvs, more, header } = await this.ask(
        { key, rangeEnd: bounds.rangeEnd, revision: at, limit: most },
        signal,
      );
      if (at > 0 && replaced !== this.#revisions.replaced) throw this.#revisions.error();
      if (at === 0) at = header?.revision ?? 0;
      for (const entry of kvs) entries.push(this.#keys.entry(entry));
      const last = kvs.at(-1);
      if (!more || last === undefined || entries.length >= limit) return { entries, revision: at, more };
      key = after(last.key);
      page = nextPage(most, kvs.length, PAGE / sizeOf(kvs));
    }
  }
}

function sizeOf(kvs: readonly KeyValue[]): number {
  return kvs.reduce((sum, { key, value }) => sum + key.length + value.length + 32, 0);
}
