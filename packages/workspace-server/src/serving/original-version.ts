import { apiVersionOf } from "@virtual-workspaces/apimachinery";
import type { MetadataForm, ServedResource } from "@virtual-workspaces/framework";
import { ORIGINAL_API_VERSION_ANNOTATION } from "@virtual-workspaces/kcp";

/**
 * A resource as it is served over all logical clusters: who asks for metadata alone is told in an annotation in which version
 * each object is kept, since the answer says `meta.k8s.io/v1` of all of them.
 */
export function withOriginalVersion(served: ServedResource): ServedResource {
  return Object.freeze({ ...served, metadata: originalVersion(served) });
}

/** Kinds that have another group besides are of that which was asked for. */
function originalVersion({ definition, storedAs }: ServedResource): MetadataForm {
  const kept = storedAs?.group === definition.group ? apiVersionOf(storedAs) : undefined;
  return {
    name: `${ORIGINAL_API_VERSION_ANNOTATION} ${kept ?? ""}`,
    of: ({ apiVersion, metadata }) => ({
      ...metadata,
      annotations: { ...metadata.annotations, [ORIGINAL_API_VERSION_ANNOTATION]: kept ?? apiVersion },
    }),
  };
}
