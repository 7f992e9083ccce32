import { createHash } from "node:crypto";
import { apiVersionOf, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import type { PolicyRule, RbacObject } from "@virtual-workspaces/framework/authz";
import { APIExport } from "../kinds/api-export.ts";
import type { APIResourceSchema } from "../kinds/api-resource-schema.ts";
import { APIS_GROUP } from "../names/names.ts";
import { apiResourceSchemaOf, definitionOf } from "./custom-resource-definitions.ts";

/**
 * Objects that a view needs in the workspace of its provider: the named export `manifests` of its module, which `virtual-workspaces
 * manifests` prints. The library never applies them itself.
 */
export type Manifests = readonly KubeObject[];

/**
 * Rights that the user of `virtual-workspaces serve --kcp-views=false` needs for a view, in the workspace of its kubeconfig: the
 * named export `permissions` of the view's module, which `virtual-workspaces manifests --rbac` prints. Security: list no more than
 * the view uses, since a thief of the credential has these rights.
 *
 * @example
 * ```ts
 * import type { Permissions } from "@virtual-workspaces/kcp";
 *
 * export const permissions: Permissions = [
 *   { apiGroups: ["apis.kcp.io"], resources: ["apiexportendpointslices"], verbs: ["get", "list", "watch"] },
 * ];
 * ```
 * @see docs/how-to/deploying-with-kcp-operator.md
 */
export type Permissions = readonly PolicyRule[];

/**
 * Returns the CustomResourceDefinition of a kind that is defined in code, for a workspace that stores such objects itself.
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

/** Options of {@link exportManifests}. */
export interface ExportManifestsOptions {
  /** Name of the APIExport. */
  readonly name: string;
  /** Kinds that a workspace gets when it binds the export. */
  readonly resources?: readonly ResourceDefinition[];
  /**
   * Storage of objects of these kinds: `{ virtual }` for a view, at the URLs in the referenced object.
   * @default `{ crd: {} }`, the workspaces that bind the export
   */
  readonly storage?: NonNullable<NonNullable<Spec["resources"]>[number]["storage"]>;
  /** Additional permissions that the provider claims in workspaces that bind the export. */
  readonly permissionClaims?: Spec["permissionClaims"];
  /** Limit on what any user may do with the exported API. @default no limit */
  readonly maximalPermissionPolicy?: Spec["maximalPermissionPolicy"];
  /** Subjects that may bind the export: the verb `bind`. @default only administrators of the workspace */
  readonly mayBind?: readonly Subject[];
  /**
   * Subjects that may use the export's view (`apiexports/content`), that is do everything with its objects in all workspaces that
   * bind the export. They may also read the endpoint slice with the export's name, which lists the view's URLs.
   * @default only administrators of the workspace
   */
  readonly mayUse?: readonly Subject[];
}

/**
 * Returns an APIExport with its APIResourceSchemas, and roles for the subjects that may bind it and use its view. Schemas are
 * immutable, so a hash of the content is in each name: `v1-3f2a1b9c0.widgets.example.dev`. A changed kind gets a second schema, and
 * the export switches to it. kcp and the workspace server create the endpoint slice.
 *
 * @throws ApiError 422 on a kind with invalid names
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
 * Returns the APIResourceSchema of a kind that is defined in code. Schemas are immutable: the name contains a hash of the content,
 * so a changed kind becomes a second schema.
 *
 * @throws ApiError 422 on a kind with invalid names
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
