import { isStatusError, request } from "../api/client.ts";
import type { List } from "../api/types.ts";

/** First step back from the newest version, and the factor of the next ones. */
const [STEP, FACTOR] = [64, 4];
/** The beginning is known to this part of the history. */
const PRECISION = 16;

/**
 * About the oldest resource version from which a watch of the collection at `path` can resume; undefined if the server tells of none.
 * Versions are numbers, as in etcd, and old lists are there as long as old watches.
 */
export async function oldestVersion(path: string, signal: AbortSignal): Promise<number | undefined> {
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
