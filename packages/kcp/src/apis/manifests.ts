import { createHash } from "node:crypto";
import { apiVersionOf, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import type { RbacObject } from "@virtual-workspaces/framework/authz";
import { APIExport } from "../kinds/api-export.ts";
import type { APIResourceSchema } from "../kinds/api-resource-schema.ts";
import { APIS_GROUP } from "../names/names.ts";
import { apiResourceSchemaOf, definitionOf } from "./custom-resource-definitions.ts";

/**
 * What must be there for a view to work, in the workspace of whoever provides it: the named export `manifests` of its module, which
 * `virtual-workspaces manifests` prints. Nothing of it is applied by itself.
 */
export type Manifests = readonly KubeObject[];

/**
 * The CustomResourceDefinition of a kind that was defined in code: for a workspace that has objects of it itself.
 *
 * @example
 * ```ts
 * import { defineResource } from "@virtual-workspaces/framework";
 * import { crdManifest, type Manifests } from "@virtual-workspaces/kcp";
 *
 * const Shelf = defineResource({ group: "example.dev", version: "v1", kind: "Shelf", plural: "shelves", scope: "Cluster" });
 *
 * export const manifests: Manifests = [crdManifest(Shelf)];
 * ```
 * @see docs/how-to/publishing-urls.md
 */
export function crdManifest(kind: ResourceDefinition): KubeObject {
  return { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", ...definitionOf(kind) };
}

type Spec = NonNullable<APIExport["spec"]>;
type Subject = NonNullable<Extract<RbacObject, { kind: "ClusterRoleBinding" }>["subjects"]>[number];

/** What {@link exportManifests} is given. */
export interface ExportManifestsOptions {
  /** Of the APIExport. */
  readonly name: string;
  /** The kinds that workspaces get which bind it. */
  readonly resources?: readonly ResourceDefinition[];
  /**
   * Where objects of these kinds are kept: `{ virtual }` by a view, at the URLs that the object says which is referred to.
   * @default in the workspaces that bind it, `{ crd: {} }`
   */
  readonly storage?: NonNullable<NonNullable<Spec["resources"]>[number]["storage"]>;
  /** What of a workspace that binds it the provider asks for besides. */
  readonly permissionClaims?: Spec["permissionClaims"];
  /** What anybody may do with it at most. @default no limit */
  readonly maximalPermissionPolicy?: Spec["maximalPermissionPolicy"];
  /** Who may bind it: the verb `bind`. @default nobody but administrators of the workspace */
  readonly mayBind?: readonly Subject[];
  /**
   * Who may use its view, that is do everything with its objects in all workspaces that have bound it: `apiexports/content`. They may
   * read the endpoint slice of the export's name as well, which says where the view is.
   * @default nobody but administrators of the workspace
   */
  readonly mayUse?: readonly Subject[];
}

/**
 * An APIExport and what belongs to it: its APIResourceSchemas, and roles for those who may bind it and use its view. Schemas never
 * change, so each is named by what is in it, `v1-3f2a1b9c0.widgets.example.dev`: of another version of a kind another schema is made
 * beside, and the export goes over to it. kcp and the workspace server make the endpoint slice.
 *
 * @throws ApiError 422 on a kind whose names are none
 *
 * @example
 * ```ts
 * import { defineResource } from "@virtual-workspaces/framework";
 * import { exportManifests, type Manifests } from "@virtual-workspaces/kcp";
 *
 * const Book = defineResource({ group: "example.dev", version: "v1", kind: "Book", scope: "Namespaced" });
 *
 * export const manifests: Manifests = exportManifests({ name: "library", resources: [Book] });
 * ```
 * @see docs/how-to/publishing-urls.md
 */
export function exportManifests(options: ExportManifestsOptions): KubeObject[] {
  const { name, resources = [], storage = { crd: {} }, mayBind = [], mayUse = [] } = options;
  const { permissionClaims, maximalPermissionPolicy } = options;
  const schemas = resources.map((kind) => schemaManifest(kind));
  const spec = {
    ...(resources.length > 0 && {
      resources: resources.map(({ group, plural }, at) => ({
        group,
        name: plural,
        schema: schemas[at]?.metadata.name ?? "",
        storage,
      })),
    }),
    ...(permissionClaims !== undefined && { permissionClaims }),
    ...(maximalPermissionPolicy !== undefined && { maximalPermissionPolicy }),
  };
  const rule = { apiGroups: [APIS_GROUP], resourceNames: [name] };
  return [
    ...schemas,
    { apiVersion: apiVersionOf(APIExport), kind: APIExport.kind, metadata: { name }, spec },
    ...role(`${name}-bind`, [{ ...rule, resources: ["apiexports"], verbs: ["bind"] }], mayBind),
    ...role(
      `${name}-content`,
      [
        { ...rule, resources: ["apiexports/content"], verbs: ["*"] },
        { ...rule, resources: ["apiexportendpointslices"], verbs: ["get", "list", "watch"] },
      ],
      mayUse,
    ),
  ];
}

/**
 * The APIResourceSchema of a kind that was defined in code. Schemas never change: its name tells what is in it, so that another
 * version of the kind is another schema, beside it.
 *
 * @throws ApiError 422 on a kind whose names are none
 */
export function schemaManifest(kind: ResourceDefinition): APIResourceSchema {
  const definition = definitionOf(kind);
  const digest = createHash("sha256").update(JSON.stringify(definition.spec)).digest("hex").slice(0, 9);
  return apiResourceSchemaOf(definition, `${kind.version}-${digest}`);
}

const RBAC = "rbac.authorization.k8s.io";

function role(name: string, rules: readonly object[], subjects: readonly Subject[]): KubeObject[] {
  if (subjects.length === 0) return [];
  const apiVersion = `${RBAC}/v1`;
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name };
  return [
    { apiVersion, kind: "ClusterRole", metadata: { name }, rules } as KubeObject,
    { apiVersion, kind: "ClusterRoleBinding", metadata: { name }, roleRef, subjects } as KubeObject,
  ];
}
