// Paths and objects that cases use.
import type { Ask, User } from "./step.ts";

export const WS = "/clusters/$(ws)";
export const ROOT = "/clusters/root";
export const TENANCY = "/apis/tenancy.kcp.io/v1alpha1";
export const CORE = "/apis/core.kcp.io/v1alpha1";
export const RBAC = "/apis/rbac.authorization.k8s.io/v1";
export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
export const APIS = "/apis/apis.kcp.io/v1alpha1";
export const APIS2 = "/apis/apis.kcp.io/v1alpha2";
export const MAPS = "/api/v1/namespaces/default/configmaps";
export const NAMESPACES = "/api/v1/namespaces";

/** kubectl's header for tables. */
export const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };
const MERGE = { "content-type": "application/merge-patch+json" };

type More = Readonly<Record<string, unknown>>;

function object(apiVersion: string, kind: string, { name, ...more }: { readonly name: string } & More): More {
  const { metadata, ...rest } = more as { readonly metadata?: object };
  return { apiVersion, kind, metadata: { name, ...metadata }, ...rest };
}

export const get = (path: string, more: Partial<Ask> = {}): Ask => ({ send: `GET ${path}`, ...more });
export const create = (path: string, body: unknown, more: Partial<Ask> = {}): Ask => ({
  send: `POST ${path}`,
  body,
  ...more,
});
export const merge = (path: string, body: unknown, more: Partial<Ask> = {}): Ask => ({
  send: `PATCH ${path}`,
  headers: MERGE,
  body,
  ...more,
});
export const remove = (path: string, more: Partial<Ask> = {}): Ask => ({ send: `DELETE ${path}`, ...more });

export const workspace = (name: string, more: More = {}): More =>
  object("tenancy.kcp.io/v1alpha1", "Workspace", { name, ...more });
export const ofType = (name: string, type: string, path = "root"): More =>
  workspace(name, { spec: { type: { name: type, path } } });
export const workspaceType = (name: string, spec: object): More =>
  object("tenancy.kcp.io/v1alpha1", "WorkspaceType", { name, spec });
export const configMap = (name: string, more: More = {}): More => object("v1", "ConfigMap", { name, ...more });
export const secret = (name: string, more: More = {}): More => object("v1", "Secret", { name, ...more });
export const namespace = (name: string, more: More = {}): More => object("v1", "Namespace", { name, ...more });
export const serviceAccount = (name: string): More => object("v1", "ServiceAccount", { name });

const RBAC_GROUP = "rbac.authorization.k8s.io";
export const clusterRole = (name: string, rules: unknown): More =>
  object(`${RBAC_GROUP}/v1`, "ClusterRole", { name, rules });
export const clusterRoleBinding = (name: string, role: string, subjects: unknown): More =>
  object(`${RBAC_GROUP}/v1`, "ClusterRoleBinding", {
    name,
    roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: role },
    subjects,
  });
export const user = (name: string): More => ({ kind: "User", apiGroup: RBAC_GROUP, name });

/** Grants a user access to the workspace. */
export const enters = (name: User): Ask =>
  create(
    `${WS}${RBAC}/clusterrolebindings`,
    clusterRoleBinding(`${name}-access`, "system:kcp:workspace:access", [user(name)]),
    { user: "root", tell: ["roleRef"] },
  );

/** Grants a user access to the workspace, and one more rule. */
export const may = (name: User, rule: object): readonly Ask[] => [
  enters(name),
  create(`${WS}${RBAC}/clusterroles`, clusterRole(`${name}-may`, [rule]), { user: "root", tell: ["rules"] }),
  create(`${WS}${RBAC}/clusterrolebindings`, clusterRoleBinding(`${name}-may`, `${name}-may`, [user(name)]), {
    user: "root",
    tell: ["roleRef"],
  }),
];

const WIDGET_SCHEMA = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: { size: { type: "integer", maximum: 9 }, color: { type: "string" } },
      "x-kubernetes-validations": [{ rule: "self.size != 7", message: "seven is no size" }],
    },
    status: { type: "object", properties: { ready: { type: "boolean" } } },
  },
};

const WIDGET_NAMES = {
  plural: "widgets",
  singular: "widget",
  kind: "Widget",
  listKind: "WidgetList",
  shortNames: ["wd"],
};
const WIDGET_VERSION = {
  name: "v1",
  served: true,
  storage: true,
  subresources: { status: {} },
  additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
};

export const crd = (more: More = {}, names: object = {}): More =>
  object("apiextensions.k8s.io/v1", "CustomResourceDefinition", {
    name: "widgets.example.dev",
    spec: {
      group: "example.dev",
      scope: "Namespaced",
      names: { ...WIDGET_NAMES, ...names },
      versions: [{ ...WIDGET_VERSION, schema: { openAPIV3Schema: WIDGET_SCHEMA } }],
      ...more,
    },
  });

export const widget = (name: string, spec: object = { size: 1 }): More =>
  object("example.dev/v1", "Widget", { name, spec });

export const resourceSchema = (name = "v1.widgets.example.dev", more: More = {}): More =>
  object("apis.kcp.io/v1alpha1", "APIResourceSchema", {
    name,
    spec: {
      group: "example.dev",
      scope: "Namespaced",
      names: WIDGET_NAMES,
      versions: [{ ...WIDGET_VERSION, schema: WIDGET_SCHEMA }],
      ...more,
    },
  });

/** APIExport in version v1alpha2. */
export const apiExport = (name: string, more: More = {}): More =>
  object("apis.kcp.io/v1alpha2", "APIExport", {
    name,
    spec: {
      resources: [{ group: "example.dev", name: "widgets", schema: "v1.widgets.example.dev", storage: { crd: {} } }],
      ...more,
    },
  });

export const apiBinding = (name: string, more: More = {}, path = "$(path)"): More =>
  object("apis.kcp.io/v1alpha2", "APIBinding", {
    name,
    spec: { reference: { export: { path, name: "widgets" } }, ...more },
  });
