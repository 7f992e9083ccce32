import type { CrdNames } from "../../crds/definition/definition.ts";

/** Why names cannot be had beside those of another kind of the group, in kcp's words; `undefined` if they can. */
export function namingConflict(incoming: CrdNames, existing: CrdNames): string | undefined {
  const names = new Set([existing.plural, existing.singular ?? "", ...(existing.shortNames ?? [])]);
  const kinds = new Set([existing.kind, existing.listKind ?? ""]);
  const { plural, singular = "", shortNames = [], kind, listKind = "" } = incoming;
  const refused = (field: string, value: string): string => `spec.names.${field}=${value} is forbidden`;
  if (names.has(plural)) return refused("plural", plural);
  if (singular !== "" && names.has(singular)) return refused("singular", singular);
  if (shortNames.some((name) => names.has(name))) return refused("shortNames", `[${shortNames.join(" ")}]`);
  if (kinds.has(kind)) return refused("kind", kind);
  return listKind !== "" && kinds.has(listKind) ? refused("listKind", listKind) : undefined;
}
