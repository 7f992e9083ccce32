import { equalJson } from "@virtual-workspaces/apimachinery";
import type { CrdSpec, CrdVersion } from "../definition/definition.ts";

/** What a version says that Kubernetes' own form of a definition may say once for all. */
export type SharedField = "schema" | "subresources" | "additionalPrinterColumns" | "selectableFields";

/**
 * Which fields are equal in all versions: Kubernetes checks a definition in its internal form, which has these beside the
 * versions, and so names them there in its messages (`spec.validation`, for a schema).
 */
export type SharedFields = { readonly [Field in SharedField]: boolean };

export function sharedFields({ versions = [] }: Pick<CrdSpec, "versions">): SharedFields {
  const [first, ...others] = versions;
  const shared = (field: SharedField): boolean =>
    first !== undefined && others.every((version) => equalJson(plain(version, field), plain(first, field)));
  return {
    schema: shared("schema"),
    subresources: shared("subresources"),
    additionalPrinterColumns: shared("additionalPrinterColumns"),
    selectableFields: shared("selectableFields"),
  };
}

function plain(version: CrdVersion, field: SharedField): unknown {
  return version[field] ?? null;
}
