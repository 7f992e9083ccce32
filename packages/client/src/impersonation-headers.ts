import type { Impersonation } from "./client.ts";

/** `Impersonate-*`, as flat pairs: one line for each group and each value. */
export function impersonationHeaders({ name, uid, groups = [], extra = {} }: Impersonation): string[] {
  const lines = ["Impersonate-User", name];
  if (uid !== undefined && uid !== "") lines.push("Impersonate-Uid", uid);
  for (const group of groups) lines.push("Impersonate-Group", group);
  for (const [key, values] of Object.entries(extra))
    for (const value of values) lines.push(`Impersonate-Extra-${headerKey(key)}`, value);
  return lines;
}

/** As a part of a header's name: what may not stand there is percent-encoded, as Kubernetes reads it. */
function headerKey(text: string): string {
  return encodeURIComponent(text).replaceAll("(", "%28").replaceAll(")", "%29");
}
