import type { ObjectKey } from "@virtual-workspaces/apimachinery";

/** Which ClusterProxy: the names of its logical cluster and its own. */
export type ProxyKey = Pick<ObjectKey, "cluster" | "name">;

/** As a text, by which it is found. */
export function proxyKeyText({ cluster, name }: ProxyKey): string {
  return `${cluster}/${name}`;
}

/** Which one a text is of: names have no slash. */
export function proxyKeyFrom(text: string): ProxyKey {
  const [cluster = "", name = ""] = text.split("/");
  return { cluster, name };
}
