// Kind and clients for tests of the test server.
import * as k8s from "@kubernetes/client-node";
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { TestServer } from "@virtual-workspaces/testing";
import { crd } from "../../../_support/crd.ts";

/** Reference to the kind, for `@virtual-workspaces/client`. */
export const WIDGET = {
  group: "example.dev",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
} as const;

export const NAMESPACE = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster",
} as const;

/** Kind with a status, a default and a rule. */
export const widgetCrd = crd("Widget", {
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", default: 1, "x-kubernetes-validations": [{ rule: "self < 100", message: "too big" }] },
      },
    },
    status: { type: "object", properties: { ready: { type: "boolean" } } },
  },
  version: { subresources: { status: {} } },
}) as KubeObject;

export function widget(name: string, more: object = {}): KubeObject {
  return { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name, namespace: "default" }, ...more };
}

/** Returns the configuration of client-node for a user. */
export function kubeConfig(server: TestServer, user = "admin"): k8s.KubeConfig {
  const config = new k8s.KubeConfig();
  config.loadFromString(server.user(user).kubeconfig);
  return config;
}

/** Returns client-node's client for custom resources of a user. */
export function customObjects(server: TestServer, user?: string): k8s.CustomObjectsApi {
  return kubeConfig(server, user).makeApiClient(k8s.CustomObjectsApi);
}

export const WIDGETS = { group: "example.dev", version: "v1", namespace: "default", plural: "widgets" } as const;

/** Returns the names of the widgets in `default`. */
export async function names(server: TestServer): Promise<readonly string[]> {
  const { items } = await server.client.resource(WIDGET).in("default").list();
  return items.map(({ metadata }) => metadata.name);
}
