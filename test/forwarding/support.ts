// A server of ours that another one of ours forwards to.
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

/** An upstream at a URL, as the holder of a token. */
export function upstreamAt(url: string, token = "forwarder"): Upstream {
  return new Upstream({ url, credentials: { get: () => ({ headers: ["Authorization", `Bearer ${token}`] }) } });
}

/** Who a caller of the server in front says to be: any user, so that tests can be of any. */
const BELIEVING: Authenticator = {
  name: "believing",
  authenticate: ({ headers }) => {
    const said = headers["x-test-user"];
    if (typeof said !== "string") return undefined;
    return authenticatedUser(JSON.parse(Buffer.from(said, "base64").toString("utf8")) as Identity);
  },
};

/** The header that says so. */
export function as(user: Partial<Identity> & { readonly name: string }): { headers: Record<string, string> } {
  return { headers: { "x-test-user": Buffer.from(JSON.stringify(user)).toString("base64"), authorization: "" } };
}

/** Two servers: one with objects, and one in front whose view forwards to it. */
export interface Chain extends AsyncDisposable {
  readonly front: PlainServer;
  readonly behind: PlainServer;
  readonly upstream: Upstream;
  /** Where the objects are, at either. */
  readonly path: `/${string}`;
}

export interface ChainOptions<T extends object> {
  readonly resource: Resource<T>;
  /** What the server behind keeps. */
  readonly kept: Storage<ObjectOf<T>>;
  readonly forward?: Partial<ForwardOptions<T>>;
  /** Of the view in front. */
  readonly serve?: ServeOptions<ObjectOf<T>>;
  readonly authorize?: Authorizer<unknown>;
  /** Of the server behind. @default everybody may everything */
  readonly behindRule?: Authorizer<unknown>;
}

/** Starts both. At the one behind, `forwarder` may be anybody, and nobody else may. */
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
