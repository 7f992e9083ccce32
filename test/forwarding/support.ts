// A server of ours that another one of ours forwards to, and views that forward. Reads here are the least that writes need.
import type { KubeObject, ObjectOf } from "@virtual-workspaces/apimachinery";
import {
  type Authenticator,
  type Authorizer,
  allow,
  authenticatedUser,
  defineVirtualWorkspace,
  deny,
  encodeObject,
  type GetOptions,
  type Identity,
  type Resource,
  type Scope,
  type ServedResource,
  type ServeOptions,
  type Storage,
  staticTokens,
} from "@virtual-workspaces/framework";
import { Upstream } from "@virtual-workspaces/transport";
import { answeredError } from "../../packages/forwarding/src/outbound/failure.ts";
import { outboundHeaders } from "../../packages/forwarding/src/outbound/headers.ts";
import { pathOf } from "../../packages/forwarding/src/outbound/path.ts";
import { type ForwardedWritesOptions, forwardedWrites } from "../../packages/forwarding/src/writes/forwarded-writes.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";

/** A storage over another server: its writes, and reads that ask each time. */
export function forwarded<T extends object>(options: ForwardedWritesOptions<T>): Storage<ObjectOf<T>> {
  const { resource, upstream, cluster, identity = "impersonate", transform } = options;
  const show = (object: ObjectOf<T>): ObjectOf<T> => transform?.show(object) ?? object;
  const ask = async (scope: Scope, name: string, { signal }: GetOptions): Promise<KubeObject | undefined> => {
    const at = { cluster: cluster?.(scope) ?? scope.cluster, namespace: scope.namespace, name };
    const answer = await upstream.send({
      path: pathOf(resource, at),
      headers: outboundHeaders(scope, identity),
      signal,
    });
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw answeredError(answer);
    return JSON.parse(answer.body.toString("utf8")) as KubeObject;
  };
  return {
    ...forwardedWrites(options),
    get: async (scope, { name, namespace }, asked) => {
      const object = await ask({ ...scope, namespace }, name, asked);
      return object && encodeObject(show(object as ObjectOf<T>), scope.cluster);
    },
    list: async (scope, asked) => {
      const list = (await ask(scope, "", asked)) as unknown as {
        readonly items: ObjectOf<T>[];
        readonly metadata: { readonly resourceVersion: string };
      };
      return { items: list.items.map(show), resourceVersion: list.metadata.resourceVersion };
    },
  };
}

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
  readonly forward?: Partial<ForwardedWritesOptions<T>>;
  /** Of the view in front. */
  readonly serve?: ServeOptions<ObjectOf<T>>;
  readonly authorize?: Authorizer<unknown>;
  /** Of the server behind. @default everybody may everything */
  readonly behindRule?: Authorizer<unknown>;
}

/** Starts both. At the one behind, `forwarder` may be anybody, and nobody else may. */
export async function startChain<T extends object>(options: ChainOptions<T>): Promise<Chain> {
  const { resource, kept, forward, serve, authorize = () => allow(), behindRule = () => allow() } = options;
  const of = (served: ServedResource, rule: Authorizer<unknown>) =>
    defineVirtualWorkspace({ name: "notes", path: "/", authorize: rule, resources: [served] });
  const behind = await startPlain([of(resource.serve(kept), behindRule)], {
    authentication: [staticTokens({ forwarder: { name: "forwarder" } })],
    impersonation: ({ user }) => (user.name === "forwarder" ? allow() : deny("nobody else may")),
  });
  const upstream = upstreamAt(`${behind.url}/services/notes`);
  const storage = forwarded({ resource, upstream, ...forward });
  const front = await startPlain([of(resource.serve(storage, serve), authorize)], { authentication: [BELIEVING] });
  const { group, version, plural } = resource;
  return {
    front,
    behind,
    upstream,
    path: `/services/notes/apis/${group}/${version}/${plural}`,
    [Symbol.asyncDispose]: async () => {
      await front[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      await behind[Symbol.asyncDispose]();
    },
  };
}
