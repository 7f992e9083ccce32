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

/** Names of headers come in no certain case, and not every proxy lets all through that may stand in one. */
function headerKey(key: string): string {
  const escaped = (character: string): string =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  return key.replace(/[^a-z0-9.-]/gu, escaped);
}
