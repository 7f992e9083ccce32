/** In the place of a cluster name: all logical clusters (kcp's logicalcluster.Wildcard). */
export const WILDCARD = "*";

/** The annotation by which a client of all logical clusters knows whose an object is (kcp's `logicalcluster.AnnotationKey`). */
export const CLUSTER_ANNOTATION = "kcp.io/cluster";

const SYSTEM = "system:";
const SEPARATOR = ":";
const SEGMENT = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Whether a text names one logical cluster: one segment (`root`, `2x3y4z`), or a `system:` name (`system:admin`),
 * which is one name in spite of its colons. Stricter than kcp, which takes anything at all after `system:`.
 */
export function isClusterName(text: string): boolean {
  return text.startsWith(SYSTEM) ? isWorkspacePath(text) : SEGMENT.test(text);
}

/**
 * Whether a text is a workspace path: segments of 1 to 63 of `[a-z0-9-]`, which neither begin nor end with `-`,
 * separated by colons (`root:org:team`). A cluster name is a path of one segment. The wildcard is none.
 */
export function isWorkspacePath(text: string): boolean {
  return text.split(SEPARATOR).every((segment) => SEGMENT.test(segment));
}

/** The names along a path, topmost first: `root:org` gives `["root", "org"]`. A `system:` name stays one. */
export function splitWorkspacePath(path: string): string[] {
  if (path === "") return [];
  return path.startsWith(SYSTEM) ? [path] : path.split(SEPARATOR);
}

/** The path made of names or paths, topmost first; empty ones are left out. */
export function joinWorkspacePath(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(SEPARATOR);
}

/** The path without its last name; undefined for a single name, and for a `system:` name, which has no parent. */
export function parentPath(path: string): string | undefined {
  const end = path.startsWith(SYSTEM) ? -1 : path.lastIndexOf(SEPARATOR);
  return end < 0 ? undefined : path.slice(0, end);
}

/** The last name of a path; the whole of a single or `system:` name. */
export function baseName(path: string): string {
  return path.startsWith(SYSTEM) ? path : path.slice(path.lastIndexOf(SEPARATOR) + 1);
}
