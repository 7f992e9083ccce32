import type { CrdSpec, CrdStatus } from "./definition.ts";

/** A spec with the names and the conversion that Kubernetes gives one that says nothing of them. */
export function withDefaults(spec: CrdSpec): CrdSpec {
  const { names, conversion = { strategy: "None" } } = spec;
  const { kind, singular = kind.toLowerCase(), listKind = kind === "" ? undefined : `${kind}List` } = names;
  const named = { ...names, ...(singular !== "" && { singular }), ...(listKind !== undefined && { listKind }) };
  return { ...spec, names: named, conversion };
}

/** The status that a new one begins with. */
export function initialStatus(spec: CrdSpec): CrdStatus {
  return withStorageVersion({ conditions: [], acceptedNames: { plural: "", kind: "" } }, spec);
}

/** A status that tells of the version in which objects are kept from now on. */
export function withStorageVersion(status: CrdStatus, { versions }: CrdSpec): CrdStatus {
  const { storedVersions = [] } = status;
  const stored = versions.find(({ storage }) => storage);
  if (stored === undefined || storedVersions.includes(stored.name)) return status;
  return { ...status, storedVersions: [...storedVersions, stored.name] };
}
