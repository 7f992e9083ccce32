// A server of ours, and another one that forwards to it.
import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { type ForwardOptions, forward } from "@virtual-workspaces/forwarding";
import {
  type Authenticator,
  type Authorizer,
  allow,
  defineVirtualWorkspace,
  deny,
  type Identity,
  type Resource,
  type ServedResource,
  staticTokens,
} from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import type { ServeOptions } from "@virtual-workspaces/framework/resource";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { Upstream } from "@virtual-workspaces/transport";
import { type PlainServer, startPlain } from "../_support/plain.ts";

/** Creates an upstream with a token. */
export function upstreamAt(url: string, token = "forwarder"): Upstream {
  return new Upstream({ url, credentials: { get: () => ({ headers: ["Authorization", `Bearer ${token}`] }) } });
}

/** Authenticates callers of the front server as any user they name. */
const BELIEVING: Authenticator = {
  name: "believing",
  authenticate: ({ headers }) => {
    const said = headers["x-test-user"];
    if (typeof said !== "string") return undefined;
    return authenticatedUser(JSON.parse(Buffer.from(said, "base64").toString("utf8")) as Identity);
  },
};

/** Returns the header with that user. */
export function as(user: Partial<Identity> & { readonly name: string }): { headers: Record<string, string> } {
  return { headers: { "x-test-user": Buffer.from(JSON.stringify(user)).toString("base64"), authorization: "" } };
}

/** Two servers: one with objects, and one in front that forwards to it. */
export interface Chain extends AsyncDisposable {
  readonly front: PlainServer;
  readonly behind: PlainServer;
  readonly upstream: Upstream;
  /** Path of the objects on both. */
  readonly path: `/${string}`;
}

export interface ChainOptions<T extends object> {
  readonly resource: Resource<T>;
  /** Storage of the upstream. */
  readonly kept: Storage<ObjectOf<T>>;
  readonly forward?: Partial<ForwardOptions<T>>;
  /** Options of the view in front. */
  readonly serve?: ServeOptions<ObjectOf<T>>;
  readonly authorize?: Authorizer<unknown>;
  /** Authorizer of the upstream. @default allow everything */
  readonly behindRule?: Authorizer<unknown>;
}

/** Starts both servers. At the one behind, only `forwarder` may impersonate. */
export async function startChain<T extends object>(options: ChainOptions<T>): Promise<Chain> {
  const { resource, kept, forward: how, serve, authorize = () => allow(), behindRule = () => allow() } = options;
  const of = (served: ServedResource, rule: Authorizer<unknown>) =>
    defineVirtualWorkspace({ name: "notes", path: "/", authorize: rule, resources: [served] });
  const behind = await startPlain([of(resource.serve(kept), behindRule)], {
    authentication: [staticTokens({ forwarder: { name: "forwarder" } })],
    impersonation: ({ user }) => (user.name === "forwarder" ? allow() : deny("nobody else may")),
  });
  const upstream = upstreamAt(`${behind.url}/services/notes`);
  const storage = forward({ resource, upstream, ...how });
  const front = await startPlain([of(resource.serve(storage, serve), authorize)], { authentication: [BELIEVING] });
  const { group, version, plural } = resource;
  return {
    front,
    behind,
    upstream,
    path: `/services/notes/apis/${group}/${version}/${plural}`,
    [Symbol.asyncDispose]: async () => {
      await front[Symbol.asyncDispose]();
      await storage[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      await behind[Symbol.asyncDispose]();
    },
  };
}
