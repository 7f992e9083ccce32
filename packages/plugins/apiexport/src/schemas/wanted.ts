import type { APIBinding, APIExport, APIResourceSchema } from "@virtual-workspaces/kcp";
import { isBound } from "../model/binding.ts";
import type { ModelChange } from "../model/listeners.ts";
import type { ApiModel } from "../model/model.ts";

/** The schemas of what a workspace has bound, and what they were found by. */
export interface Wanted {
  /** By name. */
  readonly schemas: ReadonlyMap<string, APIResourceSchema>;
  /** The exports and schemas that were asked for, there or not, as {@link textOf} has them. */
  readonly by: ReadonlySet<string>;
}

interface Candidate {
  readonly schema: APIResourceSchema;
  readonly cluster: string;
  /** Whether the workspace has the resource by it. */
  readonly bound: boolean;
}

/**
 * The schemas that the exports of a workspace's bindings name now. A binding counts once it is Bound, and says itself
 * where its export is.
 *
 * Providers may call their schemas alike. A name that there is twice is one resource, of which a workspace has one: that
 * one is shown; and should it have neither, that of the logical cluster whose name is the first.
 */
export function wantedSchemas(model: Pick<ApiModel, "bindings" | "export" | "schema">, consumer: string): Wanted {
  const by = new Set<string>();
  const found = new Map<string, Candidate>();
  for (const binding of model.bindings(consumer)) {
    const key = exportOf(binding);
    if (key === undefined) continue;
    by.add(textOf({ of: "export", ...key }));
    for (const resource of resourcesOf(model.export(key))) {
      const name = resource.schema;
      by.add(textOf({ of: "schema", cluster: key.cluster, name }));
      const schema = model.schema({ cluster: key.cluster, name });
      if (schema === undefined) continue;
      const bound = isBound(binding, { group: resource.group, resource: resource.name });
      const candidate = { schema, cluster: key.cluster, bound };
      const other = found.get(name);
      if (other === undefined || isBefore(candidate, other)) found.set(name, candidate);
    }
  }
  return { schemas: new Map([...found].map(([name, { schema }]) => [name, schema])), by };
}

/** An export or schema as one text. */
export function textOf({ of, cluster, name }: ModelChange): string {
  return `${of} ${cluster}/${name}`;
}

function exportOf({ spec, status }: APIBinding): { readonly cluster: string; readonly name: string } | undefined {
  const { name } = spec.reference?.export ?? {};
  const { phase, apiExportClusterName: cluster } = status ?? {};
  return phase === "Bound" && name && cluster ? { cluster, name } : undefined;
}

function resourcesOf(exported: APIExport | undefined): NonNullable<NonNullable<APIExport["spec"]>["resources"]> {
  return exported?.spec?.resources ?? [];
}

function isBefore(one: Candidate, other: Candidate): boolean {
  return one.bound === other.bound ? one.cluster < other.cluster : one.bound;
}
