/** Stands for all logical clusters in place of a cluster name (kcp's logicalcluster.Wildcard). */
export const WILDCARD = "*";

/** Annotation with an object's logical cluster, for clients of all logical clusters (kcp's `logicalcluster.AnnotationKey`). */
export const CLUSTER_ANNOTATION = "kcp.io/cluster";

const SYSTEM = "system:";
const SEPARATOR = ":";
const SEGMENT = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Whether a text names one logical cluster: a segment (`root`, `2x3y4z`), or a `system:` name (`system:admin`), which is one
 * name despite its colons. Stricter than kcp, which accepts any text after `system:`.
 */
export function isClusterName(text: string): boolean {
  return text.startsWith(SYSTEM) ? isWorkspacePath(text) : SEGMENT.test(text);
}

/**
 * Whether a text is a workspace path: colon-separated segments (`root:org:team`) of 1 to 63 of `[a-z0-9-]`, which neither
 * begin nor end with `-`. A cluster name is a path of one segment. The wildcard is not a path.
 */
export function isWorkspacePath(text: string): boolean {
  return text.split(SEPARATOR).every((segment) => SEGMENT.test(segment));
}

/** Returns the names along a path, topmost first: `root:org` gives `["root", "org"]`. A `system:` name stays one. */
export function splitWorkspacePath(path: string): string[] {
  if (path === "") return [];
  return path.startsWith(SYSTEM) ? [path] : path.split(SEPARATOR);
}

/** Joins names or paths, topmost first; skips empty ones. */
export function joinWorkspacePath(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(SEPARATOR);
}

/** Returns the path without its last name; undefined for a single name, and for a `system:` name, which has no parent. */
export function parentPath(path: string): string | undefined {
  const end = path.startsWith(SYSTEM) ? -1 : path.lastIndexOf(SEPARATOR);
  return end < 0 ? undefined : path.slice(0, end);
}

/** Returns the last name of a path; the whole of a single or `system:` name. */
export function baseName(path: string): string {
  return path.startsWith(SYSTEM) ? path : path.slice(path.lastIndexOf(SEPARATOR) + 1);
}
