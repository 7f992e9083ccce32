import { compileJsonPath, isJsonObject, type KindReference, type PathColumn } from "@virtual-workspaces/apimachinery";
import type { Client, DiscoveredKind } from "@virtual-workspaces/client";

const DEFINITION: KindReference<{ readonly spec?: { readonly versions?: unknown } }> = {
  ...{ group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" },
  ...{ plural: "customresourcedefinitions", scope: "Cluster" },
};
/** Columns that are shown of a kind. */
const MOST = 32;

/** The columns that the definition of a custom kind has, as far as they can be shown. One that cannot be read has none. */
export async function columnsOf(
  client: Client | undefined,
  { group, plural, version }: DiscoveredKind,
  signal: AbortSignal,
): Promise<readonly PathColumn[]> {
  // Kinds without a domain are Kubernetes' own.
  if (client === undefined || !group.includes(".")) return [];
  const name = `${plural}.${group}`;
  const definition = await client
    .resource(DEFINITION)
    .get(name, { signal })
    .catch(() => undefined);
  const versions: unknown = definition?.spec?.versions;
  const found = Array.isArray(versions)
    ? versions.find((one: unknown) => isJsonObject(one) && one["name"] === version)
    : undefined;
  const columns: unknown = found?.additionalPrinterColumns;
  return Array.isArray(columns) ? columns.slice(0, MOST).flatMap(columnOf) : [];
}

/** A Space's definitions are as good as its server: none of what cannot be shown. */
function columnOf(said: unknown): readonly PathColumn[] {
  if (!isJsonObject(said)) return [];
  const { name, type, jsonPath, description, priority } = said;
  if (typeof name !== "string" || OWN.includes(name) || typeof jsonPath !== "string") return [];
  const known = TYPES.find((one) => one === type);
  try {
    compileJsonPath(jsonPath);
  } catch {
    return [];
  }
  if (known === undefined) return [];
  return [
    {
      ...{ name, type: known, jsonPath },
      ...(typeof description === "string" && { description }),
      ...(typeof priority === "number" && { priority }),
    },
  ];
}

const TYPES = ["integer", "number", "string", "boolean", "date"] as const;
/** The view's. */
const OWN: readonly string[] = ["Name", "Space", "Age"];
