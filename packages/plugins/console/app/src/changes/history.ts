import { isStatusError, request } from "../api/client.ts";
import type { List } from "../api/types.ts";

/** First step back from the newest version, and the factor of the next ones. */
const [STEP, FACTOR] = [64, 4];
/** The beginning is known to this part of the history. */
const PRECISION = 16;

/**
 * About the oldest resource version from which a watch of the collection at `path` can resume; undefined if there is none.
 * Versions are numbers, as in etcd, and old lists are there as long as old watches.
 */
async function oldestVersion(path: string, signal: AbortSignal): Promise<number | undefined> {
  const newest = await headOf(path, signal);
  if (newest === undefined) return undefined;
  const isThere = (version: number) => has(path, version, signal);
  if (await isThere(1)) return 1;
  let [bad, good] = [1, newest];
  for (let step = STEP; newest - step > 1; step *= FACTOR) {
    const version = newest - step;
    if (!(await isThere(version))) {
      bad = version;
      break;
    }
    good = version;
  }
  while (good - bad > Math.max(1, (newest - good) / PRECISION)) {
    const middle = Math.floor((good + bad) / 2);
    if (await isThere(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

/** Looks up the history of the kinds of a workspace. Most have the same: what is known of one is tried first for the next. */
export class Histories {
  readonly #signal: AbortSignal;
  readonly #known = new Set<number>();
  #first: Promise<unknown> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** About the oldest version of the collection at `path`; undefined if there is none. `isAgain` looks it up without what is known. */
  oldestOf(path: string, isAgain = false): Promise<number | undefined> {
    if (this.#first !== undefined) return this.#afterFirst(path, isAgain);
    const first = this.#lookUp(path);
    this.#first = first.catch(() => undefined);
    this.#last = this.#first;
    return first;
  }

  async #afterFirst(path: string, isAgain: boolean): Promise<number | undefined> {
    await this.#first;
    const known = isAgain ? undefined : await this.#knownFor(path);
    if (known !== undefined) return known;
    // One after the other, so that each knows what the ones before it have found.
    const next = this.#last.then(async () => (isAgain ? undefined : await this.#knownFor(path)) ?? this.#lookUp(path));
    this.#last = next.catch(() => undefined);
    return await next;
  }

  async #knownFor(path: string): Promise<number | undefined> {
    for (const version of [...this.#known].sort((a, b) => a - b))
      if (await has(path, version, this.#signal)) return version;
    return undefined;
  }

  async #lookUp(path: string): Promise<number | undefined> {
    const version = await oldestVersion(path, this.#signal);
    if (version !== undefined) this.#known.add(version);
    return version;
  }
}

async function headOf(path: string, signal: AbortSignal): Promise<number | undefined> {
  try {
    const list: List<unknown> = await request(path, { parameters: { limit: 1 }, signal });
    return Number(list.metadata.resourceVersion) || undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (isStatusError(error)) return undefined;
    throw error;
  }
}

async function has(path: string, version: number, signal: AbortSignal): Promise<boolean> {
  const parameters = { limit: 1, resourceVersion: version, resourceVersionMatch: "Exact" };
  try {
    await request(path, { parameters, signal });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (isStatusError(error)) return false;
    throw error;
  }
}
