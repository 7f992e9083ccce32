import { compareResourceVersions, isResourceVersion } from "@virtual-workspaces/apimachinery";

/** Whether `a` is older than `b`, as far as that can be told: versions that are no numbers have no order. */
export function isOlder(a: string, b: string): boolean {
  return isResourceVersion(a) && isResourceVersion(b) && compareResourceVersions(a, b) < 0;
}

/** Where a watch goes on that was at `before` and got `next`: never backwards. */
export function later(before: string, next: string): string {
  return isOlder(next, before) ? before : next;
}
