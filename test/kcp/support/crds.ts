// Reads CustomResourceDefinitions, such as kcp's config/crds, as kinds in each version.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { AGE_COLUMN, type TableColumn } from "@virtual-workspaces/apimachinery/tables";
import { parse } from "yaml";
import type { Shaped } from "./shape.ts";

interface Crd {
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: Pick<Shaped, "kind" | "listKind" | "plural" | "singular"> &
      Partial<Pick<Shaped, "shortNames" | "categories">>;
    readonly versions: readonly CrdVersion[];
  };
}

interface CrdVersion {
  readonly name: string;
  readonly schema: { readonly openAPIV3Schema: JsonSchema };
  readonly subresources?: { readonly status?: object; readonly scale?: object };
  readonly additionalPrinterColumns?: readonly TableColumn[];
}

/** Returns the kinds that the YAML files of a folder define. */
export function kindsOfFolder(folder: string): Shaped[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
  return files.sort().flatMap((file) => kindsOf(parse(readFileSync(join(folder, file), "utf8")) as Crd));
}

function kindsOf({ spec: { group, scope, names, versions } }: Crd): Shaped[] {
  return versions.map(({ name, schema, subresources = {}, additionalPrinterColumns }) => ({
    shortNames: [],
    categories: [],
    ...names,
    group,
    scope,
    version: name,
    subresources: {
      status: subresources.status !== undefined,
      ...(subresources.scale !== undefined && { scale: subresources.scale }),
    },
    columns: additionalPrinterColumns ?? [AGE_COLUMN],
    schema: schema.openAPIV3Schema,
  }));
}
