import { ApiError, type FieldSelector } from "@virtual-workspaces/apimachinery";
import type { ServedResource } from "../resource/served.ts";

/**
 * Refuses a selector on fields that objects of this kind cannot be selected by, as Kubernetes does for custom kinds: a
 * mistyped field would else match as if it were empty. A storage that narrows knows its own fields.
 *
 * @throws ApiError 400 that names the field and those there are
 */
export function checkSelectable({ definition, storage }: ServedResource, selector: FieldSelector): void {
  if (selector.empty || storage.narrows === true) return;
  const own = definition.selectableFields.map(({ name }) => name);
  const namespace = definition.scope === "Namespaced" ? ["metadata.namespace"] : [];
  const known = ["metadata.name", ...namespace, ...own];
  const unknown = selector.fields.find((field) => !known.includes(field));
  if (unknown === undefined) return;
  // Kubernetes' own kinds without fields of their own have other words.
  if (definition.strategy !== undefined && own.length === 0) {
    const only = known.map((field) => JSON.stringify(field)).join(", ");
    throw ApiError.badRequest(`${JSON.stringify(unknown)} is not a known field selector: only ${only}`);
  }
  throw ApiError.badRequest(`field label not supported: ${unknown}; there are ${known.join(", ")}`);
}
