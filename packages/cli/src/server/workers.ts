import { availableParallelism } from "node:os";
import type { WORKER_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { UsageError } from "../process/failure.ts";

const MOST = 512;

/** Returns the number of processes that share the port (`--workers`). @throws UsageError */
export function workersOf({ workers: text }: Values<typeof WORKER_FLAGS>): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count > MOST)
    throw new UsageError(
      `invalid value "${text}" for --workers: use a number up to ${MOST}, or 0 for one for each processor`,
    );
  return count === 0 ? availableParallelism() : count;
}
