import type { ObjectKey } from "@virtual-workspaces/apimachinery";

/** Key of a ClusterProxy: the name of its logical cluster and its own. */
export type ProxyKey = Pick<ObjectKey, "cluster" | "name">;

/** Returns the key as text. */
export function proxyKeyText({ cluster, name }: ProxyKey): string {
  return `${cluster}/${name}`;
}

/** Returns an error for the log of a hub, which names the ClusterProxy as `<logical cluster>/<name>`. */
export function proxyError(key: ProxyKey, what: string, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`ClusterProxy ${proxyKeyText(key)}: ${what}: ${why}`, { cause });
}

/** Parses the text of a key. Names contain no slash. */
export function proxyKeyFrom(text: string): ProxyKey {
  const [cluster = "", name = ""] = text.split("/");
  return { cluster, name };
}
