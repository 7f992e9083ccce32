import {
  ApiError,
  apiVersionOf,
  cloneJson,
  equalJson,
  formatGroupResource,
  isApiError,
  isJsonObject,
  type KubeObject,
  memberOf,
  type ObjectMeta,
  quote,
} from "@virtual-workspaces/apimachinery";
import { groupResourceOf, type ResourceDefinition } from "../../definition.ts";

/** One way between two versions of a kind. */
export interface ConversionOptions {
  readonly from: ResourceDefinition;
  readonly to: ResourceDefinition;
  /** Given a copy. @default nothing changes but `apiVersion` (`None` of a CustomResourceDefinition) */
  readonly convert?: ((object: KubeObject) => object) | undefined;
  /** Told of every failure. */
  readonly onError: (error: unknown, object: string) => void;
}

/**
 * Makes an object of one version one of another. As Kubernetes demands of conversion webhooks, nothing of its metadata may
 * become another but labels and annotations.
 *
 * @throws ApiError what the author's function throws; 500 when it throws anything else or breaks a rule, which is named
 */
export function conversion({ from, to, convert, onError }: ConversionOptions): (object: KubeObject) => KubeObject {
  return (object) => {
    const { metadata } = object;
    try {
      const made = convert === undefined ? object : convert(cloneJson(object));
      if (!isJsonObject(made)) throw new BrokenRule("the result must be an object");
      const { apiVersion: _version, kind: _kind, metadata: given, ...content } = made;
      return { apiVersion: apiVersionOf(to), kind: to.kind, metadata: withChanges(metadata, given), ...content };
    } catch (error) {
      onError(error, metadata.name ?? "");
      if (isApiError(error)) throw error;
      const why = error instanceof BrokenRule ? `: ${error.message}` : "";
      const what = `${formatGroupResource(groupResourceOf(from))} ${quote(metadata.name ?? "")}`;
      throw ApiError.internalError(`conversion of ${what} from ${from.version} to ${to.version} failed${why}`);
    }
  };
}

/** Something that a conversion may not do. Its text is for clients. */
class BrokenRule extends Error {}

const CHANGEABLE: readonly string[] = ["labels", "annotations"];

function withChanges(metadata: ObjectMeta, given: unknown): ObjectMeta {
  if (given === undefined) return metadata;
  if (!isJsonObject(given)) throw new BrokenRule("metadata must be an object");
  for (const name of Object.keys(given)) {
    const before = memberOf(metadata as Record<string, unknown>, name);
    if (!CHANGEABLE.includes(name) && given[name] !== undefined && !equalJson(given[name], before ?? null))
      throw new BrokenRule(`metadata.${name} must not change: a conversion may change labels and annotations only`);
  }
  const { labels, annotations, ...kept } = metadata;
  return {
    ...kept,
    ...changed("labels", given["labels"] ?? labels),
    ...changed("annotations", given["annotations"] ?? annotations),
  };
}

function changed(name: "labels" | "annotations", value: unknown): ObjectMeta {
  if (value === undefined) return {};
  if (!isJsonObject(value) || !Object.values(value).every((text) => typeof text === "string"))
    throw new BrokenRule(`metadata.${name} must be a map of strings`);
  return Object.keys(value).length === 0 ? {} : { [name]: value };
}
