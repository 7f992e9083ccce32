// Workspaces whose webhooks run on this machine.
import { connect } from "node:net";
import { memoryStore } from "@virtual-workspaces/store";
import type { AdmissionWebhooksOptions } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import type { Answer, Calls } from "../../../_support/plain.ts";
import { startWorkspaces, type Workspaces, type WorkspacesOptions } from "../../support/workspaces.ts";
import type { WebhookServer } from "./webhook.ts";

const GROUP = "admissionregistration.k8s.io/v1";
const root = { user: "root" };

/** Connects without restrictions. */
export const anywhere: AdmissionWebhooksOptions = {
  dial: async ({ host, port }) => connect({ host, port, noDelay: true }),
};

export function startConfigured(options: Partial<WorkspacesOptions> = {}): Promise<Workspaces> {
  return startWorkspaces(memoryStore(), { admissionWebhooks: anywhere, ...options });
}

/** A webhook for creates of ConfigMaps. */
export function hook(server: WebhookServer, path: string, more: object = {}): object {
  return {
    name: `${path.slice(1).replaceAll("/", "-")}.example.dev`,
    clientConfig: server.config(path),
    rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    ...more,
  };
}

/** Creates a configuration. */
export async function configure(
  server: Calls,
  cluster: string,
  {
    kind,
    name,
    webhooks,
  }: { readonly kind: "Validating" | "Mutating"; readonly name: string; readonly webhooks: readonly object[] },
): Promise<void> {
  const full = `${kind}WebhookConfiguration`;
  const path = `/clusters/${cluster}/apis/${GROUP}/${full.toLowerCase()}s` as const;
  const made = await server.send(`POST ${path}`, { apiVersion: GROUP, kind: full, metadata: { name }, webhooks }, root);
  expect(made.status, made.text).to.equal(201);
}

export const MAPS = "api/v1/namespaces/default/configmaps";

/** Creates a ConfigMap. */
export function makeMap(
  server: Calls,
  cluster: string,
  {
    name,
    query = "",
    user = "root",
    ...content
  }: { name: string; query?: string; user?: string; data?: object; labels?: object },
): Promise<Answer> {
  const { labels, ...rest } = content;
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...(labels && { labels }) }, ...rest };
  return server.send(`POST /clusters/${cluster}/${MAPS}${query}`, map, { user });
}
