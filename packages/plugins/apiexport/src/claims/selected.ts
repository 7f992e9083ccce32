import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { groupResourceOf, type ResourceDefinition } from "@virtual-workspaces/framework";
import { type ClaimSelector, claimMatches } from "@virtual-workspaces/kcp";

/** By key. */
export type Labels = Readonly<Record<string, string>>;

/**
 * The labels that an object lacks for a workspace to let the provider have it, of those that the selector of its claim says.
 *
 * @throws ApiError 403 when one of them is another, or when it is not what the claim is about in spite of them
 */
export function missingLabels(
  { metadata }: KubeObject,
  selector: ClaimSelector,
  definition: ResourceDefinition,
): Labels | undefined {
  const { labels = {}, name } = metadata;
  const forbidden = (message: string): ApiError =>
    ApiError.forbidden({ resource: groupResourceOf(definition), name, message });
  const wanted = Object.entries(selector.matchLabels ?? {});
  const other = wanted.find(([key, value]) => Object.hasOwn(labels, key) && labels[key] !== value);
  if (other !== undefined) throw forbidden(`protected label ${other[0]} must have value ${other[1]}`);
  const missing = wanted.filter(([key]) => !Object.hasOwn(labels, key));
  if (!claimMatches(selector, { ...labels, ...Object.fromEntries(missing) }))
    throw forbidden("object does not match required labels");
  return missing.length === 0 ? undefined : Object.fromEntries(missing);
}

/** The object with labels besides. */
export function withLabels(object: KubeObject, labels: Labels): KubeObject {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } } };
}

/** A new object as its server would have kept it, without what the server says of what it has kept. */
export function anew(object: KubeObject): KubeObject {
  const { uid, resourceVersion, generation, creationTimestamp, managedFields, selfLink, ...metadata } = object.metadata;
  return { ...object, metadata };
}
