// Helpers for tests of kcp's own kinds.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import type { Workspaces } from "../support/workspaces.ts";

export const APIS = "/apis/apis.kcp.io/v1alpha2";
export const TENANCY = "/apis/tenancy.kcp.io/v1alpha1";
export const TOPOLOGY = "/apis/topology.kcp.io/v1alpha1";
export const CORE = "/apis/core.kcp.io/v1alpha1";

export const root = { user: "root" };
export const alice = { user: "alice" };

export const workspaceOf = (name: string, spec: object = {}): object => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name },
  spec,
});

/** Returns the identity of an export in `root`. */
export async function identityOf(server: Workspaces, name = "tenancy.kcp.io"): Promise<string> {
  return (await server.get(`/clusters/root${APIS}/apiexports/${name}`, root)).body.status.identityHash;
}

/** Returns the names in a list, or the status code. */
export async function names(server: Workspaces, path: string, user = "root"): Promise<string[] | number> {
  const { status, body } = await server.get(path, { user });
  return status === 200 ? body.items.map(({ metadata }: KubeObject) => metadata.name) : status;
}

/** Waits until an object of a collection matches. */
export async function become<T = KubeObject>(
  server: Workspaces,
  path: string,
  { name, is }: { readonly name: string; readonly is: (object: T) => boolean },
): Promise<T> {
  await using watch = await server.watch(`${path}?watch=true&fieldSelector=metadata.name=${name}`, root);
  const seen = await watch.until(({ type, object }) => type !== "DELETED" && is(object as T));
  return seen.at(-1)?.object as T;
}

/** Creates an object as the server's administrator. */
export function make(server: Workspaces, path: string, object: object): Promise<KubeObject> {
  return makerOf(server, "root")(path, object);
}

/** Returns a function that creates objects as a user. */
export function makerOf(server: Workspaces, user: string): (path: string, object: object) => Promise<KubeObject> {
  return async (path, object) => {
    const { status, text, body } = await server.send(`POST ${path}` as "POST /", object, { user });
    expect(status, text).to.equal(201);
    return body;
  };
}

export interface Binding extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly boundResources?: readonly { readonly group: string; readonly resource: string }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

export const isBound = ({ status }: Binding): boolean => status?.phase === "Bound";
