import { parse, stringify } from "yaml";
import { texts } from "../texts.ts";

export type Identity = "Fixed" | "Impersonate" | "None";

/** Data of the Secret of a mount. */
export interface Target {
  readonly kubeconfig: string;
  readonly authority?: string;
}

interface Kubeconfig {
  readonly clusters?: readonly { readonly name?: string; readonly cluster?: Readonly<Record<string, unknown>> }[];
  readonly users?: readonly { readonly name?: string; readonly user?: Readonly<Record<string, unknown>> }[];
  readonly contexts?: readonly {
    readonly name?: string;
    readonly context?: { readonly cluster?: string; readonly user?: string };
  }[];
  readonly "current-context"?: string;
}

/** A kubeconfig with the current context only: other clusters and credentials do not leave the browser. Throws an error for readers. */
export function currentOf(text: string): Target {
  const words = texts.mountDialog.kubeconfig;
  let config: Kubeconfig | null;
  try {
    config = parse(text) as Kubeconfig | null;
  } catch (error) {
    throw new Error(words.notYaml(error instanceof Error ? error.message : String(error)));
  }
  const { contexts = [], clusters = [], users = [], "current-context": current = "" } = config ?? {};
  const context = contexts.find(({ name }) => name === current) ?? (contexts.length === 1 ? contexts[0] : undefined);
  const named = context?.context;
  const cluster = clusters.find(({ name }) => name === named?.cluster);
  if (named === undefined || cluster === undefined) throw new Error(words.noContext(current));
  if (typeof cluster.cluster?.["server"] !== "string") throw new Error(words.noServer);
  const user = users.find(({ name }) => name === named.user);
  const outside = ["exec", "auth-provider", "tokenFile", "client-certificate", "client-key"].find(
    (field) => user?.user?.[field] !== undefined,
  );
  if (outside !== undefined) throw new Error(words.notInline(`user.${outside}`));
  if (cluster.cluster["certificate-authority"] !== undefined)
    throw new Error(words.notInline("cluster.certificate-authority"));
  return {
    kubeconfig: stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [cluster],
      ...(user !== undefined && { users: [user] }),
      contexts: [context],
      "current-context": context?.name,
    }),
  };
}

/** The same for a URL, with a token if there is one, and the certificate authority of the server. */
export function targetOf(
  url: string,
  { token, authority }: { readonly token: string; readonly authority: string },
): Target {
  return {
    kubeconfig: stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "target", cluster: { server: url } }],
      users: token === "" ? [] : [{ name: "target", user: { token } }],
      contexts: [{ name: "target", context: { cluster: "target", ...(token !== "" && { user: "target" }) } }],
      "current-context": "target",
    }),
    ...(authority !== "" && { authority }),
  };
}

/** Host of a target, with its port. */
export function hostOf({ kubeconfig }: Target): string {
  const [cluster] = (parse(kubeconfig) as Kubeconfig).clusters ?? [];
  const server = String(cluster?.cluster?.["server"] ?? "");
  return URL.canParse(server) ? new URL(server).host : server;
}

export const secretObject = (name: string, target: Target) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "default" },
  stringData: {
    kubeconfig: target.kubeconfig,
    ...(target.authority !== undefined && { "ca.crt": target.authority }),
  },
});

/** A Mount, with the annotation by which the owner of an object lets it be mounted, as kcp documents it. */
const mountWith = (name: string, spec: object) => ({
  apiVersion: "proxy.kcp.io/v1alpha1",
  kind: "Mount",
  metadata: { name, annotations: { "experimental.tenancy.kcp.io/is-mount": "true" } },
  spec,
});

/** A Mount of the server whose kubeconfig is in the Secret of the same name. */
export const mountObject = (name: string, identity: Identity) =>
  mountWith(name, {
    ref: { apiVersion: "v1", kind: "Secret", namespace: "default", name },
    identity: { type: identity },
  });

/** A Mount of a workspace of this server. */
export const workspaceMountObject = (name: string, path: string) => mountWith(name, { type: "Workspace", path });

export const workspaceObject = (name: string) => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name },
  spec: { mount: { ref: { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount", name } } },
});
