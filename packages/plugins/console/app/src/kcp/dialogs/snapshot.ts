import { parseAllDocuments, stringify } from "yaml";
import type { KubernetesObject } from "../../api/types.ts";
import { texts } from "../texts.ts";

type Fields = Readonly<Record<string, unknown>>;

/** An APIResourceSchema without its name: what a pasted text says about a resource. */
export interface Snapshot {
  readonly group: string;
  readonly plural: string;
  readonly annotations: Fields;
  readonly spec: Fields;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads CustomResourceDefinitions and APIResourceSchemas. Throws an error that says what is wrong with the text. */
export function snapshotsOf(text: string): readonly Snapshot[] {
  const documents = parseAllDocuments(text, { uniqueKeys: true });
  const all = (Array.isArray(documents) ? documents : []).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(texts.exportDialog.notYaml(error.message));
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    if (value === null || value === undefined) return [];
    if (isFields(value) && value["kind"] === "List" && Array.isArray(value["items"]))
      return value["items"].map(snapshotOf);
    return [snapshotOf(value)];
  });
  if (all.length === 0) throw new Error(texts.exportDialog.noSchema);
  return all;
}

function snapshotOf(value: unknown): Snapshot {
  const { kind, apiVersion, metadata, spec } = isFields(value) ? value : {};
  if (!isFields(spec) || (kind !== "CustomResourceDefinition" && kind !== "APIResourceSchema"))
    throw new Error(texts.exportDialog.wrongKind(typeof kind === "string" ? kind : ""));
  if (kind === "CustomResourceDefinition" && apiVersion !== "apiextensions.k8s.io/v1")
    throw new Error(texts.exportDialog.wrongVersion(String(apiVersion)));
  const { group = "", names } = spec;
  const plural = isFields(names) ? names["plural"] : undefined;
  if (typeof plural !== "string" || plural === "" || typeof group !== "string")
    throw new Error(texts.exportDialog.noNames);
  const approved =
    isFields(metadata) && isFields(metadata["annotations"]) ? metadata["annotations"][APPROVED] : undefined;
  const annotations = approved === undefined ? {} : { [APPROVED]: approved };
  return { group, plural, annotations, spec: kind === "APIResourceSchema" ? spec : specOf(spec) };
}

const APPROVED = "api-approved.kubernetes.io";

/** The spec of an APIResourceSchema with the resource of a CustomResourceDefinition. */
function specOf(spec: Fields): Fields {
  const { group, names, scope, versions, conversion } = spec;
  const { kind = "", singular, listKind, ...others } = isFields(names) ? names : {};
  const all = Array.isArray(versions) ? versions.filter(isFields) : [];
  return {
    group,
    names: {
      ...others,
      kind,
      singular: singular ?? String(kind).toLowerCase(),
      listKind: listKind ?? `${String(kind)}List`,
    },
    scope,
    versions: all.map(({ schema, ...version }) => ({
      ...version,
      ...(isFields(schema) && schema["openAPIV3Schema"] !== undefined && { schema: schema["openAPIV3Schema"] }),
    })),
    ...(isFields(conversion) && conversion["strategy"] === "Webhook" && { conversion }),
  };
}

/** `v<date>-<hash>`: the prefix of the names of schemas, which differs when the schema does. */
export function prefixOf(snapshots: readonly Snapshot[], now = new Date()): string {
  const date = now.toISOString().slice(2, 10).replaceAll("-", "");
  return `v${date}-${hashOf(JSON.stringify(snapshots))}`;
}

/** FNV-1a of 32 bits: it tells schemas apart, and protects nothing. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** Name of the APIResourceSchema of a resource. */
export const schemaName = (prefix: string, { plural, group }: Snapshot): string =>
  `${prefix}.${plural}.${group === "" ? "core" : group}`;

export const schemaObject = (prefix: string, snapshot: Snapshot) => ({
  apiVersion: "apis.kcp.io/v1alpha1",
  kind: "APIResourceSchema",
  metadata: {
    name: schemaName(prefix, snapshot),
    ...(Object.keys(snapshot.annotations).length > 0 && {
      annotations: snapshot.annotations as Readonly<Record<string, string>>,
    }),
  },
  spec: snapshot.spec,
});

export const exportObject = (name: string, prefix: string, snapshots: readonly Snapshot[]) => ({
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIExport",
  metadata: { name },
  spec: {
    resources: snapshots.map((one) => ({
      group: one.group,
      name: one.plural,
      schema: schemaName(prefix, one),
      storage: { crd: {} },
    })),
  },
});

export const yamlOf = (objects: readonly KubernetesObject[]): string =>
  objects.map((object) => stringify(object)).join("---\n");
