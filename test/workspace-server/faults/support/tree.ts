// Objects and paths that tests create in workspaces.
import { crd } from "../../../_support/crd.ts";

const WORKSPACES = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
const BINDINGS = "/apis/apis.kcp.io/v1alpha2/apibindings";
const CLAIM = { group: "", resource: "configmaps", verbs: ["*"] };

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const EXPORTS = "/apis/apis.kcp.io/v1alpha2/apiexports";
const MAPS = "/api/v1/namespaces/default/configmaps";
const SCHEMAS = "/apis/apis.kcp.io/v1alpha1/apiresourceschemas";

/** Returns a path in a logical cluster, given by name or path. */
export function within(cluster: string, path: string): string {
  return `/clusters/${cluster}${path}`;
}

export const paths = { BINDINGS, CRDS, EXPORTS, MAPS, SCHEMAS, WORKSPACES, NAMESPACES: "/api/v1/namespaces" };

export function workspace(name: string): object {
  const spec = { type: { name: "universal", path: "root" } };
  return { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec };
}

export function namespace(name: string): object {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

export function configMap(name: string, metadata: object = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data: { a: "1" } };
}

export function widget(name: string): object {
  return { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name }, spec: { size: 1 } };
}

export function gadget(name: string): object {
  return { apiVersion: "own.dev/v1", kind: "Gadget", metadata: { name } };
}

/** Returns a kind that the workspace defines itself. */
export const gadgets = (): object => crd("Gadget", { group: "own.dev", scope: "Cluster" });

export function widgetSchema(): object {
  const size = { type: "object", properties: { size: { type: "integer" } } };
  const schema = { type: "object", properties: { spec: size } };
  return {
    apiVersion: "apis.kcp.io/v1alpha1",
    kind: "APIResourceSchema",
    metadata: { name: "v1.widgets.example.dev" },
    spec: {
      group: "example.dev",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      scope: "Cluster",
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}

/** Returns an export of widgets that claims ConfigMaps. */
export function widgetExport(name: string): object {
  return {
    apiVersion: "apis.kcp.io/v1alpha2",
    kind: "APIExport",
    metadata: { name },
    spec: {
      resources: [{ group: "example.dev", name: "widgets", schema: "v1.widgets.example.dev" }],
      permissionClaims: [CLAIM],
    },
  };
}

/** Returns a binding of that export, with the claim accepted or rejected. */
export function binding(name: string, path: string, state: "Accepted" | "Rejected" = "Accepted"): object {
  const permissionClaims = [{ ...CLAIM, selector: { matchAll: true }, state }];
  return {
    apiVersion: "apis.kcp.io/v1alpha2",
    kind: "APIBinding",
    metadata: { name },
    spec: { reference: { export: { path, name: "widgets" } }, permissionClaims },
  };
}
