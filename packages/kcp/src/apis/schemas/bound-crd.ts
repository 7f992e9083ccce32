import { CLUSTER_ANNOTATION, cloneJson, type JsonSchema } from "@virtual-workspaces/apimachinery";
import {
  BOUND_CRD_ANNOTATION,
  SCHEMA_CLUSTER_ANNOTATION,
  SCHEMA_NAME_ANNOTATION,
  VALIDATE_NAME_ANNOTATION,
} from "../../well-known/annotations.ts";
import { BOUND_CRDS_CLUSTER } from "../../well-known/names.ts";
import type { APIResourceSchema } from "../kinds/api-resource-schema.ts";
import type { CustomResourceDefinitionLike } from "./custom-resource-definition.ts";

const APPROVED = "api-approved.kubernetes.io";

/**
 * The CustomResourceDefinition by which an APIResourceSchema is served where it is bound: named by the schema's UID, with
 * annotations that say where it is from. Its conversion is left out if there is one version.
 *
 * @throws Error without a name, UID, cluster or spec, which a schema that was read has, and if several versions have no
 *   conversion
 */
export function boundCrdOf({ metadata, spec }: APIResourceSchema): CustomResourceDefinitionLike {
  const { name, uid, annotations } = metadata;
  const cluster = annotations?.[CLUSTER_ANNOTATION];
  if (name === undefined || uid === undefined || cluster === undefined || spec === undefined)
    throw new Error(`APIResourceSchema ${name ?? ""} must have a UID, a cluster and a spec to be bound`);
  const { group, names, scope, versions, conversion } = spec;
  if (versions.length > 1 && conversion === undefined)
    throw new Error(`APIResourceSchema ${name} has several versions and no conversion`);
  const approved = annotations?.[APPROVED];
  return cloneJson({
    metadata: {
      name: uid,
      annotations: {
        [CLUSTER_ANNOTATION]: BOUND_CRDS_CLUSTER,
        [BOUND_CRD_ANNOTATION]: "",
        [SCHEMA_CLUSTER_ANNOTATION]: cluster,
        [SCHEMA_NAME_ANNOTATION]: name,
        ...(approved === undefined ? {} : { [APPROVED]: approved }),
        ...(spec.nameValidation === "PathSegmentName" && { [VALIDATE_NAME_ANNOTATION]: "path-segment" }),
      },
    },
    spec: {
      group,
      names,
      scope,
      versions: versions.map(({ schema, ...version }) => ({
        ...version,
        schema: { openAPIV3Schema: schema as JsonSchema },
      })),
      ...(versions.length > 1 && conversion ? { conversion } : {}),
    },
  });
}
